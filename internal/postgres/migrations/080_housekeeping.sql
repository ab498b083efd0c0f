-- Which messages hold which large values. A value that is held can't be removed.
create table value_uses (
    owner      text not null,
    sha256     bytea not null,
    message_id text not null references messages on delete cascade,
    primary key (owner, sha256, message_id),
    foreign key (owner, sha256) references large_values
);
create index value_uses_message on value_uses (message_id);
insert into value_uses (owner, sha256, message_id)
select distinct v.owner, v.sha256, m.id
from messages m join turns t on t.id = m.turn_id
cross join json_array_elements(case json_typeof(m.content) when 'array' then m.content else '[]' end) b(block)
join large_values v on v.owner = 'user/' || t.user_id and v.sha256 = decode(b.block -> 'ref' ->> 'sha256', 'base64');

-- Since when nothing holds the value, as far as somebody has looked.
alter table large_values add column unused_since timestamptz;
create index large_values_unused on large_values (unused_since) where unused_since is not null;
create index idempotency_age on idempotency (created_at);
create index ingests_ended on ingests (ended_at) where ended_at is not null;
