-- What could be read of attached documents. A document's text goes with the document.
create table document_texts (
    owner      text not null,
    sha256     bytea not null,           -- of the document
    pages      integer not null,         -- 0: not counted
    cut        boolean not null,         -- the text ends before the document does
    problem    text not null default '', -- why there is no text
    body       bytea not null,           -- the text, packed and sealed; empty where there is none
    created_at timestamptz not null default now(),
    primary key (owner, sha256),
    foreign key (owner, sha256) references large_values on delete cascade
);
