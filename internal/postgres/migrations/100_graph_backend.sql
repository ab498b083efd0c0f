-- Where a version's symbols and edges are: here, or in the other graph that was in use when it
-- was read. Of versions that were read before this was noted it shows in their files: those that
-- are here have all their symbols and edges.
alter table versions add column graph_here boolean not null default true;
update versions v set graph_here = false
where v.symbols > 0 and (
    v.symbols > (select coalesce(sum(f.symbols), 0) from version_files vf join source_files f on f.id = vf.file_id where vf.version_id = v.id)
    or exists (select from version_files vf join source_files f on f.id = vf.file_id
        where vf.version_id = v.id and f.symbols > 0 and vf.resolved_id is null));
