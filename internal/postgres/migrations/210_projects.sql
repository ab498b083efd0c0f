create table projects (
    id          text primary key,
    name        text not null,
    description text not null default '',
    group_id    text references groups on delete set null, -- null: admins alone see it
    created_by  text not null references users,
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now()
);
create index projects_group on projects (group_id);

-- A conversation is a person's own, or a project's: then its people share it.
alter table conversations add column project_id text references projects on delete cascade;
create index conversations_project on conversations (project_id, updated_at desc) where project_id is not null;
alter table turns add column project_id text references projects on delete cascade;
create index turns_project on turns (project_id, created_at desc) where project_id is not null;
