-- A later program may bring a better text of a seeded skill. Each text is put in once in the life of a database, and a
-- skill takes a new one only as long as the version that counts is itself one that the program brought.
alter table skill_versions add seeded boolean not null default false;
alter table skill_seeds add digests text[] not null default '{}';

-- Seed and skill were made in one statement, so their times agree; a skill made by people under a seed's name has another.
update skill_versions v set seeded = true
from skills s join skill_seeds e on e.created_at = s.created_at
where v.skill_id = s.id and v.version = 1 and v.name = e.name and s.project_id is null;

update skill_seeds e set digests = array[encode(sha256(convert_to(v.content, 'UTF8')), 'hex')]
from skill_versions v join skills s on s.id = v.skill_id
where v.seeded and v.name = e.name and s.created_at = e.created_at;
