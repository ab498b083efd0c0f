-- Calls that were refused, and calls that changed or removed something for others. It refers
-- to nothing: what it tells of may be gone.
create table audit (
    id         text primary key,
    at         timestamptz not null default now(),
    user_id    text not null,    -- '': nobody
    user_name  text not null,
    key_id     text not null,
    method     text not null,
    route      text not null,
    path       text not null,
    project_id text not null,
    outcome    text not null check (outcome in ('denied', 'done', 'failed')),
    status     int not null,
    address    text not null,
    request_id text not null
);
create index audit_user on audit (user_id, at desc);
create index audit_project on audit (project_id, at desc) where project_id <> '';
create index audit_at on audit (at desc, id desc);
