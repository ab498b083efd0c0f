-- A change of a memory may name the version that it builds on.
alter table memories add column version int not null default 1;
