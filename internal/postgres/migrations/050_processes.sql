-- The running processes: each has to read what the others encrypt. A killed one stays until
-- nobody counts on it any more.
create table processes (
    id         text primary key,
    kind       text not null,           -- up, serve or worker
    host       text not null,
    pid        int not null,
    active_key text not null,
    keys       json not null,           -- id to fingerprint
    started_at timestamptz not null default now(),
    seen_at    timestamptz not null default now()
);
