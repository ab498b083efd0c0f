-- A stream that is removed asks whether a log is in it: without this, retention reads all logs for
-- each command and each run that it drops.
create index subjects_stream on subjects (stream_id);
-- LXD's containers are compared with the agents that are in them, each minute.
create index agents_instance on agents (instance) where instance <> '';
