-- A browser that is signed in. Its short-lived token names the row; what renews the token is
-- kept as a SHA-256. Removing the row ends both at once, on every server.
create table sessions (
    id         text primary key,
    user_id    text not null references users on delete cascade,
    hash       bytea not null unique,
    created_at timestamptz not null default now(),
    seen_at    timestamptz not null default now(),
    expires_at timestamptz not null
);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);

-- How often somebody tried to sign in, by account and by address, in the window that began at began_at.
create table sign_in_attempts (
    subject  text primary key,
    began_at timestamptz not null,
    count    int not null
);
create index sign_in_attempts_age on sign_in_attempts (began_at);
