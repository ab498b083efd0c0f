-- The code graph. Everything that can be shared between versions hangs on content: a blob
-- is a distinct content, a source file is a blob at a path of a repository, a resolution is
-- a source file with the edges that its surroundings gave it. A version is a list of source
-- files and resolutions, so a second version costs only its difference.
--
-- The large tables have no foreign keys: their rows are written by COPY in the thousands and
-- removed by one sweep (internal/graph/pg/sweep.go), under the locks described there.

create extension if not exists pg_trgm with schema public;

create table repositories (
    id            int generated always as identity primary key,
    name          text    not null unique,
    url           text    not null default '',
    refs          text[]  not null default '{}',
    all_tags      boolean not null default false,
    worktree      boolean not null default false,
    watch_seconds bigint  not null default 0
);

-- Where each ref was last seen: a version at another commit is stale.
create table repository_refs (
    repo_id int  not null references repositories on delete cascade,
    tag     text not null,
    commit  text not null,
    seen_at timestamptz not null default now(),
    primary key (repo_id, tag)
);

-- Immutable snapshots; at most one of a tag is live, and only live ones are read.
create table versions (
    id           int generated always as identity primary key,
    repo_id      int     not null references repositories on delete cascade,
    tag          text    not null,
    commit       text    not null default '',
    committed_at timestamptz,
    ingested_at  timestamptz not null default now(),
    live         boolean not null default false,
    files        int     not null default 0,
    symbols      int     not null default 0,
    skipped_oversized int not null default 0,
    skipped_binary    int not null default 0,
    skipped_generated int not null default 0
);
-- Another graph database knows versions by these ids and may outlive this one: a later database
-- begins elsewhere, so that it names none of the nodes that are left there.
select setval(pg_get_serial_sequence('versions', 'id'), (random() * 1e9)::bigint + 1);
create unique index versions_live on versions (repo_id, tag) where live;
create index versions_retired on versions (repo_id) where not live;

-- Loads under way: while a repository has one, its sweep waits.
create table graph_loads (
    id      bigint generated always as identity primary key,
    repo_id int not null references repositories on delete cascade,
    seen_at timestamptz not null default now()
);

create table source_blobs (
    id         int generated always as identity primary key,
    key        bytea  not null unique,
    size       bigint not null,
    facts_type bigint not null,              -- fingerprint of the Go types of the next two
    outline    bytea  not null,              -- zstd; the facts that other files can see
    details    bytea  not null,              -- zstd; the rest of the facts
    text       bytea,                        -- zstd; null where the content is not kept
    seen_at    timestamptz not null default now()
);
-- Compressed already: the server's own compression would only cost time.
alter table source_blobs alter column outline set storage external;
alter table source_blobs alter column details set storage external;
alter table source_blobs alter column text set storage external;

create table source_files (
    id       int generated always as identity primary key,
    repo_id  int  not null,
    blob_id  int  not null,
    path     text not null,
    language text not null default '',
    symbols  int                             -- null until its symbols are stored
);
create unique index source_files_identity on source_files (repo_id, path, blob_id);
create index source_files_blob on source_files (blob_id);

create table resolutions (
    id      int generated always as identity primary key,
    key     bytea not null unique,
    file_id int   not null,
    seen_at timestamptz not null default now()
);
create index resolutions_file on resolutions (file_id);

create table version_files (
    version_id  int not null,
    file_id     int not null,
    resolved_id int,
    skipped     text not null default ''
);
create unique index version_files_version on version_files (version_id, file_id) include (resolved_id);
create index version_files_file on version_files (file_id, version_id) include (resolved_id);

-- key_id is a hash of (repository, path, local name): the same symbol in every version.
create table symbols (
    key_id     bigint   not null,
    file_id    int      not null,
    ord        int      not null,
    start_line int      not null,
    end_line   int      not null,
    repo_id    int      not null,
    kind       smallint not null,            -- index into the list of kinds in kind.go
    rank       smallint not null,            -- which of several equal hits comes first
    class      boolean  not null,
    exported   boolean  not null,
    dup        boolean  not null,            -- not the first of its qualified name in the file
    name       text     not null,
    receiver   text     not null,
    folded     text     not null,            -- lower case, without separators
    words      text     not null,            -- the parts of the name, each after a blank
    signature  text     not null,
    doc        text     not null
);
create unique index symbols_place on symbols (file_id, ord);
create index symbols_key on symbols (key_id);
create index symbols_folded on symbols (folded text_pattern_ops, repo_id);
create index symbols_trigrams on symbols using gin (folded gin_trgm_ops);
create index symbols_classes on symbols (file_id, ord) where class;

-- An edge hangs on the resolution of its source; its target is a key, so that it holds in
-- every version in which the target's file changed without changing the resolution.
create table edges (
    src_key     bigint   not null,
    dst_key     bigint   not null,
    resolved_id int      not null,
    file_id     int      not null,           -- of the source
    src_ord     int      not null,           -- -1: the file itself
    line        int      not null,
    kind        smallint not null,
    how         smallint not null
);
create index edges_out on edges (resolved_id, src_ord);
create index edges_in on edges (dst_key, kind) include (src_key, resolved_id, file_id, src_ord, line, how);

-- When everything was last looked through for what nothing refers to.
create table graph_sweeps (
    id int primary key check (id = 1),
    at timestamptz not null
);
insert into graph_sweeps values (1, now());
