-- Terminals that ask for an API key. What fetches the key is kept as a SHA-256 only; the row
-- goes when the key is fetched, and the key is made in the same moment.
create table devices (
    hash       bytea primary key,
    user_code  text not null unique,
    name       text not null,
    scopes     text[] not null,
    key_days   int not null,      -- 0: the key has no end
    address    text not null,
    status     text not null default 'waiting', -- waiting, granted, refused
    user_id    text references users on delete cascade, -- who decided
    created_at timestamptz not null default now(),
    expires_at timestamptz not null
);
create index devices_expiry on devices (expires_at);
