-- The log of a command has its output scrubbed, so that it may be shorter or longer there than
-- the agent counts it.
alter table commands add column stdout_logged bigint not null default 0;
alter table commands add column stderr_logged bigint not null default 0;
-- The connection that was told to cancel the command.
alter table commands add column cancel_connection text not null default '';
-- Those whose time may be up, whether their workflow sees it or not.
create index commands_due on commands (coalesce(result_by, deliver_by)) where ended_at is null and status <> 'pending';
create index commands_ended on commands (ended_at) where ended_at is not null;

-- When the agent itself was heard last, by any process.
alter table agent_connections add column pinged_at timestamptz not null default now();
create index install_tokens_expired on install_tokens (expires_at);
