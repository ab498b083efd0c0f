-- What a person did by one request may be what calls of several inputs do: they share an act,
-- which vouches for one action.
alter table performed add column act text not null default '';
create index performed_act on performed (act);

-- A project's actions are listed by their status, the newest first.
create index actions_status on actions (project_id, status, id);
