-- By what this installation is known to LXD servers. The key is sealed.
create table lxd_identity (
    one          boolean primary key default true check (one),
    installation text not null,  -- marks what is ours on a server
    certificate  text not null,  -- PEM
    sealed_key   bytea not null,
    created_at   timestamptz not null default now()
);

-- The certificates of the LXD servers that were joined by a token: SHA-256, in hex.
create table lxd_servers (
    endpoint    text primary key,
    fingerprint text not null,
    joined_at   timestamptz not null default now()
);

-- The making of agents in containers. A row is there before its container is, and names it:
-- what a server has and no row accounts for is an orphan. The event log has the id as subject.
create table provisions (
    id          text primary key,
    project_id  text not null references projects on delete cascade,
    user_id     text not null,
    name        text not null,
    description text not null default '',
    flavor      text not null,
    instance    text not null unique,
    key         text not null default '', -- idempotency; '' for none
    hash        bytea not null,           -- of what was asked
    status      text not null default 'queued' check (status in ('queued', 'running', 'done', 'failed', 'canceled')),
    phase       text not null default '',
    place       int not null default 0,   -- of the phase, from 1
    attempt     int not null default 1,   -- of the installation
    sealed_token bytea,                   -- the install token, until the end
    error_code  text not null default '',
    error       text not null default '',
    cancel_requested_at timestamptz,
    launched_at timestamptz,
    created_at  timestamptz not null default now(),
    ended_at    timestamptz
);
create unique index provisions_key on provisions (project_id, user_id, key) where key <> '';
create index provisions_project on provisions (project_id, created_at desc);
create index provisions_open on provisions (created_at) where ended_at is null;
