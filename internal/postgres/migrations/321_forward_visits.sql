-- Browsers that have come to a port forward on its own host name: first by a ticket, which is
-- good once, then by the cookie that it became. Either is kept as its SHA-256, and ends with
-- the session of the person.
create table forward_visits (
    hash       bytea primary key,
    ticket     boolean not null,
    forward_id text not null references port_forwards on delete cascade,
    session_id text not null references sessions on delete cascade,
    user_id    text not null,
    expires_at timestamptz not null
);
create index forward_visits_forward on forward_visits (forward_id);
create index forward_visits_session on forward_visits (session_id);
create index forward_visits_expiry on forward_visits (expires_at);
