-- Of several symbols of one name on one line, which: 0, or from 2. It ends the local name.
alter table symbols add column nth smallint not null default 0;
