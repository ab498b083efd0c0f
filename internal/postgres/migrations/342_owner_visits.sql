-- The owner comes to port forwards by a sign-in link, and has no session.
alter table forward_visits alter column session_id drop not null;
alter table forward_visits add constraint forward_visits_whose check (session_id is not null or user_id = 'owner');
