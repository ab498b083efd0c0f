-- Equal files of two repositories have one key, but edges of their own.
create unique index resolutions_identity on resolutions (key, file_id);
alter table resolutions drop constraint resolutions_key_key;
