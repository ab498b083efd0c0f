-- The key itself is not kept, only its SHA-256: it has 130 random bits, which nobody guesses.
create table api_keys (
    id           text primary key,
    user_id      text not null references users on delete cascade,
    name         text not null,
    prefix       text not null,
    hash         bytea not null unique,
    scopes       text[] not null,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz,  -- null: never
    last_used_at timestamptz   -- to the minute
);
create index api_keys_user on api_keys (user_id, created_at);
