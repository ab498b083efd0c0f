-- What was reported is looked for by age, to remove it.
create index performed_at on performed (at);
