-- What a project's people have settled, where that is not the standard.
create table project_settings (
    project_id     text primary key references projects on delete cascade,
    approvers      text not null default 'members' check (approvers in ('members', 'admins', 'others')),
    confirm_expiry interval not null default '24 hours' check (confirm_expiry between '1 minute' and '30 days'),
    asking_tools   text[] not null default '{}'  -- tools that always ask here, whatever their own policy
);

-- Actions: tool calls that wait for a person's approval. The row is the truth; the workflow is
-- told that it has changed.
create table actions (
    id              text primary key,   -- also the idempotency key of what it does
    turn_id         text not null,
    call_id         text not null,
    conversation_id text not null default '',
    project_id      text references projects on delete cascade,
    requester       text not null,      -- the person whose turn it is
    tool            text not null,
    input           json not null,      -- as the tool gets it
    hash            text not null,      -- SHA-256 of the tool and the canonical input, in hex
    description     text not null,
    nonce           text not null,
    status          text not null default 'pending' check (status in
        ('pending', 'approved', 'rejected', 'expired', 'applying', 'applied', 'failed', 'unknown')),
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null,
    decided_by      text not null default '',
    decided_at      timestamptz,
    reason          text not null default '', -- of the decision, as the person gave it
    reported        boolean not null default false, -- run by a client, which says so
    verified        boolean not null default false, -- of a report: the server saw the call itself
    outcome         text not null default '', -- for people and the model
    told_at         timestamptz,        -- the workflow was told of the decision
    ended_at        timestamptz,
    unique (turn_id, call_id)
);
create index actions_project on actions (project_id, id) where project_id is not null;
create index actions_requester on actions (requester, id) where project_id is null;
create index actions_untold on actions (decided_at) where decided_at is not null and told_at is null;

-- Calls of the ordinary routes that do what an action would: by them a client's report is checked.
create table performed (
    user_id    text not null,
    project_id text not null default '',
    hash       text not null,           -- as of actions
    at         timestamptz not null default now()
);
create index performed_by on performed (user_id, hash, at);
