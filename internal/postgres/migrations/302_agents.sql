-- Nothing asks whether an agent has used its token.
alter table agents drop column confirmed;
