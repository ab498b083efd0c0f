-- Skills: of everybody (project_id is null) or of a project. What they say is in their versions.
create table skills (
    id          text primary key,
    project_id  text references projects on delete cascade,
    name        text not null,
    description text not null,
    version     int not null default 1,
    created_by  text not null,
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now()
);
create unique index skills_name on skills (coalesce(project_id, ''), name);
create index skills_project on skills (project_id) where project_id is not null;

create table skill_versions (
    skill_id      text not null references skills on delete cascade,
    version       int not null,
    name          text not null,
    content       text not null,        -- with its front matter
    author        text not null,
    restored_from int not null default 0,
    created_at    timestamptz not null default now(),
    primary key (skill_id, version)
);

-- The skills that came with the program and were put in once: a deleted one stays away.
create table skill_seeds (
    name       text primary key,
    created_at timestamptz not null default now()
);

create table artifacts (
    id         text primary key,
    project_id text not null references projects on delete cascade,
    title      text not null,
    kind       text not null,
    version    int not null default 1,
    created_by text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);
create index artifacts_project on artifacts (project_id, updated_at desc);

create table artifact_versions (
    artifact_id   text not null references artifacts on delete cascade,
    version       int not null,
    title         text not null,
    content       text not null,
    author        text not null,
    turn_id       text not null default '',
    write_key     text unique,          -- of the tool call that wrote it: it writes once
    restored_from int not null default 0,
    created_at    timestamptz not null default now(),
    primary key (artifact_id, version)
);

-- Versions to be rendered as PDF, and what came of it.
create table artifact_renders (
    artifact_id text not null,
    version     int not null,
    attempt     int not null default 0,
    claimed_at  timestamptz,
    body        bytea,
    fault       text not null default '',
    created_at  timestamptz not null default now(),
    primary key (artifact_id, version),
    foreign key (artifact_id, version) references artifact_versions on delete cascade
);
create index artifact_renders_open on artifact_renders (created_at) where body is null and fault = '';

-- Memories: a project's notes, and the words by which they are found.
create table memories (
    id         text primary key,
    project_id text not null references projects on delete cascade,
    title      text not null,
    content    text not null,
    created_by text not null,
    turn_id    text not null default '',
    write_key  text unique,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    search     tsvector generated always as (
        setweight(to_tsvector('english', title), 'A') || setweight(to_tsvector('english', content), 'B')) stored
);
create index memories_project on memories (project_id, updated_at desc);
create index memories_search on memories using gin (search);
