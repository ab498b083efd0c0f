-- How the processes reach each other: each has a listener of its own, whose certificate it made
-- as it started and which takes requests with its token alone.
alter table processes add column peer_address text not null default '';     -- host:port; '': it has none
alter table processes add column peer_token text not null default '';
alter table processes add column peer_fingerprint text not null default ''; -- SHA-256 of its certificate, in hex

-- Consoles and tunnels. A row stands until the session ends; nothing here outlives a crash of the
-- database, as no connection does.
create unlogged table agent_sessions (
    id         text primary key,        -- a secret
    agent_id   text not null references agents on delete cascade,
    project_id text not null,
    kind       text not null check (kind in ('console', 'tunnel')),
    process_id text not null,           -- which has the person's request
    user_id    text not null,
    user_name  text not null default '',
    address    text not null default '',
    created_at timestamptz not null default now(),
    claimed_at timestamptz              -- by the agent, once
);
create index agent_sessions_process on agent_sessions (process_id);

-- Ports of machines that people reach by a name.
create table port_forwards (
    id         text primary key,
    agent_id   text not null references agents on delete cascade,
    port       int not null check (port between 1 and 65535),
    route_name text not null,
    created_by text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (agent_id, route_name)
);

-- What an entry of the audit tells beyond its route: how long a console was open, and how it ended.
alter table audit add column detail text not null default '';
