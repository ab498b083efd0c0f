-- What a turn's afterword may cost, of that day of its person, while it is due.
alter table turns add column afterword_reserved double precision not null default 0;
alter table turns add column afterword_reserved_on date;
