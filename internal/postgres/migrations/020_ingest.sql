-- Runs that read or delete a repository. The event log of a run has its id as subject.
create table ingests (
    id                  text primary key,
    user_id             text not null default '',  -- '' where a watch began it
    repository          text not null,
    kind                text not null,              -- read or delete
    only_moved          boolean not null default false,
    workflow_id         text not null,
    status              text not null default 'queued',
    error_code          text not null default '',
    error               text not null default '',
    cancel_requested_at timestamptz,
    launched_at         timestamptz,                -- its workflow was started
    created_at          timestamptz not null default now(),
    started_at          timestamptz,
    ended_at            timestamptz
);
-- The lock: one open run for each repository.
create unique index ingests_lock on ingests (repository) where ended_at is null;
create index ingests_repository on ingests (repository, created_at desc);

-- What a run reads. Place 0 with tag '' is the step that learns which versions there are.
-- Who holds the highest attempt may write.
create table ingest_versions (
    ingest_id    text not null references ingests on delete cascade,
    tag          text not null,
    place        int not null,
    commit_sha   text not null default '',
    committed_at timestamptz,
    attempt      int not null default 0,
    status       text not null default 'planned',   -- planned, running, done or failed
    progress     json not null default '{}',
    primary key (ingest_id, tag)
);
create index ingest_versions_place on ingest_versions (ingest_id, place);
