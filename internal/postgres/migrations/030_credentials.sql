-- What opens private repositories, sealed with the encryption keys. It goes with the repository.
create table repository_credentials (
    repo_id int primary key references repositories on delete cascade,
    sealed  bytea not null,
    set_at  timestamptz not null default now()
);
