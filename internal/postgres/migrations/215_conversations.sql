-- Of a turn of a project, where its lock stands in the project's log: its name in that feed.
alter table turns add column feed_seq bigint not null default 0;
create index turns_feed on turns (project_id, feed_seq) where project_id is not null;
-- Its conversation is still to be titled, and what to ask next to be suggested.
alter table turns add column afterword_due boolean not null default false;
create index turns_afterword on turns (ended_at) where afterword_due;

-- Once it is being deleted, nothing begins in a project.
alter table projects add column deleting_at timestamptz;

alter table conversations add column titled boolean not null default false; -- by a person or a model, not from the question
alter table conversations add column suggestions json not null default '[]';

-- How many messages the branch has that ends here, and what of it is searched.
alter table messages add column depth int not null default 0;
alter table messages add column body text not null default '';
with recursive branch as (
    select id, 1 as depth from messages where parent_id is null
    union all
    select m.id, branch.depth + 1 from branch join messages m on m.parent_id = branch.id
)
update messages m set depth = branch.depth, body = coalesce((
    select string_agg(b.block ->> 'text', ' ')
    from json_array_elements(case json_typeof(m.content) when 'array' then m.content else '[]' end) b(block)
    where b.block ->> 'type' = 'text'), '')
from branch where m.id = branch.id;
alter table messages add column words tsvector generated always as (to_tsvector('simple', left(body, 100000))) stored;
create index messages_words on messages using gin (words);
create index conversations_words on conversations using gin (to_tsvector('simple', title));

-- Who has a project's feed open: a row for each stream. The process that serves it renews the
-- row; what is not renewed is gone. Nothing here outlives a crash of the database.
create unlogged table presence (
    id         text primary key,
    project_id text not null,
    user_id    text not null,
    name       text not null,
    conv_id    text not null,
    entered_at timestamptz not null default now(),
    seen_at    timestamptz not null default now()
);
create index presence_project on presence (project_id);
