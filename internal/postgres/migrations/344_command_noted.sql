-- How much its project was told of a person's command: 0 nothing, 1 that it was ordered, 2 how it
-- ended. Of those that are there already nothing more is told.
alter table commands add column noted smallint not null default 2;
alter table commands alter column noted set default 0;
create index commands_unnoted on commands (created_at) where turn_id = '' and noted < 2;
