--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: pg_trgm; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;


--
-- Name: EXTENSION pg_trgm; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: budgets; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.budgets (
    user_id text NOT NULL,
    day date NOT NULL,
    reserved double precision DEFAULT 0 NOT NULL,
    spent double precision DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');


--
-- Name: conversations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.conversations (
    id text NOT NULL,
    user_id text NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    head_id text,
    active_turn_id text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: edges; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.edges (
    src_key bigint NOT NULL,
    dst_key bigint NOT NULL,
    resolved_id integer NOT NULL,
    file_id integer NOT NULL,
    src_ord integer NOT NULL,
    line integer NOT NULL,
    kind smallint NOT NULL,
    how smallint NOT NULL
);


--
-- Name: endings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.endings (
    subject_id text NOT NULL,
    subject_seq bigint NOT NULL,
    type text NOT NULL,
    payload json NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: event_chunks; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.event_chunks (
    subject_id text NOT NULL,
    subject_seq bigint NOT NULL,
    start_byte bigint NOT NULL,
    body text NOT NULL
);


--
-- Name: events; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.events (
    subject_id text NOT NULL,
    subject_seq bigint NOT NULL,
    stream_id text NOT NULL,
    seq bigint NOT NULL,
    call_id text DEFAULT ''::text NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    type text NOT NULL,
    payload json,
    closed boolean DEFAULT true NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
)
PARTITION BY RANGE (at);


--
-- Name: events_default; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.events_default (
    subject_id text NOT NULL,
    subject_seq bigint NOT NULL,
    stream_id text NOT NULL,
    seq bigint NOT NULL,
    call_id text DEFAULT ''::text NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    type text NOT NULL,
    payload json,
    closed boolean DEFAULT true NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: events_y2026m11; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.events_y2026m11 (
    subject_id text NOT NULL,
    subject_seq bigint NOT NULL,
    stream_id text NOT NULL,
    seq bigint NOT NULL,
    call_id text DEFAULT ''::text NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    type text NOT NULL,
    payload json,
    closed boolean DEFAULT true NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: events_y2026m12; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.events_y2026m12 (
    subject_id text NOT NULL,
    subject_seq bigint NOT NULL,
    stream_id text NOT NULL,
    seq bigint NOT NULL,
    call_id text DEFAULT ''::text NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    type text NOT NULL,
    payload json,
    closed boolean DEFAULT true NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: events_y2027m01; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.events_y2027m01 (
    subject_id text NOT NULL,
    subject_seq bigint NOT NULL,
    stream_id text NOT NULL,
    seq bigint NOT NULL,
    call_id text DEFAULT ''::text NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    type text NOT NULL,
    payload json,
    closed boolean DEFAULT true NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: events_y2027m02; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.events_y2027m02 (
    subject_id text NOT NULL,
    subject_seq bigint NOT NULL,
    stream_id text NOT NULL,
    seq bigint NOT NULL,
    call_id text DEFAULT ''::text NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    type text NOT NULL,
    payload json,
    closed boolean DEFAULT true NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: graph_loads; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.graph_loads (
    id bigint NOT NULL,
    repo_id integer NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: graph_loads_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.graph_loads ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.graph_loads_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: graph_sweeps; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.graph_sweeps (
    id integer NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT graph_sweeps_id_check CHECK ((id = 1))
);


--
-- Name: idempotency; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idempotency (
    user_id text NOT NULL,
    key text NOT NULL,
    body_hash bytea NOT NULL,
    turn_id text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: ingest_versions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.ingest_versions (
    ingest_id text NOT NULL,
    tag text NOT NULL,
    place integer NOT NULL,
    commit_sha text DEFAULT ''::text NOT NULL,
    committed_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    status text DEFAULT 'planned'::text NOT NULL,
    progress json DEFAULT '{}'::json NOT NULL
);


--
-- Name: ingests; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.ingests (
    id text NOT NULL,
    user_id text DEFAULT ''::text NOT NULL,
    repository text NOT NULL,
    kind text NOT NULL,
    only_moved boolean DEFAULT false NOT NULL,
    workflow_id text NOT NULL,
    status text DEFAULT 'queued'::text NOT NULL,
    error_code text DEFAULT ''::text NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    cancel_requested_at timestamp with time zone,
    launched_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone
);


--
-- Name: large_values; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.large_values (
    owner text NOT NULL,
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    body bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    unused_since timestamp with time zone
);


--
-- Name: messages; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.messages (
    id text NOT NULL,
    conversation_id text,
    parent_id text,
    turn_id text,
    role text NOT NULL,
    content json NOT NULL,
    characters integer NOT NULL,
    summary text,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: processes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.processes (
    id text NOT NULL,
    kind text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    active_key text NOT NULL,
    keys json NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: repositories; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.repositories (
    id integer NOT NULL,
    name text NOT NULL,
    url text DEFAULT ''::text NOT NULL,
    refs text[] DEFAULT '{}'::text[] NOT NULL,
    all_tags boolean DEFAULT false NOT NULL,
    worktree boolean DEFAULT false NOT NULL,
    watch_seconds bigint DEFAULT 0 NOT NULL,
    looked_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: repositories_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.repositories ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.repositories_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: repository_credentials; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.repository_credentials (
    repo_id integer NOT NULL,
    sealed bytea NOT NULL,
    set_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: repository_refs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.repository_refs (
    repo_id integer NOT NULL,
    tag text NOT NULL,
    commit text NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: resolutions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.resolutions (
    id integer NOT NULL,
    key bytea NOT NULL,
    file_id integer NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: resolutions_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.resolutions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.resolutions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: schema_version; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.schema_version (
    version integer NOT NULL
);


--
-- Name: source_blobs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.source_blobs (
    id integer NOT NULL,
    key bytea NOT NULL,
    size bigint NOT NULL,
    facts_type bigint NOT NULL,
    outline bytea NOT NULL,
    details bytea NOT NULL,
    text bytea,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.source_blobs ALTER COLUMN outline SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.source_blobs ALTER COLUMN details SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.source_blobs ALTER COLUMN text SET STORAGE EXTERNAL;


--
-- Name: source_blobs_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.source_blobs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.source_blobs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: source_files; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.source_files (
    id integer NOT NULL,
    repo_id integer NOT NULL,
    blob_id integer NOT NULL,
    path text NOT NULL,
    language text DEFAULT ''::text NOT NULL,
    symbols integer
);


--
-- Name: source_files_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.source_files ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.source_files_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: streams; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.streams (
    id text NOT NULL,
    last_seq bigint DEFAULT 0 NOT NULL
);


--
-- Name: subjects; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.subjects (
    id text NOT NULL,
    stream_id text NOT NULL,
    last_seq bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone
)
WITH (fillfactor='50');


--
-- Name: symbols; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.symbols (
    key_id bigint NOT NULL,
    file_id integer NOT NULL,
    ord integer NOT NULL,
    start_line integer NOT NULL,
    end_line integer NOT NULL,
    repo_id integer NOT NULL,
    kind smallint NOT NULL,
    rank smallint NOT NULL,
    class boolean NOT NULL,
    exported boolean NOT NULL,
    dup boolean NOT NULL,
    name text NOT NULL,
    receiver text NOT NULL,
    folded text NOT NULL,
    words text NOT NULL,
    signature text NOT NULL,
    doc text NOT NULL,
    nth smallint DEFAULT 0 NOT NULL
);


--
-- Name: turn_calls; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.turn_calls (
    turn_id text NOT NULL,
    call_id text NOT NULL,
    kind text NOT NULL,
    round integer NOT NULL,
    ord integer DEFAULT 0 NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    input json,
    local boolean DEFAULT false NOT NULL,
    asks boolean DEFAULT false NOT NULL,
    time_limit bigint DEFAULT 0 NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    settled_attempt integer DEFAULT 0 NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    outcome json,
    reserved double precision DEFAULT 0 NOT NULL,
    reserved_on date,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone
);


--
-- Name: turn_messages; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.turn_messages (
    turn_id text NOT NULL,
    round integer NOT NULL,
    content json NOT NULL
);


--
-- Name: turns; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.turns (
    id text NOT NULL,
    user_id text NOT NULL,
    conversation_id text,
    message_id text NOT NULL,
    query text NOT NULL,
    repositories text[] DEFAULT '{}'::text[] NOT NULL,
    versions text[] DEFAULT '{}'::text[] NOT NULL,
    provider_id text DEFAULT ''::text NOT NULL,
    model text DEFAULT ''::text NOT NULL,
    status text DEFAULT 'queued'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    intent text DEFAULT ''::text NOT NULL,
    answer text DEFAULT ''::text NOT NULL,
    sources json DEFAULT '[]'::json NOT NULL,
    question json,
    tool_calls_made integer DEFAULT 0 NOT NULL,
    provider_used json,
    input_tokens bigint DEFAULT 0 NOT NULL,
    output_tokens bigint DEFAULT 0 NOT NULL,
    cached_input_tokens bigint DEFAULT 0 NOT NULL,
    cost double precision DEFAULT 0 NOT NULL,
    error_code text DEFAULT ''::text NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    digest text DEFAULT ''::text NOT NULL,
    digest_round integer DEFAULT '-1'::integer NOT NULL,
    cancel_requested_at timestamp with time zone,
    launched_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone
);


--
-- Name: value_uses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.value_uses (
    owner text NOT NULL,
    sha256 bytea NOT NULL,
    message_id text NOT NULL
);


--
-- Name: version_files; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.version_files (
    version_id integer NOT NULL,
    file_id integer NOT NULL,
    resolved_id integer,
    skipped text DEFAULT ''::text NOT NULL
);


--
-- Name: versions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.versions (
    id integer NOT NULL,
    repo_id integer NOT NULL,
    tag text NOT NULL,
    commit text DEFAULT ''::text NOT NULL,
    committed_at timestamp with time zone,
    ingested_at timestamp with time zone DEFAULT now() NOT NULL,
    live boolean DEFAULT false NOT NULL,
    files integer DEFAULT 0 NOT NULL,
    symbols integer DEFAULT 0 NOT NULL,
    skipped_oversized integer DEFAULT 0 NOT NULL,
    skipped_binary integer DEFAULT 0 NOT NULL,
    skipped_generated integer DEFAULT 0 NOT NULL,
    graph_here boolean DEFAULT true NOT NULL
);


--
-- Name: versions_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.versions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.versions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: events_default; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events ATTACH PARTITION public.events_default DEFAULT;


--
-- Name: events_y2026m11; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events ATTACH PARTITION public.events_y2026m11 FOR VALUES FROM ('2026-11-01 00:00:00+00') TO ('2026-12-01 00:00:00+00');


--
-- Name: events_y2026m12; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events ATTACH PARTITION public.events_y2026m12 FOR VALUES FROM ('2026-12-01 00:00:00+00') TO ('2027-01-01 00:00:00+00');


--
-- Name: events_y2027m01; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events ATTACH PARTITION public.events_y2027m01 FOR VALUES FROM ('2027-01-01 00:00:00+00') TO ('2027-02-01 00:00:00+00');


--
-- Name: events_y2027m02; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events ATTACH PARTITION public.events_y2027m02 FOR VALUES FROM ('2027-02-01 00:00:00+00') TO ('2027-03-01 00:00:00+00');


--
-- Data for Name: budgets; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: conversations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.conversations VALUES
	('thread', 'owner', 'Where is Greet?', 'reply-01a22ccd-d8c3-795f-acfb-2e311e977dd4', NULL, '2026-11-30 14:13:37.181161+00', '2026-11-30 14:13:37.777383+00');


--
-- Data for Name: edges; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.edges VALUES
	(5638753034943203950, 5490221378247507852, 1, 1, 1, 6, 1, 1);


--
-- Data for Name: endings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.endings VALUES
	('01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 4, 'ingest_done', '{"ingest_id":"01a22ccd-d633-7ca7-9e36-0d3f4f85e033","kind":"read","repository":"sample","versions":1}', '2026-11-30 14:13:37.170807+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 12, 'done', '{"turn_id":"01a22ccd-d71d-7e82-9327-af74a4ff9ce0","conversation_id":"thread","answer":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].","sources":[{"repo":"sample","version":"main","file":"greet.go","line":4,"symbol":"Greet","verified":true,"commit":"44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b"},{"repo":"sample","version":"main","file":"greet.go","line":400,"verified":false,"commit":"44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b"}],"tool_calls_made":2,"provider_used":{"provider_id":"scripted-0","kind":"scripted","model":"scripted"},"reason":"answered","usage":{"input_tokens":420,"output_tokens":27,"cost":0}}', '2026-11-30 14:13:37.35851+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 11, 'done', '{"turn_id":"01a22ccd-d7d8-7e5d-8f1b-df858ce6982a","conversation_id":"thread","answer":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].","sources":[{"repo":"sample","version":"main","file":"greet.go","line":4,"symbol":"Greet","verified":true,"commit":"44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b"},{"repo":"sample","version":"main","file":"greet.go","line":400,"verified":false,"commit":"44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b"}],"tool_calls_made":2,"provider_used":{"provider_id":"scripted-0","kind":"scripted","model":"scripted"},"reason":"answered","usage":{"input_tokens":540,"output_tokens":34,"cost":0}}', '2026-11-30 14:13:37.59425+00'),
	('01a22ccd-d8c3-795f-acfb-2e311e977dd4', 3, 'error', '{"turn_id":"01a22ccd-d8c3-795f-acfb-2e311e977dd4","conversation_id":"thread","answer":"","sources":[],"tool_calls_made":0,"provider_used":null,"reason":"failed","usage":{"input_tokens":0,"output_tokens":0,"cost":0},"message":"no such key","code":"upstream"}', '2026-11-30 14:13:37.777383+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 11, 'done', '{"turn_id":"01a22ccd-d9bf-7c67-bc24-0199d29a23cc","answer":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].","sources":[{"repo":"sample","version":"main","file":"greet.go","line":4,"symbol":"Greet","verified":true,"commit":"44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b"},{"repo":"sample","version":"main","file":"greet.go","line":400,"verified":false,"commit":"44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b"}],"tool_calls_made":2,"provider_used":{"provider_id":"scripted-0","kind":"scripted","model":"scripted"},"reason":"answered","usage":{"input_tokens":420,"output_tokens":27,"cost":0}}', '2026-11-30 14:13:38.055292+00');


--
-- Data for Name: event_chunks; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: events_default; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: events_y2026m11; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.events_y2026m11 VALUES
	('01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 1, 'ingest/01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 1, '', 1, 'ingest_progress', '{"repository":"sample","phase":"fetch","files_done":0,"files_total":0,"bytes_done":0,"bytes_total":0,"skipped":{"oversized":0,"binary":0,"generated":0},"reused":0}', true, '2026-11-30 14:13:37.014112+00'),
	('01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 2, 'ingest/01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 2, '', 1, 'ingest_progress', '{"repository":"sample","version":"main","phase":"list","files_done":0,"files_total":0,"bytes_done":0,"bytes_total":0,"skipped":{"oversized":0,"binary":0,"generated":0},"reused":0}', true, '2026-11-30 14:13:37.070627+00'),
	('01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 3, 'ingest/01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 3, '', 1, 'ingest_progress', '{"repository":"sample","version":"main","phase":"done","files_done":2,"files_total":2,"bytes_done":157,"bytes_total":157,"symbols":2,"edges":1,"skipped":{"oversized":0,"binary":0,"generated":0},"reused":0}', true, '2026-11-30 14:13:37.109568+00'),
	('01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 4, 'ingest/01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 4, '', 0, 'ingest_done', NULL, true, '2026-11-30 14:13:37.170807+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 1, 'user/owner', 1, '', 0, 'user_message', '{"attachments":[],"conv_id":"thread","query":"Where is Greet?","turn_id":"01a22ccd-d71d-7e82-9327-af74a4ff9ce0","username":"owner"}', true, '2026-11-30 14:13:37.181161+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 2, 'user/owner', 2, '', 0, 'intent', '{"mode":"research"}', true, '2026-11-30 14:13:37.204666+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 3, 'user/owner', 3, '', 0, 'title_updated', '{"conv_id":"thread","title":"Where is Greet?"}', true, '2026-11-30 14:13:37.204666+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 4, 'user/owner', 4, 'm0', 1, 'thinking_delta', '{"text":"Let me see."}', true, '2026-11-30 14:13:37.22277+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 5, 'user/owner', 5, 'm0', 1, 'text_delta', '{"text":"I look."}', true, '2026-11-30 14:13:37.23381+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 6, 'user/owner', 6, 'm0', 1, 'phase', '{"label":"Searching codebase"}', true, '2026-11-30 14:13:37.23381+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 7, 'user/owner', 7, 'm0', 1, 'tool_call', '{"description":"Searching for symbols matching \"Greet\"","id":"call-0-0","input":{"query":"Greet"},"name":"search_symbols"}', true, '2026-11-30 14:13:37.23381+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 8, 'user/owner', 8, 'm0', 1, 'tool_call', '{"description":"Finding who calls","id":"call-0-1","input":{"name":"Greet"},"name":"find_callers"}', true, '2026-11-30 14:13:37.23381+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 9, 'user/owner', 9, 'call-0-0', 1, 'tool_result', '{"error":false,"id":"call-0-0","name":"search_symbols","preview":"1 symbol","truncated":false}', true, '2026-11-30 14:13:37.288195+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 10, 'user/owner', 10, 'call-0-1', 1, 'tool_result', '{"error":false,"id":"call-0-1","name":"find_callers","preview":"1 caller","truncated":false}', true, '2026-11-30 14:13:37.30983+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 11, 'user/owner', 11, 'm1', 1, 'text_delta', '{"text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}', true, '2026-11-30 14:13:37.33011+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 12, 'user/owner', 12, '', 0, 'done', NULL, true, '2026-11-30 14:13:37.35851+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 1, 'user/owner', 13, '', 0, 'user_message', '{"attachments":[],"conv_id":"thread","query":"And who calls it?","turn_id":"01a22ccd-d7d8-7e5d-8f1b-df858ce6982a","username":"owner"}', true, '2026-11-30 14:13:37.368595+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 2, 'user/owner', 14, 'classify', 1, 'intent', '{"mode":"research"}', true, '2026-11-30 14:13:37.446152+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 3, 'user/owner', 15, 'm0', 1, 'thinking_delta', '{"text":"Let me see."}', true, '2026-11-30 14:13:37.484699+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 4, 'user/owner', 16, 'm0', 1, 'text_delta', '{"text":"I look."}', true, '2026-11-30 14:13:37.488461+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 5, 'user/owner', 17, 'm0', 1, 'phase', '{"label":"Searching codebase"}', true, '2026-11-30 14:13:37.488461+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 6, 'user/owner', 18, 'm0', 1, 'tool_call', '{"description":"Searching for symbols matching \"Greet\"","id":"call-0-0","input":{"query":"Greet"},"name":"search_symbols"}', true, '2026-11-30 14:13:37.488461+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 7, 'user/owner', 19, 'm0', 1, 'tool_call', '{"description":"Finding who calls","id":"call-0-1","input":{"name":"Greet"},"name":"find_callers"}', true, '2026-11-30 14:13:37.488461+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 8, 'user/owner', 20, 'call-0-0', 1, 'tool_result', '{"error":false,"id":"call-0-0","name":"search_symbols","preview":"1 symbol","truncated":false}', true, '2026-11-30 14:13:37.515619+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 9, 'user/owner', 21, 'call-0-1', 1, 'tool_result', '{"error":false,"id":"call-0-1","name":"find_callers","preview":"1 caller","truncated":false}', true, '2026-11-30 14:13:37.519534+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 10, 'user/owner', 22, 'm1', 1, 'text_delta', '{"text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}', true, '2026-11-30 14:13:37.535326+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 11, 'user/owner', 23, '', 0, 'done', NULL, true, '2026-11-30 14:13:37.59425+00'),
	('01a22ccd-d8c3-795f-acfb-2e311e977dd4', 1, 'user/owner', 24, '', 0, 'user_message', '{"attachments":[],"conv_id":"thread","query":"What fails?","turn_id":"01a22ccd-d8c3-795f-acfb-2e311e977dd4","username":"owner"}', true, '2026-11-30 14:13:37.603157+00'),
	('01a22ccd-d8c3-795f-acfb-2e311e977dd4', 2, 'user/owner', 25, 'classify', 1, 'intent', '{"mode":"research"}', true, '2026-11-30 14:13:37.676561+00'),
	('01a22ccd-d8c3-795f-acfb-2e311e977dd4', 3, 'user/owner', 26, '', 0, 'error', NULL, true, '2026-11-30 14:13:37.777383+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 1, 'user/owner', 27, '', 0, 'user_message', '{"attachments":[{"name":"notes.txt","mime_type":"text/plain","size":112000}],"query":"What do the notes say?","turn_id":"01a22ccd-d9bf-7c67-bc24-0199d29a23cc","username":"owner"}', true, '2026-11-30 14:13:37.85535+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 2, 'user/owner', 28, '', 0, 'intent', '{"mode":"research"}', true, '2026-11-30 14:13:37.921033+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 3, 'user/owner', 29, 'm0', 1, 'thinking_delta', '{"text":"Let me see."}', true, '2026-11-30 14:13:37.944811+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 4, 'user/owner', 30, 'm0', 1, 'text_delta', '{"text":"I look."}', true, '2026-11-30 14:13:37.94898+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 5, 'user/owner', 31, 'm0', 1, 'phase', '{"label":"Searching codebase"}', true, '2026-11-30 14:13:37.94898+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 6, 'user/owner', 32, 'm0', 1, 'tool_call', '{"description":"Searching for symbols matching \"Greet\"","id":"call-0-0","input":{"query":"Greet"},"name":"search_symbols"}', true, '2026-11-30 14:13:37.94898+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 7, 'user/owner', 33, 'm0', 1, 'tool_call', '{"description":"Finding who calls","id":"call-0-1","input":{"name":"Greet"},"name":"find_callers"}', true, '2026-11-30 14:13:37.94898+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 8, 'user/owner', 34, 'call-0-1', 1, 'tool_result', '{"error":false,"id":"call-0-1","name":"find_callers","preview":"1 caller","truncated":false}', true, '2026-11-30 14:13:37.993262+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 9, 'user/owner', 35, 'call-0-0', 1, 'tool_result', '{"error":false,"id":"call-0-0","name":"search_symbols","preview":"1 symbol","truncated":false}', true, '2026-11-30 14:13:38.001231+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 10, 'user/owner', 36, 'm1', 1, 'text_delta', '{"text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}', true, '2026-11-30 14:13:38.025349+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 11, 'user/owner', 37, '', 0, 'done', NULL, true, '2026-11-30 14:13:38.055292+00');


--
-- Data for Name: events_y2026m12; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: events_y2027m01; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: events_y2027m02; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: graph_loads; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: graph_sweeps; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.graph_sweeps VALUES
	(1, '2026-11-30 14:13:32.606453+00');


--
-- Data for Name: idempotency; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency VALUES
	('owner', '01a22ccd-d71c-7bbb-8b88-024b7b44bc22', '\x9921501847dadb1256ff7b5a6829729cdd5fc60a4a9d4d3e9bbfa32936a4f009', '01a22ccd-d71d-7e82-9327-af74a4ff9ce0', '2026-11-30 14:13:37.181161+00'),
	('owner', '01a22ccd-d7d8-796e-9798-c4ce3f1315ca', '\x297b9f5f2ecd15bb204b5d2ee40945e0c83885c646c28479701dfe7ecd0393d9', '01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', '2026-11-30 14:13:37.368595+00'),
	('owner', '01a22ccd-d8c2-789d-90ab-d9d246e13628', '\x2c5f82f37938d46250d324b64dd37fc070590046664a0ef733412321dccfe840', '01a22ccd-d8c3-795f-acfb-2e311e977dd4', '2026-11-30 14:13:37.603157+00'),
	('owner', '01a22ccd-d991-78a7-9618-a06e52e378a8', '\x5349f95efce1b80dce0cda91d32012a6ac2407a9e6e6a6f1269e8045dc46f4cc', '01a22ccd-d9bf-7c67-bc24-0199d29a23cc', '2026-11-30 14:13:37.85535+00');


--
-- Data for Name: ingest_versions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.ingest_versions VALUES
	('01a22ccd-d633-7ca7-9e36-0d3f4f85e033', '', 0, '', NULL, 1, 'running', '{"repository":"sample","phase":"fetch","files_done":0,"files_total":0,"bytes_done":0,"bytes_total":0,"skipped":{"oversized":0,"binary":0,"generated":0},"reused":0}'),
	('01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 'main', 1, '44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b', '2026-11-30 14:13:36+00', 1, 'done', '{"repository":"sample","version":"main","phase":"done","files_done":2,"files_total":2,"bytes_done":157,"bytes_total":157,"symbols":2,"edges":1,"skipped":{"oversized":0,"binary":0,"generated":0},"reused":0}');


--
-- Data for Name: ingests; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.ingests VALUES
	('01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 'owner', 'sample', 'read', false, 'ingest/01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 'done', '', '', NULL, '2026-11-30 14:13:36.973582+00', '2026-11-30 14:13:36.947143+00', '2026-11-30 14:13:36.973582+00', '2026-11-30 14:13:37.170807+00');


--
-- Data for Name: large_values; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.large_values VALUES
	('user/owner', '\x895e32afa39b4c6df72ccb220311f040602ecfe62defa60588042c93572ad842', 112000, '\x096b37616264393731369e0c57a37ff3d51408cb5988630c7811d4f2201fa52248620fc297c2ce4836da32422b3ea5262764508b4399fc77bdc25f4a5f3ee43de545b3dd430e7bc34b9508a8e2cc3f49317998ace1185d7a43208612b299f56553127e86d882b2bf71', '2026-11-30 14:13:37.85535+00', NULL);


--
-- Data for Name: messages; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.messages VALUES
	('01a22ccd-d71d-704d-8b53-524cf8043956', 'thread', NULL, '01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 'user', '[{"type":"text","text":"Where is Greet?"}]', 15, NULL, '2026-11-30 14:13:37.181161+00'),
	('reply-01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 'thread', '01a22ccd-d71d-704d-8b53-524cf8043956', '01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 'assistant', '[{"type":"text","text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}]', 70, NULL, '2026-11-30 14:13:37.35851+00'),
	('01a22ccd-d7d8-7382-aba5-309ab53c0dfd', 'thread', 'reply-01a22ccd-d71d-7e82-9327-af74a4ff9ce0', '01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 'user', '[{"type":"text","text":"And who calls it?"}]', 17, NULL, '2026-11-30 14:13:37.368595+00'),
	('reply-01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 'thread', '01a22ccd-d7d8-7382-aba5-309ab53c0dfd', '01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 'assistant', '[{"type":"text","text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}]', 70, NULL, '2026-11-30 14:13:37.59425+00'),
	('01a22ccd-d8c3-7b89-85fc-573fbcba0491', 'thread', 'reply-01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', '01a22ccd-d8c3-795f-acfb-2e311e977dd4', 'user', '[{"type":"text","text":"What fails?"}]', 11, NULL, '2026-11-30 14:13:37.603157+00'),
	('reply-01a22ccd-d8c3-795f-acfb-2e311e977dd4', 'thread', '01a22ccd-d8c3-7b89-85fc-573fbcba0491', '01a22ccd-d8c3-795f-acfb-2e311e977dd4', 'assistant', '[{"type":"text","text":"[This answer failed: no such key]"}]', 33, NULL, '2026-11-30 14:13:37.777383+00'),
	('01a22ccd-d9bf-7c14-9f2d-d4c83b3194eb', NULL, NULL, '01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 'user', '[{"type":"text","text":"What do the notes say?"},{"type":"media","mime_type":"text/plain","name":"notes.txt","ref":{"sha256":"iV4yr6ObTG33LMsiAxHwQGAuz+Yt76YFiAQsk1cq2EI=","size":112000}}]', 22, NULL, '2026-11-30 14:13:37.85535+00'),
	('reply-01a22ccd-d9bf-7c67-bc24-0199d29a23cc', NULL, '01a22ccd-d9bf-7c14-9f2d-d4c83b3194eb', '01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 'assistant', '[{"type":"text","text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}]', 70, NULL, '2026-11-30 14:13:38.055292+00');


--
-- Data for Name: processes; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.processes VALUES
	('01a22ccd-d2b5-7b3e-9a8c-5b7737047cc6', 'up', 'vm', 16840, 'k7abd9716', '{"k7abd9716":"3cffb0260e61832a"}', '2026-11-30 14:13:36.054077+00', '2026-11-30 14:13:36.054077+00');


--
-- Data for Name: repositories; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.repositories OVERRIDING SYSTEM VALUE VALUES
	(1, 'sample', '/srv/code/sample', '{}', false, false, 0, '2026-11-30 14:13:36.949349+00');


--
-- Data for Name: repository_credentials; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.repository_credentials VALUES
	(1, '\x096b3761626439373136f8372f1f4cc61cf42a13e5da3e2b2a6a5310f8ed0deb46e496eb2c00f3df4343587f198c1a48640190558835a692388a4ea745a3', '2026-11-30 14:13:38.063235+00');


--
-- Data for Name: repository_refs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.repository_refs VALUES
	(1, 'main', '44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b', '2026-11-30 14:13:37.025479+00');


--
-- Data for Name: resolutions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.resolutions OVERRIDING SYSTEM VALUE VALUES
	(1, '\x1a85f3b37293f18baa06c2ff5a0ba020707aba17a55f4f675a26e34a440abd24', 1, '2026-11-30 14:13:37.092728+00'),
	(2, '\x1a85f3b3104122fa62182d0d84edcd98df6d909364c9eca241f23de810eaba68', 2, '2026-11-30 14:13:37.098797+00');


--
-- Data for Name: schema_version; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schema_version VALUES
	(100);


--
-- Data for Name: source_blobs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.source_blobs OVERRIDING SYSTEM VALUE VALUES
	(1, '\x61cc78d4b0fc740194bf619bbdc8901228b7b5f8e9b90ca7b5baae0a12373cb9', 35, -2553478921108212481, '\x2590020612676f2d6d6f646578616d706c652e636f6d2f73616d706c6501020000000000000000', '\x0308000000', '\x28b52ffd04001901006d6f64756c65206578616d706c652e636f6d2f73616d706c650a0a676f20312e32360aaa5048dd', '2026-11-30 14:13:37.090124+00'),
	(2, '\xcee3ad64f02a2ff521c54a7267f83d7710033bc7d40c0a0ed325b783c709d914', 122, -2553478921108212481, '\x9001f08f09020605081306051320676f73616d706c65477265657466756e6374696f6e66756e63204772656574282920737472696e67737472696e67547769636566756e63205477696365282920737472696e673265376664336331666363636364383435653432303332616563346662383936010202030004050008080100060007000408000c0c0100060000000000000009', '\x2fb80305050d477265657463616c6c734772656574206772656574732e0202010000020c000002010000020c0000020300', '\x28b52ffd0400b50200a2c4101780c102d537f1fde91a4f985a7616f0ab240db1eb17d8881987a7053032da2c8c1d316e0af7ea80555bbacf42901a3c9278fbabf2fe5af89ccc33a7a0e72b9424e40205004d14190201964abaa586ab0df309cbb6629b', '2026-11-30 14:13:37.090124+00');


--
-- Data for Name: source_files; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.source_files OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 2, 'greet.go', 'go', 2),
	(2, 1, 1, 'go.mod', 'go-mod', 0);


--
-- Data for Name: streams; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.streams VALUES
	('ingest/01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 4),
	('user/owner', 37);


--
-- Data for Name: subjects; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.subjects VALUES
	('01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 'ingest/01a22ccd-d633-7ca7-9e36-0d3f4f85e033', 4, '2026-11-30 14:13:36.947143+00', '2026-11-30 14:13:37.170807+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 'user/owner', 12, '2026-11-30 14:13:37.181161+00', '2026-11-30 14:13:37.35851+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 'user/owner', 11, '2026-11-30 14:13:37.368595+00', '2026-11-30 14:13:37.59425+00'),
	('01a22ccd-d8c3-795f-acfb-2e311e977dd4', 'user/owner', 3, '2026-11-30 14:13:37.603157+00', '2026-11-30 14:13:37.777383+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 'user/owner', 11, '2026-11-30 14:13:37.85535+00', '2026-11-30 14:13:38.055292+00');


--
-- Data for Name: symbols; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.symbols VALUES
	(5490221378247507852, 1, 0, 4, 4, 1, 1, 2, false, true, false, 'Greet', '', 'greet', ' greet', 'func Greet() string', 'Greet greets.', 0),
	(5638753034943203950, 1, 1, 6, 6, 1, 1, 2, false, true, false, 'Twice', '', 'twice', ' twice', 'func Twice() string', '', 0);


--
-- Data for Name: turn_calls; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.turn_calls VALUES
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 'm0', 'model', 0, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"calls":[{"id":"call-0-0","name":"search_symbols","local":true,"limit":2000000000},{"id":"call-0-1","name":"find_callers","local":true,"limit":2000000000}]}', 0, NULL, '2026-11-30 14:13:37.218907+00', '2026-11-30 14:13:37.23381+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 'call-0-0', 'tool', 0, 1, 'search_symbols', '{"query": "Greet"}', true, false, 2000000000, 1, 0, 0, 'done', '{"text":"[sample:main:greet.go:4] function Greet (lines 4-4)\n    func Greet() string\n    // Greet greets.","preview":"1 symbol"}', 0, NULL, '2026-11-30 14:13:37.23381+00', '2026-11-30 14:13:37.288195+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 'call-0-1', 'tool', 0, 2, 'find_callers', '{"name": "Greet"}', true, false, 2000000000, 1, 0, 0, 'done', '{"text":"[sample:main:greet.go:6] in Twice (exact, defined at greet.go:6)\n    func Twice() string","preview":"1 caller"}', 0, NULL, '2026-11-30 14:13:37.23381+00', '2026-11-30 14:13:37.30983+00'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 'm1', 'model', 1, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"reason":"answered"}', 0, NULL, '2026-11-30 14:13:37.327457+00', '2026-11-30 14:13:37.33011+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 'classify', 'model', -1, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"intent":"research"}', 0, NULL, '2026-11-30 14:13:37.437518+00', '2026-11-30 14:13:37.446152+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 'm0', 'model', 0, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"calls":[{"id":"call-0-0","name":"search_symbols","local":true,"limit":2000000000},{"id":"call-0-1","name":"find_callers","local":true,"limit":2000000000}]}', 0, NULL, '2026-11-30 14:13:37.484279+00', '2026-11-30 14:13:37.488461+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 'call-0-0', 'tool', 0, 1, 'search_symbols', '{"query": "Greet"}', true, false, 2000000000, 1, 0, 0, 'done', '{"text":"[sample:main:greet.go:4] function Greet (lines 4-4)\n    func Greet() string\n    // Greet greets.","preview":"1 symbol"}', 0, NULL, '2026-11-30 14:13:37.488461+00', '2026-11-30 14:13:37.515619+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 'call-0-1', 'tool', 0, 2, 'find_callers', '{"name": "Greet"}', true, false, 2000000000, 1, 0, 0, 'done', '{"text":"[sample:main:greet.go:6] in Twice (exact, defined at greet.go:6)\n    func Twice() string","preview":"1 caller"}', 0, NULL, '2026-11-30 14:13:37.488461+00', '2026-11-30 14:13:37.519534+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 'm1', 'model', 1, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"reason":"answered"}', 0, NULL, '2026-11-30 14:13:37.534918+00', '2026-11-30 14:13:37.535326+00'),
	('01a22ccd-d8c3-795f-acfb-2e311e977dd4', 'classify', 'model', -1, 0, '', NULL, false, false, 0, 1, 0, 0, 'done', '{"intent":"research"}', 0, NULL, '2026-11-30 14:13:37.676046+00', '2026-11-30 14:13:37.676561+00'),
	('01a22ccd-d8c3-795f-acfb-2e311e977dd4', 'm0', 'model', 0, 0, '', NULL, false, false, 0, 1, 1, 1, 'running', NULL, 0, NULL, '2026-11-30 14:13:37.755937+00', NULL),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 'm0', 'model', 0, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"calls":[{"id":"call-0-0","name":"search_symbols","local":true,"limit":2000000000},{"id":"call-0-1","name":"find_callers","local":true,"limit":2000000000}]}', 0, NULL, '2026-11-30 14:13:37.943988+00', '2026-11-30 14:13:37.94898+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 'call-0-1', 'tool', 0, 2, 'find_callers', '{"name": "Greet"}', true, false, 2000000000, 1, 0, 0, 'done', '{"text":"[sample:main:greet.go:6] in Twice (exact, defined at greet.go:6)\n    func Twice() string","preview":"1 caller"}', 0, NULL, '2026-11-30 14:13:37.94898+00', '2026-11-30 14:13:37.993262+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 'call-0-0', 'tool', 0, 1, 'search_symbols', '{"query": "Greet"}', true, false, 2000000000, 1, 0, 0, 'done', '{"text":"[sample:main:greet.go:4] function Greet (lines 4-4)\n    func Greet() string\n    // Greet greets.","preview":"1 symbol"}', 0, NULL, '2026-11-30 14:13:37.94898+00', '2026-11-30 14:13:38.001231+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 'm1', 'model', 1, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"reason":"answered"}', 0, NULL, '2026-11-30 14:13:38.022574+00', '2026-11-30 14:13:38.025349+00');


--
-- Data for Name: turn_messages; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.turn_messages VALUES
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 0, '[{"type":"thinking","text":"Let me see."},{"type":"text","text":"I look."},{"type":"tool_use","call_id":"call-0-0","tool":"search_symbols","input":{"query":"Greet"}},{"type":"tool_use","call_id":"call-0-1","tool":"find_callers","input":{"name":"Greet"}}]'),
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 1, '[{"type":"text","text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}]'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 0, '[{"type":"thinking","text":"Let me see."},{"type":"text","text":"I look."},{"type":"tool_use","call_id":"call-0-0","tool":"search_symbols","input":{"query":"Greet"}},{"type":"tool_use","call_id":"call-0-1","tool":"find_callers","input":{"name":"Greet"}}]'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 1, '[{"type":"text","text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}]'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 0, '[{"type":"thinking","text":"Let me see."},{"type":"text","text":"I look."},{"type":"tool_use","call_id":"call-0-0","tool":"search_symbols","input":{"query":"Greet"}},{"type":"tool_use","call_id":"call-0-1","tool":"find_callers","input":{"name":"Greet"}}]'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 1, '[{"type":"text","text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}]');


--
-- Data for Name: turns; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.turns VALUES
	('01a22ccd-d71d-7e82-9327-af74a4ff9ce0', 'owner', 'thread', '01a22ccd-d71d-704d-8b53-524cf8043956', 'Where is Greet?', '{}', '{}', '', '', 'done', 'answered', 'research', 'Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].', '[{"repo":"sample","version":"main","file":"greet.go","line":4,"symbol":"Greet","verified":true,"commit":"44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b"},{"repo":"sample","version":"main","file":"greet.go","line":400,"verified":false,"commit":"44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b"}]', NULL, 2, '{"provider_id":"scripted-0","kind":"scripted","model":"scripted"}', 420, 27, 0, 0, '', '', '', -1, NULL, '2026-11-30 14:13:37.204666+00', '2026-11-30 14:13:37.181161+00', '2026-11-30 14:13:37.204666+00', '2026-11-30 14:13:37.35851+00'),
	('01a22ccd-d7d8-7e5d-8f1b-df858ce6982a', 'owner', 'thread', '01a22ccd-d7d8-7382-aba5-309ab53c0dfd', 'And who calls it?', '{}', '{}', '', '', 'done', 'answered', 'research', 'Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].', '[{"repo":"sample","version":"main","file":"greet.go","line":4,"symbol":"Greet","verified":true,"commit":"44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b"},{"repo":"sample","version":"main","file":"greet.go","line":400,"verified":false,"commit":"44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b"}]', NULL, 2, '{"provider_id":"scripted-0","kind":"scripted","model":"scripted"}', 540, 34, 0, 0, '', '', '', -1, NULL, '2026-11-30 14:13:37.407738+00', '2026-11-30 14:13:37.368595+00', '2026-11-30 14:13:37.407738+00', '2026-11-30 14:13:37.59425+00'),
	('01a22ccd-d8c3-795f-acfb-2e311e977dd4', 'owner', 'thread', '01a22ccd-d8c3-7b89-85fc-573fbcba0491', 'What fails?', '{}', '{}', '', '', 'failed', 'failed', 'research', '', '[]', NULL, 0, NULL, 0, 0, 0, 0, 'upstream', 'no such key', '', -1, NULL, '2026-11-30 14:13:37.641051+00', '2026-11-30 14:13:37.603157+00', '2026-11-30 14:13:37.641051+00', '2026-11-30 14:13:37.777383+00'),
	('01a22ccd-d9bf-7c67-bc24-0199d29a23cc', 'owner', NULL, '01a22ccd-d9bf-7c14-9f2d-d4c83b3194eb', 'What do the notes say?', '{}', '{}', '', '', 'done', 'answered', 'research', 'Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].', '[{"repo":"sample","version":"main","file":"greet.go","line":4,"symbol":"Greet","verified":true,"commit":"44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b"},{"repo":"sample","version":"main","file":"greet.go","line":400,"verified":false,"commit":"44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b"}]', NULL, 2, '{"provider_id":"scripted-0","kind":"scripted","model":"scripted"}', 420, 27, 0, 0, '', '', '', -1, NULL, '2026-11-30 14:13:37.921033+00', '2026-11-30 14:13:37.85535+00', '2026-11-30 14:13:37.921033+00', '2026-11-30 14:13:38.055292+00');


--
-- Data for Name: value_uses; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.value_uses VALUES
	('user/owner', '\x895e32afa39b4c6df72ccb220311f040602ecfe62defa60588042c93572ad842', '01a22ccd-d9bf-7c14-9f2d-d4c83b3194eb');


--
-- Data for Name: version_files; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.version_files VALUES
	(877645166, 2, 2, ''),
	(877645166, 1, 1, '');


--
-- Data for Name: versions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.versions OVERRIDING SYSTEM VALUE VALUES
	(877645166, 1, 'main', '44dfe6a40567ba43aa1c53520119c2ed8ca4ab5b', '2026-11-30 14:13:36+00', '2026-11-30 14:13:37.100016+00', true, 2, 2, 0, 0, 0, true);


--
-- Name: graph_loads_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.graph_loads_id_seq', 1, true);


--
-- Name: repositories_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.repositories_id_seq', 1, true);


--
-- Name: resolutions_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.resolutions_id_seq', 2, true);


--
-- Name: source_blobs_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.source_blobs_id_seq', 2, true);


--
-- Name: source_files_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.source_files_id_seq', 2, true);


--
-- Name: versions_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.versions_id_seq', 877645166, true);


--
-- Name: budgets budgets_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.budgets
    ADD CONSTRAINT budgets_pkey PRIMARY KEY (user_id, day);


--
-- Name: conversations conversations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (id);


--
-- Name: endings endings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.endings
    ADD CONSTRAINT endings_pkey PRIMARY KEY (subject_id);


--
-- Name: event_chunks event_chunks_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.event_chunks
    ADD CONSTRAINT event_chunks_pkey PRIMARY KEY (subject_id, subject_seq, start_byte);


--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (subject_id, subject_seq, at);


--
-- Name: events_default events_default_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events_default
    ADD CONSTRAINT events_default_pkey PRIMARY KEY (subject_id, subject_seq, at);


--
-- Name: events_y2026m11 events_y2026m11_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events_y2026m11
    ADD CONSTRAINT events_y2026m11_pkey PRIMARY KEY (subject_id, subject_seq, at);


--
-- Name: events_y2026m12 events_y2026m12_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events_y2026m12
    ADD CONSTRAINT events_y2026m12_pkey PRIMARY KEY (subject_id, subject_seq, at);


--
-- Name: events_y2027m01 events_y2027m01_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events_y2027m01
    ADD CONSTRAINT events_y2027m01_pkey PRIMARY KEY (subject_id, subject_seq, at);


--
-- Name: events_y2027m02 events_y2027m02_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events_y2027m02
    ADD CONSTRAINT events_y2027m02_pkey PRIMARY KEY (subject_id, subject_seq, at);


--
-- Name: graph_loads graph_loads_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.graph_loads
    ADD CONSTRAINT graph_loads_pkey PRIMARY KEY (id);


--
-- Name: graph_sweeps graph_sweeps_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.graph_sweeps
    ADD CONSTRAINT graph_sweeps_pkey PRIMARY KEY (id);


--
-- Name: idempotency idempotency_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (user_id, key);


--
-- Name: ingest_versions ingest_versions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ingest_versions
    ADD CONSTRAINT ingest_versions_pkey PRIMARY KEY (ingest_id, tag);


--
-- Name: ingests ingests_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ingests
    ADD CONSTRAINT ingests_pkey PRIMARY KEY (id);


--
-- Name: large_values large_values_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.large_values
    ADD CONSTRAINT large_values_pkey PRIMARY KEY (owner, sha256);


--
-- Name: messages messages_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);


--
-- Name: processes processes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.processes
    ADD CONSTRAINT processes_pkey PRIMARY KEY (id);


--
-- Name: repositories repositories_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repositories
    ADD CONSTRAINT repositories_name_key UNIQUE (name);


--
-- Name: repositories repositories_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repositories
    ADD CONSTRAINT repositories_pkey PRIMARY KEY (id);


--
-- Name: repository_credentials repository_credentials_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repository_credentials
    ADD CONSTRAINT repository_credentials_pkey PRIMARY KEY (repo_id);


--
-- Name: repository_refs repository_refs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repository_refs
    ADD CONSTRAINT repository_refs_pkey PRIMARY KEY (repo_id, tag);


--
-- Name: resolutions resolutions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.resolutions
    ADD CONSTRAINT resolutions_pkey PRIMARY KEY (id);


--
-- Name: source_blobs source_blobs_key_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_blobs
    ADD CONSTRAINT source_blobs_key_key UNIQUE (key);


--
-- Name: source_blobs source_blobs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_blobs
    ADD CONSTRAINT source_blobs_pkey PRIMARY KEY (id);


--
-- Name: source_files source_files_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_files
    ADD CONSTRAINT source_files_pkey PRIMARY KEY (id);


--
-- Name: streams streams_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.streams
    ADD CONSTRAINT streams_pkey PRIMARY KEY (id);


--
-- Name: subjects subjects_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.subjects
    ADD CONSTRAINT subjects_pkey PRIMARY KEY (id);


--
-- Name: turn_calls turn_calls_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.turn_calls
    ADD CONSTRAINT turn_calls_pkey PRIMARY KEY (turn_id, call_id);


--
-- Name: turn_messages turn_messages_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.turn_messages
    ADD CONSTRAINT turn_messages_pkey PRIMARY KEY (turn_id, round);


--
-- Name: turns turns_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (id);


--
-- Name: value_uses value_uses_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.value_uses
    ADD CONSTRAINT value_uses_pkey PRIMARY KEY (owner, sha256, message_id);


--
-- Name: versions versions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.versions
    ADD CONSTRAINT versions_pkey PRIMARY KEY (id);


--
-- Name: conversations_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX conversations_user ON public.conversations USING btree (user_id, updated_at DESC);


--
-- Name: edges_in; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX edges_in ON public.edges USING btree (dst_key, kind) INCLUDE (src_key, resolved_id, file_id, src_ord, line, how);


--
-- Name: edges_out; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX edges_out ON public.edges USING btree (resolved_id, src_ord);


--
-- Name: events_stream; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_stream ON ONLY public.events USING btree (stream_id, seq);


--
-- Name: events_default_stream_id_seq_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_default_stream_id_seq_idx ON public.events_default USING btree (stream_id, seq);


--
-- Name: events_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_open ON ONLY public.events USING btree (subject_id) WHERE (NOT closed);


--
-- Name: events_default_subject_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_default_subject_id_idx ON public.events_default USING btree (subject_id) WHERE (NOT closed);


--
-- Name: events_y2026m11_stream_id_seq_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_y2026m11_stream_id_seq_idx ON public.events_y2026m11 USING btree (stream_id, seq);


--
-- Name: events_y2026m11_subject_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_y2026m11_subject_id_idx ON public.events_y2026m11 USING btree (subject_id) WHERE (NOT closed);


--
-- Name: events_y2026m12_stream_id_seq_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_y2026m12_stream_id_seq_idx ON public.events_y2026m12 USING btree (stream_id, seq);


--
-- Name: events_y2026m12_subject_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_y2026m12_subject_id_idx ON public.events_y2026m12 USING btree (subject_id) WHERE (NOT closed);


--
-- Name: events_y2027m01_stream_id_seq_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_y2027m01_stream_id_seq_idx ON public.events_y2027m01 USING btree (stream_id, seq);


--
-- Name: events_y2027m01_subject_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_y2027m01_subject_id_idx ON public.events_y2027m01 USING btree (subject_id) WHERE (NOT closed);


--
-- Name: events_y2027m02_stream_id_seq_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_y2027m02_stream_id_seq_idx ON public.events_y2027m02 USING btree (stream_id, seq);


--
-- Name: events_y2027m02_subject_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_y2027m02_subject_id_idx ON public.events_y2027m02 USING btree (subject_id) WHERE (NOT closed);


--
-- Name: idempotency_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotency_age ON public.idempotency USING btree (created_at);


--
-- Name: ingest_versions_place; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ingest_versions_place ON public.ingest_versions USING btree (ingest_id, place);


--
-- Name: ingests_ended; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ingests_ended ON public.ingests USING btree (ended_at) WHERE (ended_at IS NOT NULL);


--
-- Name: ingests_lock; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX ingests_lock ON public.ingests USING btree (repository) WHERE (ended_at IS NULL);


--
-- Name: ingests_repository; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ingests_repository ON public.ingests USING btree (repository, created_at DESC);


--
-- Name: large_values_unused; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX large_values_unused ON public.large_values USING btree (unused_since) WHERE (unused_since IS NOT NULL);


--
-- Name: messages_conversation; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX messages_conversation ON public.messages USING btree (conversation_id);


--
-- Name: messages_parent; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX messages_parent ON public.messages USING btree (parent_id);


--
-- Name: resolutions_file; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX resolutions_file ON public.resolutions USING btree (file_id);


--
-- Name: resolutions_identity; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX resolutions_identity ON public.resolutions USING btree (key, file_id);


--
-- Name: source_files_blob; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX source_files_blob ON public.source_files USING btree (blob_id);


--
-- Name: source_files_identity; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX source_files_identity ON public.source_files USING btree (repo_id, path, blob_id);


--
-- Name: symbols_classes; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX symbols_classes ON public.symbols USING btree (file_id, ord) WHERE class;


--
-- Name: symbols_folded; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX symbols_folded ON public.symbols USING btree (folded text_pattern_ops, repo_id);


--
-- Name: symbols_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX symbols_key ON public.symbols USING btree (key_id);


--
-- Name: symbols_place; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX symbols_place ON public.symbols USING btree (file_id, ord);


--
-- Name: symbols_trigrams; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX symbols_trigrams ON public.symbols USING gin (folded public.gin_trgm_ops);


--
-- Name: turns_conversation; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX turns_conversation ON public.turns USING btree (conversation_id, created_at);


--
-- Name: turns_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX turns_open ON public.turns USING btree (created_at) WHERE (ended_at IS NULL);


--
-- Name: turns_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX turns_user ON public.turns USING btree (user_id, created_at DESC);


--
-- Name: value_uses_message; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX value_uses_message ON public.value_uses USING btree (message_id);


--
-- Name: version_files_file; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX version_files_file ON public.version_files USING btree (file_id, version_id) INCLUDE (resolved_id);


--
-- Name: version_files_version; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX version_files_version ON public.version_files USING btree (version_id, file_id) INCLUDE (resolved_id);


--
-- Name: versions_live; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX versions_live ON public.versions USING btree (repo_id, tag) WHERE live;


--
-- Name: versions_retired; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX versions_retired ON public.versions USING btree (repo_id) WHERE (NOT live);


--
-- Name: events_default_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_pkey ATTACH PARTITION public.events_default_pkey;


--
-- Name: events_default_stream_id_seq_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_stream ATTACH PARTITION public.events_default_stream_id_seq_idx;


--
-- Name: events_default_subject_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_open ATTACH PARTITION public.events_default_subject_id_idx;


--
-- Name: events_y2026m11_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_pkey ATTACH PARTITION public.events_y2026m11_pkey;


--
-- Name: events_y2026m11_stream_id_seq_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_stream ATTACH PARTITION public.events_y2026m11_stream_id_seq_idx;


--
-- Name: events_y2026m11_subject_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_open ATTACH PARTITION public.events_y2026m11_subject_id_idx;


--
-- Name: events_y2026m12_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_pkey ATTACH PARTITION public.events_y2026m12_pkey;


--
-- Name: events_y2026m12_stream_id_seq_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_stream ATTACH PARTITION public.events_y2026m12_stream_id_seq_idx;


--
-- Name: events_y2026m12_subject_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_open ATTACH PARTITION public.events_y2026m12_subject_id_idx;


--
-- Name: events_y2027m01_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_pkey ATTACH PARTITION public.events_y2027m01_pkey;


--
-- Name: events_y2027m01_stream_id_seq_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_stream ATTACH PARTITION public.events_y2027m01_stream_id_seq_idx;


--
-- Name: events_y2027m01_subject_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_open ATTACH PARTITION public.events_y2027m01_subject_id_idx;


--
-- Name: events_y2027m02_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_pkey ATTACH PARTITION public.events_y2027m02_pkey;


--
-- Name: events_y2027m02_stream_id_seq_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_stream ATTACH PARTITION public.events_y2027m02_stream_id_seq_idx;


--
-- Name: events_y2027m02_subject_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.events_open ATTACH PARTITION public.events_y2027m02_subject_id_idx;


--
-- Name: endings endings_subject_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.endings
    ADD CONSTRAINT endings_subject_id_fkey FOREIGN KEY (subject_id) REFERENCES public.subjects(id) ON DELETE CASCADE;


--
-- Name: graph_loads graph_loads_repo_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.graph_loads
    ADD CONSTRAINT graph_loads_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES public.repositories(id) ON DELETE CASCADE;


--
-- Name: ingest_versions ingest_versions_ingest_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ingest_versions
    ADD CONSTRAINT ingest_versions_ingest_id_fkey FOREIGN KEY (ingest_id) REFERENCES public.ingests(id) ON DELETE CASCADE;


--
-- Name: messages messages_conversation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES public.conversations(id) ON DELETE CASCADE;


--
-- Name: messages messages_parent_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES public.messages(id) ON DELETE CASCADE;


--
-- Name: repository_credentials repository_credentials_repo_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repository_credentials
    ADD CONSTRAINT repository_credentials_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES public.repositories(id) ON DELETE CASCADE;


--
-- Name: repository_refs repository_refs_repo_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repository_refs
    ADD CONSTRAINT repository_refs_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES public.repositories(id) ON DELETE CASCADE;


--
-- Name: subjects subjects_stream_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.subjects
    ADD CONSTRAINT subjects_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES public.streams(id);


--
-- Name: turns turns_conversation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES public.conversations(id) ON DELETE SET NULL;


--
-- Name: value_uses value_uses_message_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.value_uses
    ADD CONSTRAINT value_uses_message_id_fkey FOREIGN KEY (message_id) REFERENCES public.messages(id) ON DELETE CASCADE;


--
-- Name: value_uses value_uses_owner_sha256_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.value_uses
    ADD CONSTRAINT value_uses_owner_sha256_fkey FOREIGN KEY (owner, sha256) REFERENCES public.large_values(owner, sha256);


--
-- Name: versions versions_repo_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.versions
    ADD CONSTRAINT versions_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES public.repositories(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


