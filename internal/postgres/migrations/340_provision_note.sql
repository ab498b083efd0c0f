-- What goes on in a phase: how far an image has come, or what a server is waited for with.
alter table provisions add column note text not null default '';
