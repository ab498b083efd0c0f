-- What is searched is text about code. Postgres takes net/http.Serve for an address and path/to/file.go for a path, each a
-- single word; here every sign between letters parts words, one space for each sign.
create function plain_text(said text) returns text language sql immutable parallel safe as $$
    select translate(said, E'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~\t\r\n', repeat(' ', 35))
$$;

drop index messages_words;
alter table messages drop column words;
alter table messages add column words tsvector generated always as (to_tsvector('simple', plain_text(left(body, 100000)))) stored;
create index messages_words on messages using gin (words);
drop index conversations_words;
create index conversations_words on conversations using gin (to_tsvector('simple', plain_text(title)));
