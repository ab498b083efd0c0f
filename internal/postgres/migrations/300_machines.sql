-- What machines join a project with. The token itself is not kept, only its SHA-256.
create table install_tokens (
    id          text primary key,
    project_id  text not null references projects on delete cascade,
    hash        bytea not null unique,
    created_by  text not null,
    created_at  timestamptz not null default now(),
    expires_at  timestamptz not null,
    uses_left   int,                    -- null: any number
    instance    text not null default '', -- the container that it is for
    description text not null default ''  -- of the agent that joins
);
create index install_tokens_project on install_tokens (project_id);

-- Machines, by the agent that runs on them.
create table agents (
    id           text primary key,
    project_id   text not null references projects on delete cascade,
    hostname     text not null,
    description  text not null default '',
    provider     text,                  -- lxd; null: installed by hand
    instance     text not null default '', -- the container's name
    token_hash   bytea not null unique, -- of the permanent token
    machine      text not null default '', -- the id that the agent made; '' of plain agents
    version      text not null default '',
    capabilities text[] not null default '{}',
    confirmed    boolean not null default false, -- its permanent token was used
    last_seen    timestamptz,
    created_at   timestamptz not null default now()
);
create unique index agents_machine on agents (project_id, machine) where machine <> '';
create index agents_project on agents (project_id, created_at);

-- Which process has an agent's event stream. Nothing here outlives a crash of the database.
create unlogged table agent_connections (
    agent_id     text primary key references agents on delete cascade,
    id           text not null,
    process_id   text not null,
    machine      text not null default '',
    connected_at timestamptz not null default now(),
    seen_at      timestamptz not null default now()
);

-- Commands on machines. The row is the truth; agent, workflow and whoever waits are told of it.
create table commands (
    id           text primary key,
    project_id   text not null references projects on delete cascade,
    agent_id     text not null,         -- which may be removed by now
    hostname     text not null,
    command      text not null,
    description  text not null default '',
    env          json not null default '{}', -- values may be handles of secrets, never secrets
    time_limit   interval not null,
    user_id      text not null,
    turn_id      text not null default '',
    call_id      text not null default '',
    status       text not null check (status in ('pending', 'queued', 'delivered', 'running', 'done', 'timed_out',
        'canceled', 'failed', 'expired', 'rejected', 'unknown')),
    exit_code    int,
    error        text not null default '',
    swept        int not null default 0,
    created_at   timestamptz not null default now(),
    wait         interval not null,     -- for the agent to connect
    deliver_by   timestamptz not null,  -- counted from its approval
    launched_at  timestamptz,           -- its workflow was started
    told_at      timestamptz,           -- its workflow was told of its end
    connection   text not null default '', -- that it was sent by last
    machine      text not null default '', -- that it was sent to
    durable      boolean not null default false, -- sent to an agent that keeps a journal
    delivered_at timestamptz,
    started_at   timestamptz,
    result_by    timestamptz,           -- set as it is delivered
    cancel_requested_at timestamptz,
    ended_at     timestamptz,
    -- How much of each stream the log of the command has, in bytes as the agent counts them.
    stdout_taken bigint not null default 0,
    stderr_taken bigint not null default 0,
    stdout_bytes bigint not null default 0, -- written by the command so far
    stderr_bytes bigint not null default 0,
    late         json                   -- what an agent told of it after it had ended as unknown
) with (fillfactor = 70);
create index commands_agent on commands (agent_id, created_at desc);
create index commands_project on commands (project_id, created_at desc);
create index commands_open on commands (agent_id) where ended_at is null;
create index commands_unstarted on commands (created_at) where ended_at is null and launched_at is null;
create index commands_untold on commands (ended_at) where ended_at is not null and told_at is null;

-- What is kept of the output of commands that have ended.
create table command_outputs (
    command_id  text primary key references commands on delete cascade,
    stdout_head bytea not null default '',
    stdout_tail bytea not null default '',
    stderr_head bytea not null default '',
    stderr_tail bytea not null default ''
);
