-- By what a graph that is kept elsewhere tells what was put there from this database from what
-- others put there; made when it is first asked for.
create table graph_owner (
    one boolean primary key default true check (one),
    id  text not null default gen_random_uuid()::text
);
