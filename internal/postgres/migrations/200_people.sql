create table users (
    id                   text primary key,
    email                text,          -- as the person wrote it; null for the owner
    name                 text not null,
    role                 text not null default 'regular' check (role in ('admin', 'regular')),
    provider             text not null, -- local, google, oidc, owner
    password             text,          -- its hash, in PHC form; null for none
    last_project_id      text not null default '',
    last_llm_provider_id text not null default '',
    last_llm_model       text not null default '',
    created_at           timestamptz not null default now()
);
create unique index users_email on users (lower(email));
-- The person behind the owner token. All that there is already is theirs.
insert into users (id, name, role, provider) values ('owner', 'owner', 'admin', 'owner');

-- Who a person is elsewhere. An identity is never found by an e-mail address.
create table identities (
    issuer     text not null,
    subject    text not null,
    user_id    text not null references users on delete cascade,
    created_at timestamptz not null default now(),
    primary key (issuer, subject)
);
create index identities_user on identities (user_id);

create table groups (
    id          text primary key,
    name        text not null unique,
    description text not null default '',
    is_default  boolean not null default false,
    created_at  timestamptz not null default now()
);
insert into groups (id, name, description, is_default) values ('everyone', 'Everyone', 'All who sign up.', true);

create table memberships (
    group_id   text not null references groups on delete cascade,
    user_id    text not null references users on delete cascade,
    created_at timestamptz not null default now(),
    primary key (group_id, user_id)
);
create index memberships_user on memberships (user_id);
