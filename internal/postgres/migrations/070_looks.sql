-- When the refs of a repository were last looked at, so that one process does it, not each.
alter table repositories add column looked_at timestamptz not null default now();
