-- Streams: the feed of a person, of a project, or of one ingestion. The counter numbers the
-- events of all its subjects.
create table streams (
    id       text primary key,          -- user/<id>, ingest/<id>
    last_seq bigint not null default 0
);

-- Subjects: what has an event log of its own (a turn, an ingestion). The narrow row takes the
-- update of every append, so that the wide rows of turns stay still.
create table subjects (
    id         text primary key,
    stream_id  text not null references streams,
    last_seq   bigint not null default 0,
    created_at timestamptz not null default now(),
    ended_at   timestamptz              -- set with the terminal event; nothing is appended after
) with (fillfactor = 50);

-- Payloads are json, not jsonb: they are never searched, and json keeps every character.
create table events (
    subject_id  text not null,
    subject_seq bigint not null,
    stream_id   text not null,
    seq         bigint not null,
    call_id     text not null default '',
    attempt     int not null default 0,
    type        text not null,
    payload     json,                   -- null: an open block (event_chunks) or terminal (endings)
    closed      boolean not null default true,
    at          timestamptz not null default now(),
    primary key (subject_id, subject_seq, at)
) partition by range (at);
create index events_stream on events (stream_id, seq);
create index events_open on events (subject_id) where not closed;
create table events_default partition of events default;

-- The text of open blocks, by its place in the block.
create table event_chunks (
    subject_id  text not null,
    subject_seq bigint not null,
    start_byte  bigint not null,
    body        text not null,
    primary key (subject_id, subject_seq, start_byte)
);

-- One row for each terminal event: the key is what makes it the only one.
create table endings (
    subject_id  text primary key references subjects on delete cascade,
    subject_seq bigint not null,
    type        text not null,
    payload     json not null,
    at          timestamptz not null default now()
);

create table conversations (
    id             text primary key,
    user_id        text not null,
    title          text not null default '',
    head_id        text,                -- the newest message of the branch in use
    active_turn_id text,                -- the lock: taken with the turn, released with its end
    created_at     timestamptz not null default now(),
    updated_at     timestamptz not null default now()
);
create index conversations_user on conversations (user_id, updated_at desc);

create table turns (
    id                  text primary key,
    user_id             text not null,
    conversation_id     text references conversations on delete set null,
    message_id          text not null,  -- the person's message
    query               text not null,
    repositories        text[] not null default '{}',
    versions            text[] not null default '{}',
    provider_id         text not null default '',
    model               text not null default '',
    status              text not null default 'queued',
    reason              text not null default '',
    intent              text not null default '',
    answer              text not null default '',
    sources             json not null default '[]',
    question            json,
    tool_calls_made     int not null default 0,
    provider_used       json,
    input_tokens        bigint not null default 0,
    output_tokens       bigint not null default 0,
    cached_input_tokens bigint not null default 0,
    cost                double precision not null default 0,
    error_code          text not null default '',
    error               text not null default '',
    digest              text not null default '',   -- stands for the rounds up to digest_round
    digest_round        int not null default -1,
    cancel_requested_at timestamptz,
    launched_at         timestamptz,    -- its workflow was started
    created_at          timestamptz not null default now(),
    started_at          timestamptz,
    ended_at            timestamptz
);
create index turns_open on turns (created_at) where ended_at is null;
create index turns_conversation on turns (conversation_id, created_at);
create index turns_user on turns (user_id, created_at desc);

-- A tree: a branch or a second try is another child of the same parent.
create table messages (
    id              text primary key,
    conversation_id text references conversations on delete cascade,
    parent_id       text references messages on delete cascade,
    turn_id         text,
    role            text not null,
    content         json not null,      -- content blocks; media by reference
    characters      int not null,
    summary         text,               -- stands for this message and all before it
    created_at      timestamptz not null default now()
);
create index messages_conversation on messages (conversation_id);
create index messages_parent on messages (parent_id);

-- What the models said in a turn, one message a round. Tool results stand in turn_calls.
create table turn_messages (
    turn_id text not null references turns on delete cascade,
    round   int not null,
    content json not null,
    primary key (turn_id, round)
);

-- Calls of models (m<round>, classify, compact) and of tools. Who holds the highest attempt may
-- write; a committed outcome is never computed again.
create table turn_calls (
    turn_id     text not null references turns on delete cascade,
    call_id     text not null,
    kind        text not null,          -- model or tool
    round       int not null,
    ord         int not null default 0, -- place among the calls of its round
    name        text not null default '',
    input       json,
    local       boolean not null default false,
    asks        boolean not null default false,
    time_limit  bigint not null default 0, -- nanoseconds
    attempt     int not null default 0,
    failures    int not null default 0, -- what the provider refused; a crash doesn't count
    settled_attempt int not null default 0, -- the attempt whose failure was recorded
    status      text not null default 'pending',
    outcome     json,
    reserved    double precision not null default 0,
    reserved_on date,
    created_at  timestamptz not null default now(),
    ended_at    timestamptz,
    primary key (turn_id, call_id)
);

create table idempotency (
    user_id    text not null,
    key        text not null,
    body_hash  bytea not null,
    turn_id    text not null,
    created_at timestamptz not null default now(),
    primary key (user_id, key)
);

create table budgets (
    user_id  text not null,
    day      date not null,
    reserved double precision not null default 0,
    spent    double precision not null default 0,
    primary key (user_id, day)
) with (fillfactor = 50);

-- Large values, once for each owner. They are compressed, and sealed where a key is configured.
create table large_values (
    owner      text not null,           -- user/<id>, later project/<id>
    sha256     bytea not null,          -- of the plain bytes
    size       bigint not null,         -- of the plain bytes
    body       bytea not null,
    created_at timestamptz not null default now(),
    primary key (owner, sha256)
);
