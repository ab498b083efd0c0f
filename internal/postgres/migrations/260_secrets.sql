-- Secrets of projects. Their values are sealed before they come here, bound to project, name
-- and version: a row that is copied to another place does not open there.
create table secrets (
    project_id text not null references projects on delete cascade,
    name       text not null,
    version    int not null,            -- the newest; no number is used twice, so a deleted secret keeps its row
    revealable boolean not null default false, -- models may see the value
    created_at timestamptz not null default now(),
    deleted_at timestamptz,
    primary key (project_id, name)
);

create table secret_versions (
    project_id text not null,
    name       text not null,
    version    int not null,
    key        text not null,           -- id of the encryption key
    sealed     bytea not null,
    author     text not null,
    turn_id    text not null default '',
    write_key  text unique,             -- of the tool call that saved it: it saves once
    created_at timestamptz not null default now(),
    primary key (project_id, name, version),
    foreign key (project_id, name) references secrets on delete cascade
);
create index secret_versions_key on secret_versions (key);

-- Values that were given to tool calls, until the call takes them or ends.
create table secret_offers (
    turn_id    text not null,
    call_id    text not null,
    project_id text not null references projects on delete cascade,
    key        text not null,
    sealed     bytea not null,
    created_at timestamptz not null default now(),
    primary key (turn_id, call_id)
);

-- A number that grows with each change of a project's secrets: by it processes know whether
-- what they keep at hand still holds. Its lock is that of all who change them.
create table secret_generations (
    project_id text primary key references projects on delete cascade,
    generation bigint not null
);
