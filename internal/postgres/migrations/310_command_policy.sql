-- Which commands of models run without asking, by project.
alter table project_settings
    add column command_policy text not null default 'changes' check (command_policy in ('always', 'changes', 'allow_list')),
    add column allowed_commands text[] not null default '{}';

-- Actions of persons that belong to no turn: a command that somebody asked for who may not approve
-- it. Their turn_id is '', and both their call_id and their command's id are their own.
create index actions_alone on actions (id) where turn_id = '' and ended_at is null;
create index commands_pending on commands (created_at) where status = 'pending';
