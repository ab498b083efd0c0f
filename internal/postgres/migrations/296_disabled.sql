-- A person who has left: nobody signs in as them and none of their keys opens anything, while
-- what they made stays theirs.
alter table users add column disabled_at timestamptz;
