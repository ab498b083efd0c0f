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


--
-- Name: plain_text(text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.plain_text(said text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
    select translate(said, E'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~\t\r\n', repeat(' ', 35))
$_$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: actions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.actions (
    id text NOT NULL,
    turn_id text NOT NULL,
    call_id text NOT NULL,
    conversation_id text DEFAULT ''::text NOT NULL,
    project_id text,
    requester text NOT NULL,
    tool text NOT NULL,
    input json NOT NULL,
    hash text NOT NULL,
    description text NOT NULL,
    nonce text NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    decided_by text DEFAULT ''::text NOT NULL,
    decided_at timestamp with time zone,
    reason text DEFAULT ''::text NOT NULL,
    reported boolean DEFAULT false NOT NULL,
    verified boolean DEFAULT false NOT NULL,
    outcome text DEFAULT ''::text NOT NULL,
    told_at timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT actions_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text, 'expired'::text, 'applying'::text, 'applied'::text, 'failed'::text, 'unknown'::text])))
);


--
-- Name: agent_connections; Type: TABLE; Schema: public; Owner: -
--

CREATE UNLOGGED TABLE public.agent_connections (
    agent_id text NOT NULL,
    id text NOT NULL,
    process_id text NOT NULL,
    machine text DEFAULT ''::text NOT NULL,
    connected_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    pinged_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: agent_sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE UNLOGGED TABLE public.agent_sessions (
    id text NOT NULL,
    agent_id text NOT NULL,
    project_id text NOT NULL,
    kind text NOT NULL,
    process_id text NOT NULL,
    user_id text NOT NULL,
    user_name text DEFAULT ''::text NOT NULL,
    address text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    claimed_at timestamp with time zone,
    CONSTRAINT agent_sessions_kind_check CHECK ((kind = ANY (ARRAY['console'::text, 'tunnel'::text])))
);


--
-- Name: agents; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.agents (
    id text NOT NULL,
    project_id text NOT NULL,
    hostname text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    provider text,
    instance text DEFAULT ''::text NOT NULL,
    token_hash bytea NOT NULL,
    machine text DEFAULT ''::text NOT NULL,
    version text DEFAULT ''::text NOT NULL,
    capabilities text[] DEFAULT '{}'::text[] NOT NULL,
    last_seen timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: api_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.api_keys (
    id text NOT NULL,
    user_id text NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    hash bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone
);


--
-- Name: artifact_renders; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.artifact_renders (
    artifact_id text NOT NULL,
    version integer NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    claimed_at timestamp with time zone,
    body bytea,
    fault text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: artifact_versions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.artifact_versions (
    artifact_id text NOT NULL,
    version integer NOT NULL,
    title text NOT NULL,
    content text NOT NULL,
    author text NOT NULL,
    turn_id text DEFAULT ''::text NOT NULL,
    write_key text,
    restored_from integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: artifacts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.artifacts (
    id text NOT NULL,
    project_id text NOT NULL,
    title text NOT NULL,
    kind text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: audit; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit (
    id text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    user_id text NOT NULL,
    user_name text NOT NULL,
    key_id text NOT NULL,
    method text NOT NULL,
    route text NOT NULL,
    path text NOT NULL,
    project_id text NOT NULL,
    outcome text NOT NULL,
    status integer NOT NULL,
    address text NOT NULL,
    request_id text NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    CONSTRAINT audit_outcome_check CHECK ((outcome = ANY (ARRAY['denied'::text, 'done'::text, 'failed'::text])))
);


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
-- Name: command_outputs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.command_outputs (
    command_id text NOT NULL,
    stdout_head bytea DEFAULT '\x'::bytea NOT NULL,
    stdout_tail bytea DEFAULT '\x'::bytea NOT NULL,
    stderr_head bytea DEFAULT '\x'::bytea NOT NULL,
    stderr_tail bytea DEFAULT '\x'::bytea NOT NULL
);


--
-- Name: commands; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.commands (
    id text NOT NULL,
    project_id text NOT NULL,
    agent_id text NOT NULL,
    hostname text NOT NULL,
    command text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    env json DEFAULT '{}'::json NOT NULL,
    time_limit interval NOT NULL,
    user_id text NOT NULL,
    turn_id text DEFAULT ''::text NOT NULL,
    call_id text DEFAULT ''::text NOT NULL,
    status text NOT NULL,
    exit_code integer,
    error text DEFAULT ''::text NOT NULL,
    swept integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    wait interval NOT NULL,
    deliver_by timestamp with time zone NOT NULL,
    launched_at timestamp with time zone,
    told_at timestamp with time zone,
    connection text DEFAULT ''::text NOT NULL,
    machine text DEFAULT ''::text NOT NULL,
    durable boolean DEFAULT false NOT NULL,
    delivered_at timestamp with time zone,
    started_at timestamp with time zone,
    result_by timestamp with time zone,
    cancel_requested_at timestamp with time zone,
    ended_at timestamp with time zone,
    stdout_taken bigint DEFAULT 0 NOT NULL,
    stderr_taken bigint DEFAULT 0 NOT NULL,
    stdout_bytes bigint DEFAULT 0 NOT NULL,
    stderr_bytes bigint DEFAULT 0 NOT NULL,
    late json,
    stdout_logged bigint DEFAULT 0 NOT NULL,
    stderr_logged bigint DEFAULT 0 NOT NULL,
    cancel_connection text DEFAULT ''::text NOT NULL,
    CONSTRAINT commands_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'queued'::text, 'delivered'::text, 'running'::text, 'done'::text, 'timed_out'::text, 'canceled'::text, 'failed'::text, 'expired'::text, 'rejected'::text, 'unknown'::text])))
)
WITH (fillfactor='70');


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
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    project_id text,
    titled boolean DEFAULT false NOT NULL,
    suggestions json DEFAULT '[]'::json NOT NULL
);


--
-- Name: devices; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.devices (
    hash bytea NOT NULL,
    user_code text NOT NULL,
    name text NOT NULL,
    scopes text[] NOT NULL,
    key_days integer NOT NULL,
    address text NOT NULL,
    status text DEFAULT 'waiting'::text NOT NULL,
    user_id text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL
);


--
-- Name: document_texts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.document_texts (
    owner text NOT NULL,
    sha256 bytea NOT NULL,
    pages integer NOT NULL,
    cut boolean NOT NULL,
    problem text DEFAULT ''::text NOT NULL,
    body bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
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
-- Name: forward_visits; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.forward_visits (
    hash bytea NOT NULL,
    ticket boolean NOT NULL,
    forward_id text NOT NULL,
    session_id text,
    user_id text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT forward_visits_whose CHECK (((session_id IS NOT NULL) OR (user_id = 'owner'::text)))
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
-- Name: graph_owner; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.graph_owner (
    one boolean DEFAULT true NOT NULL,
    id text DEFAULT (gen_random_uuid())::text NOT NULL,
    CONSTRAINT graph_owner_one_check CHECK (one)
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
-- Name: groups; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.groups (
    id text NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    is_default boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
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
-- Name: identities; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id text NOT NULL,
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
-- Name: install_tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.install_tokens (
    id text NOT NULL,
    project_id text NOT NULL,
    hash bytea NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    uses_left integer,
    instance text DEFAULT ''::text NOT NULL,
    description text DEFAULT ''::text NOT NULL
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
-- Name: lxd_identity; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.lxd_identity (
    one boolean DEFAULT true NOT NULL,
    installation text NOT NULL,
    certificate text NOT NULL,
    sealed_key bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT lxd_identity_one_check CHECK (one)
);


--
-- Name: lxd_servers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.lxd_servers (
    endpoint text NOT NULL,
    fingerprint text NOT NULL,
    joined_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: memberships; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.memberships (
    group_id text NOT NULL,
    user_id text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: memories; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.memories (
    id text NOT NULL,
    project_id text NOT NULL,
    title text NOT NULL,
    content text NOT NULL,
    created_by text NOT NULL,
    turn_id text DEFAULT ''::text NOT NULL,
    write_key text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search tsvector GENERATED ALWAYS AS ((setweight(to_tsvector('english'::regconfig, title), 'A'::"char") || setweight(to_tsvector('english'::regconfig, content), 'B'::"char"))) STORED,
    version integer DEFAULT 1 NOT NULL
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
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    depth integer DEFAULT 0 NOT NULL,
    body text DEFAULT ''::text NOT NULL,
    words tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, public.plain_text("left"(body, 100000)))) STORED
);


--
-- Name: performed; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.performed (
    user_id text NOT NULL,
    project_id text DEFAULT ''::text NOT NULL,
    hash text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    act text DEFAULT ''::text NOT NULL
);


--
-- Name: port_forwards; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.port_forwards (
    id text NOT NULL,
    agent_id text NOT NULL,
    port integer NOT NULL,
    route_name text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT port_forwards_port_check CHECK (((port >= 1) AND (port <= 65535)))
);


--
-- Name: presence; Type: TABLE; Schema: public; Owner: -
--

CREATE UNLOGGED TABLE public.presence (
    id text NOT NULL,
    project_id text NOT NULL,
    user_id text NOT NULL,
    name text NOT NULL,
    conv_id text NOT NULL,
    entered_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
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
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    peer_address text DEFAULT ''::text NOT NULL,
    peer_token text DEFAULT ''::text NOT NULL,
    peer_fingerprint text DEFAULT ''::text NOT NULL
);


--
-- Name: project_settings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.project_settings (
    project_id text NOT NULL,
    approvers text DEFAULT 'members'::text NOT NULL,
    confirm_expiry interval DEFAULT '24:00:00'::interval NOT NULL,
    asking_tools text[] DEFAULT '{}'::text[] NOT NULL,
    command_policy text DEFAULT 'changes'::text NOT NULL,
    allowed_commands text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT project_settings_approvers_check CHECK ((approvers = ANY (ARRAY['members'::text, 'admins'::text, 'others'::text]))),
    CONSTRAINT project_settings_command_policy_check CHECK ((command_policy = ANY (ARRAY['always'::text, 'changes'::text, 'allow_list'::text]))),
    CONSTRAINT project_settings_confirm_expiry_check CHECK (((confirm_expiry >= '00:01:00'::interval) AND (confirm_expiry <= '30 days'::interval)))
);


--
-- Name: projects; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.projects (
    id text NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    group_id text,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    deleting_at timestamp with time zone
);


--
-- Name: provisions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.provisions (
    id text NOT NULL,
    project_id text NOT NULL,
    user_id text NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    flavor text NOT NULL,
    instance text NOT NULL,
    key text DEFAULT ''::text NOT NULL,
    hash bytea NOT NULL,
    status text DEFAULT 'queued'::text NOT NULL,
    phase text DEFAULT ''::text NOT NULL,
    place integer DEFAULT 0 NOT NULL,
    attempt integer DEFAULT 1 NOT NULL,
    sealed_token bytea,
    error_code text DEFAULT ''::text NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    cancel_requested_at timestamp with time zone,
    launched_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    note text DEFAULT ''::text NOT NULL,
    CONSTRAINT provisions_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'failed'::text, 'canceled'::text])))
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
-- Name: secret_generations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.secret_generations (
    project_id text NOT NULL,
    generation bigint NOT NULL
);


--
-- Name: secret_offers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.secret_offers (
    turn_id text NOT NULL,
    call_id text NOT NULL,
    project_id text NOT NULL,
    key text NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: secret_versions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.secret_versions (
    project_id text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    key text NOT NULL,
    sealed bytea NOT NULL,
    author text NOT NULL,
    turn_id text DEFAULT ''::text NOT NULL,
    write_key text,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: secrets; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.secrets (
    project_id text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    revealable boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone
);


--
-- Name: sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sessions (
    id text NOT NULL,
    user_id text NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL
);


--
-- Name: sign_in_attempts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sign_in_attempts (
    subject text NOT NULL,
    began_at timestamp with time zone NOT NULL,
    count integer NOT NULL
);


--
-- Name: skill_seeds; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.skill_seeds (
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    digests text[] DEFAULT '{}'::text[] NOT NULL
);


--
-- Name: skill_versions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.skill_versions (
    skill_id text NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    content text NOT NULL,
    author text NOT NULL,
    restored_from integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    seeded boolean DEFAULT false NOT NULL
);


--
-- Name: skills; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.skills (
    id text NOT NULL,
    project_id text,
    name text NOT NULL,
    description text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
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
    ended_at timestamp with time zone,
    project_id text,
    feed_seq bigint DEFAULT 0 NOT NULL,
    afterword_due boolean DEFAULT false NOT NULL,
    afterword_reserved double precision DEFAULT 0 NOT NULL,
    afterword_reserved_on date
);


--
-- Name: users; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.users (
    id text NOT NULL,
    email text,
    name text NOT NULL,
    role text DEFAULT 'regular'::text NOT NULL,
    provider text NOT NULL,
    password text,
    last_project_id text DEFAULT ''::text NOT NULL,
    last_llm_provider_id text DEFAULT ''::text NOT NULL,
    last_llm_model text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    disabled_at timestamp with time zone,
    CONSTRAINT users_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'regular'::text])))
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
-- Data for Name: actions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.actions VALUES
	('01a22ecb-8396-7961-ba1f-a4ce47156109', '01a22ecb-8352-7d40-88b1-75a5afe1e867', 'call-0-0', '01a22ecb-834a-74e7-ac5a-44c16e6327cd', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 'owner', 'save_secret', '{"generate":true,"name":"API_TOKEN"}', 'c5fb8ddab66e83af7e7ced8339ff1710d4b38ce5e9f4424d0d29e4edbd965e68', 'Run save_secret with:
  generate: true
  name: API_TOKEN
This is about:
  secret: API_TOKEN is there, version 1 of 2026-11-30 23:30 UTC; what is saved takes its place
  value: a random one, which nobody sees', 'VSDAIPFOMBNYMDFFGNZGMOPMY6', 'applied', '2026-11-30 23:30:19.160088+00', '2026-12-01 23:30:19.159+00', 'owner', '2026-11-30 23:30:19.178854+00', '', false, false, 'API_TOKEN, version 2', '2026-11-30 23:30:19.190673+00', '2026-11-30 23:30:19.216299+00');


--
-- Data for Name: agent_connections; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: agent_sessions; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: agents; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.agents VALUES
	('01a22ecb-8b6b-7764-b468-2f0c84775690', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 'attic', '', NULL, '', '\x9a2d333999aae5a0d646b49080934380b6437418c1de1dbc4e43bf05734d3da0', 'kept-machine', '0.3.0', '{ack,batch,bytes,cancel,env}', '2026-11-30 23:30:21.171769+00', '2026-11-30 23:30:21.163393+00');


--
-- Data for Name: api_keys; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: artifact_renders; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: artifact_versions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.artifact_versions VALUES
	('01a22ecb-833f-718a-8148-2b0ea693f078', 1, 'Plan', '# Plan', 'owner', '', NULL, 0, '2026-11-30 23:30:19.071392+00'),
	('01a22ecb-833f-718a-8148-2b0ea693f078', 2, 'Plan', '# Plan

Second thoughts.', 'owner', '', NULL, 0, '2026-11-30 23:30:19.073822+00');


--
-- Data for Name: artifacts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.artifacts VALUES
	('01a22ecb-833f-718a-8148-2b0ea693f078', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 'Plan', 'markdown', 2, 'owner', '2026-11-30 23:30:19.071392+00', '2026-11-30 23:30:19.073822+00');


--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit VALUES
	('01a22ecb-7c6d-7ebb-9a92-fe5b15841d9f', '2026-11-30 23:30:17.327725+00', 'owner', 'owner', '', 'POST', '/repositories', '/repositories', '', 'done', 202, '127.0.0.1', '01a22ecb-7c48-7018-bee7-e53031b470b6', ''),
	('01a22ecb-8339-72d9-87ff-2160a9febc82', '2026-11-30 23:30:19.065953+00', 'owner', 'owner', '', 'POST', '/projects/:pid/secrets', '/projects/01a22ecb-832d-7041-a21b-dae9ed8808ca/secrets', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 'done', 201, '127.0.0.1', '01a22ecb-832f-7661-8d02-83d54b130b4f', ''),
	('01a22ecb-833c-7915-aa7b-c8c49e1774fe', '2026-11-30 23:30:19.068608+00', 'owner', 'owner', '', 'POST', '/projects/:pid/secrets', '/projects/01a22ecb-832d-7041-a21b-dae9ed8808ca/secrets', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 'done', 201, '127.0.0.1', '01a22ecb-833a-78d2-91f9-7e178ec573f1', ''),
	('01a22ecb-8b69-761c-9d29-130d3fa905ba', '2026-11-30 23:30:21.161984+00', 'owner', 'owner', '', 'POST', '/projects/:pid/agents/rotate-install-token', '/projects/01a22ecb-832d-7041-a21b-dae9ed8808ca/agents/rotate-install-token', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 'done', 200, '127.0.0.1', '01a22ecb-8b53-7c33-8158-ccbd1ff16ee2', ''),
	('01a22ecb-8b97-7111-896c-c58a9b222d84', '2026-11-30 23:30:21.207197+00', 'owner', 'owner', '', 'POST', '/projects/:pid/agents/:aid/port-forwards', '/projects/01a22ecb-832d-7041-a21b-dae9ed8808ca/agents/01a22ecb-8b6b-7764-b468-2f0c84775690/port-forwards', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 'done', 200, '127.0.0.1', '01a22ecb-8b93-7cf3-ba4e-249771b37eb9', '');


--
-- Data for Name: budgets; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: command_outputs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.command_outputs VALUES
	('01a22ecb-8b75-759f-8e56-0b912a1d6762', '\x756e616d65202d610a', '\x', '\x', '\x');


--
-- Data for Name: commands; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.commands VALUES
	('01a22ecb-8b75-759f-8e56-0b912a1d6762', '01a22ecb-832d-7041-a21b-dae9ed8808ca', '01a22ecb-8b6b-7764-b468-2f0c84775690', 'attic', 'uname -a', '', '{}', '00:01:00', 'owner', '', '', 'done', 0, '', 0, '2026-11-30 23:30:21.174424+00', '876000:00:00', '2126-11-06 23:30:21.174424+00', NULL, '2026-11-30 23:30:21.199004+00', '01a22ecb-8b73-7c0c-a911-980b06919b72', 'kept-machine', true, '2026-11-30 23:30:21.175846+00', '2026-11-30 23:30:21.181846+00', '2026-11-30 23:41:21.175846+00', NULL, '2026-11-30 23:30:21.191652+00', 0, 0, 9, 0, NULL, 9, 0, ''),
	('01a22ecb-8b90-7942-9dd7-ad960207455f', '01a22ecb-832d-7041-a21b-dae9ed8808ca', '01a22ecb-8b6b-7764-b468-2f0c84775690', 'attic', 'touch /srv/kept', '', '{}', '00:01:00', 'owner', '', '', 'queued', NULL, '', 0, '2026-11-30 23:30:21.201038+00', '876000:00:00', '2126-11-06 23:30:21.201038+00', NULL, NULL, '', '', false, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, 0, '');


--
-- Data for Name: conversations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.conversations VALUES
	('thread', 'owner', 'Where is Greet?', 'reply-01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', NULL, '2026-11-30 23:30:17.491493+00', '2026-11-30 23:30:18.984672+00', NULL, false, '[]'),
	('01a22ecb-834a-74e7-ac5a-44c16e6327cd', 'owner', 'Make a new token', 'reply-01a22ecb-8352-7d40-88b1-75a5afe1e867', NULL, '2026-11-30 23:30:19.082337+00', '2026-11-30 23:30:21.137727+00', '01a22ecb-832d-7041-a21b-dae9ed8808ca', false, '[]');


--
-- Data for Name: devices; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: document_texts; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: edges; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.edges VALUES
	(5638753034943203950, 5490221378247507852, 1, 1, 1, 6, 1, 1);


--
-- Data for Name: endings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.endings VALUES
	('01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 4, 'ingest_done', '{"ingest_id":"01a22ecb-7c4d-78d8-a94a-c87d39a6e503","kind":"read","repository":"sample","versions":1}', '2026-11-30 23:30:17.484053+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 12, 'done', '{"turn_id":"01a22ecb-7d13-7781-a286-050130c7f93a","conversation_id":"thread","answer":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].","sources":[{"repo":"sample","version":"main","file":"greet.go","line":4,"symbol":"Greet","verified":true,"commit":"050f3082ed021a6d4bf89ee8ea429096ffcf0ffd"},{"repo":"sample","version":"main","file":"greet.go","line":400,"verified":false,"commit":"050f3082ed021a6d4bf89ee8ea429096ffcf0ffd"}],"tool_calls_made":2,"provider_used":{"provider_id":"scripted-0","kind":"scripted","model":"scripted"},"reason":"answered","usage":{"input_tokens":420,"output_tokens":27,"cost":0}}', '2026-11-30 23:30:17.5848+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 11, 'done', '{"turn_id":"01a22ecb-7d7a-73c9-a54d-e8a84ae784c0","conversation_id":"thread","answer":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].","sources":[{"repo":"sample","version":"main","file":"greet.go","line":4,"symbol":"Greet","verified":true,"commit":"050f3082ed021a6d4bf89ee8ea429096ffcf0ffd"},{"repo":"sample","version":"main","file":"greet.go","line":400,"verified":false,"commit":"050f3082ed021a6d4bf89ee8ea429096ffcf0ffd"}],"tool_calls_made":2,"provider_used":{"provider_id":"scripted-0","kind":"scripted","model":"scripted"},"reason":"answered","usage":{"input_tokens":540,"output_tokens":34,"cost":0}}', '2026-11-30 23:30:17.685095+00'),
	('01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', 3, 'error', '{"turn_id":"01a22ecb-7ddc-7cae-99c0-9f7956f8dc32","conversation_id":"thread","answer":"","sources":[],"tool_calls_made":0,"provider_used":null,"reason":"failed","usage":{"input_tokens":0,"output_tokens":0,"cost":0},"message":"no such key","code":"upstream"}', '2026-11-30 23:30:17.753568+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 11, 'done', '{"turn_id":"01a22ecb-7e22-77c4-9cef-6d95d309d18f","answer":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].","sources":[{"repo":"sample","version":"main","file":"greet.go","line":4,"symbol":"Greet","verified":true,"commit":"050f3082ed021a6d4bf89ee8ea429096ffcf0ffd"},{"repo":"sample","version":"main","file":"greet.go","line":400,"verified":false,"commit":"050f3082ed021a6d4bf89ee8ea429096ffcf0ffd"}],"tool_calls_made":2,"provider_used":{"provider_id":"scripted-0","kind":"scripted","model":"scripted"},"reason":"answered","usage":{"input_tokens":420,"output_tokens":27,"cost":0}}', '2026-11-30 23:30:17.849516+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 12, 'done', '{"turn_id":"01a22ecb-8352-7d40-88b1-75a5afe1e867","conversation_id":"01a22ecb-834a-74e7-ac5a-44c16e6327cd","answer":"There is a new token.\n\n*No evidence: this answer cites no source in the code that was read.*","sources":[],"tool_calls_made":1,"provider_used":{"provider_id":"scripted-0","kind":"scripted","model":"scripted"},"reason":"answered","usage":{"input_tokens":1790,"output_tokens":26,"cost":0}}', '2026-11-30 23:30:19.26293+00'),
	('01a22ecb-8b75-759f-8e56-0b912a1d6762', 3, 'command_done', '{"error":"","exit_code":0,"status":"done","stderr_bytes":0,"stdout_bytes":9}', '2026-11-30 23:30:21.191652+00');


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
	('01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 1, 'ingest/01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 1, '', 1, 'ingest_progress', '{"repository":"sample","phase":"fetch","files_done":0,"files_total":0,"bytes_done":0,"bytes_total":0,"skipped":{"oversized":0,"binary":0,"generated":0},"reused":0}', true, '2026-11-30 23:30:17.349021+00'),
	('01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 2, 'ingest/01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 2, '', 1, 'ingest_progress', '{"repository":"sample","version":"main","phase":"list","files_done":0,"files_total":0,"bytes_done":0,"bytes_total":0,"skipped":{"oversized":0,"binary":0,"generated":0},"reused":0}', true, '2026-11-30 23:30:17.418131+00'),
	('01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 3, 'ingest/01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 3, '', 1, 'ingest_progress', '{"repository":"sample","version":"main","phase":"done","files_done":2,"files_total":2,"bytes_done":157,"bytes_total":157,"symbols":2,"edges":1,"skipped":{"oversized":0,"binary":0,"generated":0},"reused":0}', true, '2026-11-30 23:30:17.458245+00'),
	('01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 4, 'ingest/01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 4, '', 0, 'ingest_done', NULL, true, '2026-11-30 23:30:17.484053+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 1, 'user/owner', 1, '', 0, 'user_message', '{"attachments":[],"conv_id":"thread","query":"Where is Greet?","turn_id":"01a22ecb-7d13-7781-a286-050130c7f93a","username":"owner"}', true, '2026-11-30 23:30:17.491493+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 2, 'user/owner', 2, '', 0, 'intent', '{"mode":"research"}', true, '2026-11-30 23:30:17.513839+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 3, 'user/owner', 3, '', 0, 'title_updated', '{"conv_id":"thread","title":"Where is Greet?"}', true, '2026-11-30 23:30:17.513839+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 4, 'user/owner', 4, 'm0', 1, 'thinking_delta', '{"text":"Let me see."}', true, '2026-11-30 23:30:17.524595+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 5, 'user/owner', 5, 'm0', 1, 'text_delta', '{"text":"I look."}', true, '2026-11-30 23:30:17.528264+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 6, 'user/owner', 6, 'm0', 1, 'phase', '{"label":"Searching codebase"}', true, '2026-11-30 23:30:17.528264+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 7, 'user/owner', 7, 'm0', 1, 'tool_call', '{"description":"Searching for symbols matching \"Greet\"","id":"call-0-0","input":{"query":"Greet"},"name":"search_symbols"}', true, '2026-11-30 23:30:17.528264+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 8, 'user/owner', 8, 'm0', 1, 'tool_call', '{"description":"Finding who calls","id":"call-0-1","input":{"name":"Greet"},"name":"find_callers"}', true, '2026-11-30 23:30:17.528264+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 9, 'user/owner', 9, 'call-0-1', 1, 'tool_result', '{"error":false,"id":"call-0-1","name":"find_callers","preview":"1 caller","truncated":false}', true, '2026-11-30 23:30:17.553482+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 10, 'user/owner', 10, 'call-0-0', 1, 'tool_result', '{"error":false,"id":"call-0-0","name":"search_symbols","preview":"1 symbol","truncated":false}', true, '2026-11-30 23:30:17.557945+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 11, 'user/owner', 11, 'm1', 1, 'text_delta', '{"text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}', true, '2026-11-30 23:30:17.568778+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 12, 'user/owner', 12, '', 0, 'done', NULL, true, '2026-11-30 23:30:17.5848+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 1, 'user/owner', 13, '', 0, 'user_message', '{"attachments":[],"conv_id":"thread","query":"And who calls it?","turn_id":"01a22ecb-7d7a-73c9-a54d-e8a84ae784c0","username":"owner"}', true, '2026-11-30 23:30:17.594432+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 2, 'user/owner', 14, 'classify', 1, 'intent', '{"mode":"research"}', true, '2026-11-30 23:30:17.612785+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 3, 'user/owner', 15, 'm0', 1, 'thinking_delta', '{"text":"Let me see."}', true, '2026-11-30 23:30:17.644742+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 4, 'user/owner', 16, 'm0', 1, 'text_delta', '{"text":"I look."}', true, '2026-11-30 23:30:17.646394+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 5, 'user/owner', 17, 'm0', 1, 'phase', '{"label":"Searching codebase"}', true, '2026-11-30 23:30:17.646394+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 6, 'user/owner', 18, 'm0', 1, 'tool_call', '{"description":"Searching for symbols matching \"Greet\"","id":"call-0-0","input":{"query":"Greet"},"name":"search_symbols"}', true, '2026-11-30 23:30:17.646394+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 7, 'user/owner', 19, 'm0', 1, 'tool_call', '{"description":"Finding who calls","id":"call-0-1","input":{"name":"Greet"},"name":"find_callers"}', true, '2026-11-30 23:30:17.646394+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 8, 'user/owner', 20, 'call-0-0', 1, 'tool_result', '{"error":false,"id":"call-0-0","name":"search_symbols","preview":"1 symbol","truncated":false}', true, '2026-11-30 23:30:17.661918+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 9, 'user/owner', 21, 'call-0-1', 1, 'tool_result', '{"error":false,"id":"call-0-1","name":"find_callers","preview":"1 caller","truncated":false}', true, '2026-11-30 23:30:17.667057+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 10, 'user/owner', 22, 'm1', 1, 'text_delta', '{"text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}', true, '2026-11-30 23:30:17.674329+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 11, 'user/owner', 23, '', 0, 'done', NULL, true, '2026-11-30 23:30:17.685095+00'),
	('01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', 1, 'user/owner', 24, '', 0, 'user_message', '{"attachments":[],"conv_id":"thread","query":"What fails?","turn_id":"01a22ecb-7ddc-7cae-99c0-9f7956f8dc32","username":"owner"}', true, '2026-11-30 23:30:17.692938+00'),
	('01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', 2, 'user/owner', 25, 'classify', 1, 'intent', '{"mode":"research"}', true, '2026-11-30 23:30:17.709635+00'),
	('01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', 3, 'user/owner', 26, '', 0, 'error', NULL, true, '2026-11-30 23:30:17.753568+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 1, 'user/owner', 27, '', 0, 'user_message', '{"attachments":[{"name":"notes.txt","mime_type":"text/plain","size":112000}],"query":"What do the notes say?","turn_id":"01a22ecb-7e22-77c4-9cef-6d95d309d18f","username":"owner"}', true, '2026-11-30 23:30:17.762623+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 2, 'user/owner', 28, '', 0, 'intent', '{"mode":"research"}', true, '2026-11-30 23:30:17.782613+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 3, 'user/owner', 29, 'm0', 1, 'thinking_delta', '{"text":"Let me see."}', true, '2026-11-30 23:30:17.797161+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 4, 'user/owner', 30, 'm0', 1, 'text_delta', '{"text":"I look."}', true, '2026-11-30 23:30:17.803665+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 5, 'user/owner', 31, 'm0', 1, 'phase', '{"label":"Searching codebase"}', true, '2026-11-30 23:30:17.803665+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 6, 'user/owner', 32, 'm0', 1, 'tool_call', '{"description":"Searching for symbols matching \"Greet\"","id":"call-0-0","input":{"query":"Greet"},"name":"search_symbols"}', true, '2026-11-30 23:30:17.803665+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 7, 'user/owner', 33, 'm0', 1, 'tool_call', '{"description":"Finding who calls","id":"call-0-1","input":{"name":"Greet"},"name":"find_callers"}', true, '2026-11-30 23:30:17.803665+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 8, 'user/owner', 34, 'call-0-1', 1, 'tool_result', '{"error":false,"id":"call-0-1","name":"find_callers","preview":"1 caller","truncated":false}', true, '2026-11-30 23:30:17.816563+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 3, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 5, 'classify', 1, 'intent', '{"mode":"research"}', true, '2026-11-30 23:30:19.129607+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 9, 'user/owner', 35, 'call-0-0', 1, 'tool_result', '{"error":false,"id":"call-0-0","name":"search_symbols","preview":"1 symbol","truncated":false}', true, '2026-11-30 23:30:17.819949+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 10, 'user/owner', 36, 'm1', 1, 'text_delta', '{"text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}', true, '2026-11-30 23:30:17.828835+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 11, 'user/owner', 37, '', 0, 'done', NULL, true, '2026-11-30 23:30:17.849516+00'),
	('project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 1, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 1, '', 0, 'conversation_created', '{"conv_id":"01a22ecb-834a-74e7-ac5a-44c16e6327cd","conversation":{"id":"01a22ecb-834a-74e7-ac5a-44c16e6327cd","title":"","created_by":"owner","created_by_name":"owner","message_count":0,"created_at":"2026-11-30T23:30:19.082337Z","updated_at":"2026-11-30T23:30:19.082337Z"}}', true, '2026-11-30 23:30:19.082337+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 11, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 13, '', 0, 'text_delta', '{"text":"\n\n*No evidence: this answer cites no source in the code that was read.*"}', true, '2026-11-30 23:30:19.26293+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 12, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 14, '', 0, 'done', NULL, true, '2026-11-30 23:30:19.26293+00'),
	('project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 3, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 15, '', 0, 'unlock', '{"conv_id":"01a22ecb-834a-74e7-ac5a-44c16e6327cd","turn_id":"01a22ecb-8352-7d40-88b1-75a5afe1e867","turn_seq":12}', true, '2026-11-30 23:30:19.26293+00'),
	('project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 4, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 16, '', 0, 'conversation_updated', '{"conv_id":"01a22ecb-834a-74e7-ac5a-44c16e6327cd","updated_at":"2026-11-30T23:30:19.26293Z"}', true, '2026-11-30 23:30:19.26293+00'),
	('project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 2, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 2, '', 0, 'lock', '{"by":"owner","conv_id":"01a22ecb-834a-74e7-ac5a-44c16e6327cd","turn_id":"01a22ecb-8352-7d40-88b1-75a5afe1e867","user_id":"owner"}', true, '2026-11-30 23:30:19.09098+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 1, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 3, '', 0, 'user_message', '{"attachments":[],"conv_id":"01a22ecb-834a-74e7-ac5a-44c16e6327cd","query":"Make a new token","turn_id":"01a22ecb-8352-7d40-88b1-75a5afe1e867","username":"owner"}', true, '2026-11-30 23:30:19.09098+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 2, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 4, '', 0, 'title_updated', '{"conv_id":"01a22ecb-834a-74e7-ac5a-44c16e6327cd","title":"Make a new token"}', true, '2026-11-30 23:30:19.11341+00');
INSERT INTO public.events_y2026m11 VALUES
	('01a22ecb-8b75-759f-8e56-0b912a1d6762', 1, 'command/01a22ecb-8b75-759f-8e56-0b912a1d6762', 1, '', 0, 'command_started', '{"command":"uname -a","hostname":"attic"}', true, '2026-11-30 23:30:21.181846+00'),
	('01a22ecb-8b75-759f-8e56-0b912a1d6762', 2, 'command/01a22ecb-8b75-759f-8e56-0b912a1d6762', 2, '', 0, 'command_output', '{"offset":0,"stream":"stdout","text":"uname -a\n"}', true, '2026-11-30 23:30:21.191652+00'),
	('01a22ecb-8b75-759f-8e56-0b912a1d6762', 3, 'command/01a22ecb-8b75-759f-8e56-0b912a1d6762', 3, '', 0, 'command_done', NULL, true, '2026-11-30 23:30:21.191652+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 4, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 6, 'm0', 1, 'phase', '{"label":"Writing it down"}', true, '2026-11-30 23:30:19.160088+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 5, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 7, 'm0', 1, 'confirm_action', '{"call_id":"call-0-0","description":"Run save_secret with:\n  generate: true\n  name: API_TOKEN\nThis is about:\n  secret: API_TOKEN is there, version 1 of 2026-11-30 23:30 UTC; what is saved takes its place\n  value: a random one, which nobody sees","expires_at":"2026-12-01T23:30:19.159Z","hash":"c5fb8ddab66e83af7e7ced8339ff1710d4b38ce5e9f4424d0d29e4edbd965e68","id":"01a22ecb-8396-7961-ba1f-a4ce47156109","input":{"generate":true,"name":"API_TOKEN"},"name":"save_secret","needs_value":false,"nonce":"VSDAIPFOMBNYMDFFGNZGMOPMY6"}', true, '2026-11-30 23:30:19.160088+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 6, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 8, 'm0', 1, 'unlock', '{"conv_id":"01a22ecb-834a-74e7-ac5a-44c16e6327cd"}', true, '2026-11-30 23:30:19.160088+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 7, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 9, 'call-0-0', 0, 'action_decided', '{"call_id":"call-0-0","decided_by":"owner","id":"01a22ecb-8396-7961-ba1f-a4ce47156109","name":"owner","reason":"","status":"approved"}', true, '2026-11-30 23:30:19.178854+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 8, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 10, '', 0, 'lock', '{"by":"owner","conv_id":"01a22ecb-834a-74e7-ac5a-44c16e6327cd","turn_id":"01a22ecb-8352-7d40-88b1-75a5afe1e867","user_id":"owner"}', true, '2026-11-30 23:30:19.178854+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 9, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 11, 'call-0-0', 1, 'tool_result', '{"action_id":"01a22ecb-8396-7961-ba1f-a4ce47156109","error":false,"id":"call-0-0","name":"save_secret","preview":"API_TOKEN, version 2","status":"applied","truncated":false}', true, '2026-11-30 23:30:19.216299+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 10, 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 12, 'm1', 1, 'text_delta', '{"text":"There is a new token."}', true, '2026-11-30 23:30:19.249842+00');


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
-- Data for Name: forward_visits; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: graph_loads; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: graph_owner; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: graph_sweeps; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.graph_sweeps VALUES
	(1, '2026-11-30 23:30:14.496036+00');


--
-- Data for Name: groups; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.groups VALUES
	('everyone', 'Everyone', 'All who sign up.', true, '2026-11-30 23:30:14.496036+00');


--
-- Data for Name: idempotency; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency VALUES
	('owner', '01a22ecb-7d13-73e0-9341-55dd5e60a22c', '\x66d0ff700d93710df35d041377a0eb76b8683ac49d8f1d90eb2dea080660d1f1', '01a22ecb-7d13-7781-a286-050130c7f93a', '2026-11-30 23:30:17.491493+00'),
	('owner', '01a22ecb-7d7a-71f8-9f63-21020e6231ae', '\x3b3d99250c7ffadcd75f1cc746e5b529d9c0c4fd48053bca870046d5932dc81c', '01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', '2026-11-30 23:30:17.594432+00'),
	('owner', '01a22ecb-7ddc-76be-b748-028a2829641b', '\x5bbed650db3eb6411baf7338a32711e58622f409d5ad62622d55bf3621a242b3', '01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', '2026-11-30 23:30:17.692938+00'),
	('owner', '01a22ecb-7e1d-756c-9197-6eada8c5e37d', '\x025df6d0181a80f4bd92244fbb9637fb479d1ab5467fabccbe37a0667f7ed205', '01a22ecb-7e22-77c4-9cef-6d95d309d18f', '2026-11-30 23:30:17.762623+00');


--
-- Data for Name: identities; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: ingest_versions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.ingest_versions VALUES
	('01a22ecb-7c4d-78d8-a94a-c87d39a6e503', '', 0, '', NULL, 1, 'running', '{"repository":"sample","phase":"fetch","files_done":0,"files_total":0,"bytes_done":0,"bytes_total":0,"skipped":{"oversized":0,"binary":0,"generated":0},"reused":0}'),
	('01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 'main', 1, '050f3082ed021a6d4bf89ee8ea429096ffcf0ffd', '2026-11-30 23:30:17+00', 1, 'done', '{"repository":"sample","version":"main","phase":"done","files_done":2,"files_total":2,"bytes_done":157,"bytes_total":157,"symbols":2,"edges":1,"skipped":{"oversized":0,"binary":0,"generated":0},"reused":0}');


--
-- Data for Name: ingests; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.ingests VALUES
	('01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 'owner', 'sample', 'read', false, 'ingest/01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 'done', '', '', NULL, '2026-11-30 23:30:17.316598+00', '2026-11-30 23:30:17.293599+00', '2026-11-30 23:30:17.316598+00', '2026-11-30 23:30:17.484053+00');


--
-- Data for Name: install_tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.install_tokens VALUES
	('01a22ecb-8b66-74b5-8d48-5eb47be9d8c6', '01a22ecb-832d-7041-a21b-dae9ed8808ca', '\x2f584beeff859df8981d1abb0018d6cbbf75a60c529c1357f43e95a147ac18bb', 'owner', '2026-11-30 23:30:21.160333+00', '2026-12-01 23:30:21+00', NULL, '', '');


--
-- Data for Name: large_values; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.large_values VALUES
	('user/owner', '\x895e32afa39b4c6df72ccb220311f040602ecfe62defa60588042c93572ad842', 112000, '\x096b6630383638643335b38584d9e20df0938ce2f83bfc6327f97926afdab368104319ba20bc9de9d2d705e9461cde732e0cffdc4b90fd22c2b9635d590e4d9eb25ed890a2f16710a4e2565cc2c5142ea5b79c07205b4a7f97c91cca3f818866e88a3b55aa1648baeb', '2026-11-30 23:30:17.762623+00', NULL);


--
-- Data for Name: lxd_identity; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: lxd_servers; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: memberships; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.memberships VALUES
	('everyone', '01a22ecb-8329-7831-ae1a-0addba2232c7', '2026-11-30 23:30:19.049568+00');


--
-- Data for Name: memories; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.memories VALUES
	('01a22ecb-8343-72f2-9cc7-6e9282a4c681', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 'Where it runs', 'In the cellar.', 'owner', '', NULL, '2026-11-30 23:30:19.075206+00', '2026-11-30 23:30:19.075206+00', DEFAULT, 1);


--
-- Data for Name: messages; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.messages VALUES
	('01a22ecb-7d13-7784-bb33-307cd53987db', 'thread', NULL, '01a22ecb-7d13-7781-a286-050130c7f93a', 'user', '[{"type":"text","text":"Where is Greet?"}]', 15, NULL, '2026-11-30 23:30:17.491493+00', 1, 'Where is Greet?', DEFAULT),
	('reply-01a22ecb-7d13-7781-a286-050130c7f93a', 'thread', '01a22ecb-7d13-7784-bb33-307cd53987db', '01a22ecb-7d13-7781-a286-050130c7f93a', 'assistant', '[{"type":"text","text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}]', 70, NULL, '2026-11-30 23:30:17.5848+00', 2, 'Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].', DEFAULT),
	('01a22ecb-7d7a-73ca-a11f-c90ef4c64fed', 'thread', 'reply-01a22ecb-7d13-7781-a286-050130c7f93a', '01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 'user', '[{"type":"text","text":"And who calls it?"}]', 17, NULL, '2026-11-30 23:30:17.594432+00', 3, 'And who calls it?', DEFAULT),
	('reply-01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 'thread', '01a22ecb-7d7a-73ca-a11f-c90ef4c64fed', '01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 'assistant', '[{"type":"text","text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}]', 70, NULL, '2026-11-30 23:30:17.685095+00', 4, 'Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].', DEFAULT),
	('01a22ecb-7ddc-7cb0-b1cf-ec85780c8471', 'thread', 'reply-01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', '01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', 'user', '[{"type":"text","text":"What fails?"}]', 11, NULL, '2026-11-30 23:30:17.692938+00', 5, 'What fails?', DEFAULT),
	('reply-01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', 'thread', '01a22ecb-7ddc-7cb0-b1cf-ec85780c8471', '01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', 'assistant', '[{"type":"text","text":"[This answer failed: no such key]"}]', 33, NULL, '2026-11-30 23:30:17.753568+00', 6, '[This answer failed: no such key]', DEFAULT),
	('01a22ecb-7e22-77c5-b194-39008371c551', NULL, NULL, '01a22ecb-7e22-77c4-9cef-6d95d309d18f', 'user', '[{"type":"text","text":"What do the notes say?"},{"type":"media","mime_type":"text/plain","name":"notes.txt","ref":{"sha256":"iV4yr6ObTG33LMsiAxHwQGAuz+Yt76YFiAQsk1cq2EI=","size":112000}}]', 22, NULL, '2026-11-30 23:30:17.762623+00', 1, 'What do the notes say?', DEFAULT),
	('reply-01a22ecb-7e22-77c4-9cef-6d95d309d18f', NULL, '01a22ecb-7e22-77c5-b194-39008371c551', '01a22ecb-7e22-77c4-9cef-6d95d309d18f', 'assistant', '[{"type":"text","text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}]', 70, NULL, '2026-11-30 23:30:17.849516+00', 2, 'Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].', DEFAULT),
	('01a22ecb-8352-7d42-a270-966f66d266df', '01a22ecb-834a-74e7-ac5a-44c16e6327cd', NULL, '01a22ecb-8352-7d40-88b1-75a5afe1e867', 'user', '[{"type":"text","text":"Make a new token"}]', 16, NULL, '2026-11-30 23:30:19.09098+00', 1, 'Make a new token', DEFAULT),
	('reply-01a22ecb-8352-7d40-88b1-75a5afe1e867', '01a22ecb-834a-74e7-ac5a-44c16e6327cd', '01a22ecb-8352-7d42-a270-966f66d266df', '01a22ecb-8352-7d40-88b1-75a5afe1e867', 'assistant', '[{"type":"text","text":"There is a new token.\n\n*No evidence: this answer cites no source in the code that was read.*"}]', 92, NULL, '2026-11-30 23:30:19.26293+00', 2, 'There is a new token.

*No evidence: this answer cites no source in the code that was read.*', DEFAULT);


--
-- Data for Name: performed; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.performed VALUES
	('owner', '01a22ecb-832d-7041-a21b-dae9ed8808ca', '1aadd99089da8fcefa2776a9d5df0b5d62e856901bed52abd83c37caeac9173d', '2026-11-30 23:30:19.064804+00', '01a22ecb-8338-777c-bec2-fc457f74ada6'),
	('owner', '01a22ecb-832d-7041-a21b-dae9ed8808ca', '0a4b517615f14e9776c330ea4f56b39f94adf00adc0b7275a0b0903b570fd2e3', '2026-11-30 23:30:19.064804+00', '01a22ecb-8338-777c-bec2-fc457f74ada6'),
	('owner', '01a22ecb-832d-7041-a21b-dae9ed8808ca', '1aadd99089da8fcefa2776a9d5df0b5d62e856901bed52abd83c37caeac9173d', '2026-11-30 23:30:19.064804+00', '01a22ecb-8338-777c-bec2-fc457f74ada6'),
	('owner', '01a22ecb-832d-7041-a21b-dae9ed8808ca', '0a4b517615f14e9776c330ea4f56b39f94adf00adc0b7275a0b0903b570fd2e3', '2026-11-30 23:30:19.064804+00', '01a22ecb-8338-777c-bec2-fc457f74ada6'),
	('owner', '01a22ecb-832d-7041-a21b-dae9ed8808ca', '3aebc1f1a62a2b918a501e232c35ac7e15da20c4aa8874fafcc80ef5a42e995a', '2026-11-30 23:30:19.068395+00', '01a22ecb-833c-758d-81af-d4500e2b3009'),
	('owner', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 'c5fb8ddab66e83af7e7ced8339ff1710d4b38ce5e9f4424d0d29e4edbd965e68', '2026-11-30 23:30:19.068395+00', '01a22ecb-833c-758d-81af-d4500e2b3009'),
	('owner', '01a22ecb-832d-7041-a21b-dae9ed8808ca', '3aebc1f1a62a2b918a501e232c35ac7e15da20c4aa8874fafcc80ef5a42e995a', '2026-11-30 23:30:19.068395+00', '01a22ecb-833c-758d-81af-d4500e2b3009'),
	('owner', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 'c5fb8ddab66e83af7e7ced8339ff1710d4b38ce5e9f4424d0d29e4edbd965e68', '2026-11-30 23:30:19.068395+00', '01a22ecb-833c-758d-81af-d4500e2b3009'),
	('owner', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 'd7f91bfac69f9318a69a176e626a074864a9d8d3db85bb2e603937c5af546abb', '2026-11-30 23:30:21.206559+00', '01a22ecb-8b96-703f-9b9c-99f6f49cee97');


--
-- Data for Name: port_forwards; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.port_forwards VALUES
	('01a22ecb-8b94-7508-a884-c679405264a8', '01a22ecb-8b6b-7764-b468-2f0c84775690', 8080, 'web', 'owner', '2026-11-30 23:30:21.204744+00', '2026-11-30 23:30:21.204744+00');


--
-- Data for Name: presence; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: processes; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.processes VALUES
	('01a22ecb-7ae6-7d4f-ba06-8f7b970a848b', 'up', 'vm', 16073, 'kf0868d35', '{"kf0868d35":"d14e93a71bfb45ee"}', '2026-11-30 23:30:16.935358+00', '2026-11-30 23:30:16.935358+00', '127.0.0.1:34763', '3Q4MZEZYF7X457GTR3LKRCENKL', '7bd001811b4293d1f199dae12932a7fb3fcde1b26b30e10f0814883950efc28b');


--
-- Data for Name: project_settings; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: projects; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.projects VALUES
	('01a22ecb-832d-7041-a21b-dae9ed8808ca', 'edge', '', 'everyone', 'owner', '2026-11-30 23:30:19.053213+00', '2026-11-30 23:30:19.053213+00', NULL);


--
-- Data for Name: provisions; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: repositories; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.repositories OVERRIDING SYSTEM VALUE VALUES
	(1, 'sample', '/srv/code/sample', '{}', false, false, 0, '2026-11-30 23:30:17.302754+00');


--
-- Data for Name: repository_credentials; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.repository_credentials VALUES
	(1, '\x096b6630383638643335d2efe334d0bac977262a5769906adcc4782c3fc684480555458996bcc64f2ce57248ecc7b39a3e9223a155688bc48cd8cc5aa0ed', '2026-11-30 23:30:19.046562+00');


--
-- Data for Name: repository_refs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.repository_refs VALUES
	(1, 'main', '050f3082ed021a6d4bf89ee8ea429096ffcf0ffd', '2026-11-30 23:30:17.357217+00');


--
-- Data for Name: resolutions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.resolutions OVERRIDING SYSTEM VALUE VALUES
	(1, '\x1a85f3b37293f18baa06c2ff5a0ba020707aba17a55f4f675a26e34a440abd24', 1, '2026-11-30 23:30:17.440038+00'),
	(2, '\x1a85f3b3104122fa62182d0d84edcd98df6d909364c9eca241f23de810eaba68', 2, '2026-11-30 23:30:17.444827+00');


--
-- Data for Name: schema_version; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schema_version VALUES
	(342);


--
-- Data for Name: secret_generations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.secret_generations VALUES
	('01a22ecb-832d-7041-a21b-dae9ed8808ca', 3);


--
-- Data for Name: secret_offers; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: secret_versions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.secret_versions VALUES
	('01a22ecb-832d-7041-a21b-dae9ed8808ca', 'KEPT', 1, 'kf0868d35', '\x1b39022c9c127e50496b85f54d3867fae60219e60409f4368b69cd14dbb786cec5c7298619c636965cd559581384227bb5d3ea035816af62ab1e259c', 'owner', '', NULL, '2026-11-30 23:30:19.056751+00'),
	('01a22ecb-832d-7041-a21b-dae9ed8808ca', 'API_TOKEN', 1, 'kf0868d35', '\x1083c37495c09720e4a489e0b23bd779aa03e808793bef6fedc7cc49430dca65df99140ce95d180d9cc5f71b77d541857d2cb5d16e2447f8c37f08f3', 'owner', '', NULL, '2026-11-30 23:30:19.066931+00'),
	('01a22ecb-832d-7041-a21b-dae9ed8808ca', 'API_TOKEN', 2, 'kf0868d35', '\x7cea9242faefccda221cd6fb28c705b5d66d734d2f2f6bf2acc6dd19f39e66a7c4555180c5c998c330109acec342d04a1419154712d03ea74232446807451d04d8de7b1e9c1774f7', 'owner', '01a22ecb-8352-7d40-88b1-75a5afe1e867', '01a22ecb-8352-7d40-88b1-75a5afe1e867/call-0-0', '2026-11-30 23:30:19.207693+00');


--
-- Data for Name: secrets; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.secrets VALUES
	('01a22ecb-832d-7041-a21b-dae9ed8808ca', 'KEPT', 1, false, '2026-11-30 23:30:19.056751+00', NULL),
	('01a22ecb-832d-7041-a21b-dae9ed8808ca', 'API_TOKEN', 2, false, '2026-11-30 23:30:19.066931+00', NULL);


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: sign_in_attempts; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: skill_seeds; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.skill_seeds VALUES
	('canonical-k8s', '2026-11-30 23:30:16.915454+00', '{e85e33f3b187b51e3e6423dcd66d0ab680d4f0485435bee8ea3b41a7cbdcb772}'),
	('ceph', '2026-11-30 23:30:16.915454+00', '{5705607baed3251ae1573805de98feb4d1a9b59db82c5a4f5aae1f8c0c657933}'),
	('juju', '2026-11-30 23:30:16.915454+00', '{2ef7e34fe07addb9101b17f0066e273489fca3519773b2b4920d91667911ff9e}'),
	('landscape', '2026-11-30 23:30:16.915454+00', '{7eb302d70e1a2f273936d7126f96287d5e5ac6e7461f0435442a3a8691713e36}'),
	('lxd', '2026-11-30 23:30:16.915454+00', '{cb763465a3047f78efade07214c2a1045b4ff943edfdabb0c8c28d293f2b2b30}'),
	('openstack', '2026-11-30 23:30:16.915454+00', '{178b99347cbf98a567af905871cd8c6ff6e28680b0dcc3b1391ddf3485948345}');


--
-- Data for Name: skill_versions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.skill_versions VALUES
	('01a22ecb-7ace-74c8-b144-dd8869376bc3', 1, 'canonical-k8s', '---
name: canonical-k8s
description: Install, join, upgrade, back up and repair Canonical Kubernetes clusters (the k8s snap and its charms), and find out why workloads on them do not run.
---

# Canonical Kubernetes

## When to use

- The cluster runs the `k8s` snap (`snap list k8s`, `sudo k8s status` answers) or the charms `k8s` and `k8s-worker`.
- A node must be added, drained, removed or upgraded; a built-in feature (network, dns, ingress, load balancer, storage) must be set.
- Pods do not start, services do not answer, a node is NotReady, or the datastore has lost its quorum.

Not for MicroK8s (`microk8s status`), Charmed Kubernetes (`juju status kubernetes-control-plane`) or a cluster that a cloud manages: there the
checks of workloads below hold, the commands of the cluster do not. And not for objects that GitOps or Helm own: change their source.

Where charms deployed it, Juju owns nodes and versions: use `juju add-unit`, `juju refresh` and the charm''s actions instead of
`k8s join-cluster` and `snap refresh`. Where Cluster API did, its objects own them.

Commands are for 1.32 and later. Clusters have the datastore `etcd`, those made before 1.34 and before late patches of 1.32 and 1.33 `k8s-dqlite`;
`sudo k8s status` says which. 1.36 no longer has k8s-dqlite, and there is no way to migrate from it: check before that upgrade.

## First look, changes nothing

1. `kubectl config current-context` — which cluster the next commands act on; on a node `sudo k8s kubectl …` uses its own.
2. `sudo k8s status` — good: `cluster status: ready`, every control-plane node a `voter` (with more than three also `stand-by` or `spare`), `high availability: yes`
   with three of them; then datastore and each feature with its state.
3. `kubectl get nodes -o wide` — Ready, version, addresses, runtime.
4. `kubectl get pods -A --field-selector=status.phase!=Running,status.phase!=Succeeded` — what is not at rest; Running pods may
   still not be ready: `kubectl get pods -A | awk ''{split($3,r,"/"); if (NR>1 && r[1]!=r[2] && $4!="Completed") print}''`.
5. `kubectl get events -A --sort-by=.lastTimestamp | tail -40` — what the cluster has just said.
6. `kubectl top nodes` (metrics-server is on by default) — pressure; `kubectl describe node NODE` under "Conditions" and "Allocated resources".
7. `sudo k8s get` — the configuration of the features; `sudo k8s get load-balancer` of one.
8. `snap services k8s` — the services of a node: `k8sd`, `kubelet`, `containerd` on all; `kube-apiserver`, `kube-controller-manager`, `kube-scheduler`
   and `etcd` (or `k8s-dqlite`) on the control plane; `k8s-apiserver-proxy` on workers. `sudo journalctl -u snap.k8s.kubelet -n 100` is the log of one;
   its arguments are in `/var/snap/k8s/common/args/kubelet`.
9. `sudo k8s inspect` — one archive with all of that for somebody else to read; look into it before it is sent.

## Install a cluster

1. Size: three control-plane nodes bear the loss of one; two bear none. 2 CPUs, 4 GiB, 20 GiB of disk each at the least; clocks in step, unique host names.
2. `sudo snap install k8s --classic --channel=1.32-classic/stable` on each node; the channel names the minor version (`snap info k8s` lists them).
3. On the first: `sudo k8s bootstrap`, or with a file of choices that can''t be changed later (pod and service networks, datastore):
   `sudo k8s bootstrap --file bootstrap.yaml`. Keep the file.
4. `sudo k8s status --wait-ready --timeout 5m` — waits until at least one node is ready.
5. `sudo k8s get-join-token NODE2` — for a control-plane node of that name; `sudo k8s get-join-token --worker` for a worker. A token is a secret
   and expires after a day: shorter with `--expires-in 1h`.
6. On the node: `sudo k8s join-cluster TOKEN`. Join one at a time, waiting until `sudo k8s status` on the first shows it.
7. `sudo k8s config > kubeconfig` — full rights: mode 600, and no place in a repository or a conversation.

Ports between nodes: 6443 (API), 6400 (k8sd), 2379 and 2380 (etcd) or 9000 (k8s-dqlite), 10250 (kubelet), 4240, 4244 and UDP 8472 (Cilium).

## Features

- `network`, `dns` and `gateway` are on by default; `sudo k8s enable ingress load-balancer local-storage` for the others.
- `sudo k8s set load-balancer.cidrs="10.0.0.200-10.0.0.220" load-balancer.l2-mode=true`; `sudo k8s get load-balancer` shows it. The range must be free and routed to the nodes.
- `local-storage` keeps volumes on one node''s disk: a pod that uses one can''t move. For anything that must survive a node use Ceph''s or the cloud''s CSI driver.
- `sudo k8s disable FEATURE` removes what it gave: an ingress or load balancer takes addresses away from services at once.

## Work on a node

1. Every other control-plane node is Ready, and a majority stays while this one is away.
2. `kubectl cordon NODE`, then `kubectl drain NODE --ignore-daemonsets --delete-emptydir-data --timeout=10m`. `emptyDir` contents are lost; where
   a PodDisruptionBudget refuses, more replicas are the answer, not `--disable-eviction`.
3. Do the work, restart the machine.
4. `kubectl uncordon NODE`; wait for Ready and for its pods before the next node.
5. To take a node away for good: drain it, then on a control-plane node `sudo k8s remove-node NODE`, see that `kubectl get nodes` no longer has it, and only then
   `sudo snap remove k8s --purge` on the machine. `--force` is for a node that is lost and stays lost.

## Upgrade

1. Read the upgrade notes of the version that you go to (dual stack before 1.33, containerd 2 with 1.35, no k8s-dqlite from 1.36 on);
   `kubectl get --raw /metrics | grep apiserver_requested_deprecated_apis` shows who calls interfaces that will be gone.
2. Back up the datastore and the bootstrap file (below). Be on the last patch of the present version.
3. One minor version at a time, control-plane nodes first, one by one: drain, `sudo snap refresh k8s --channel=1.33-classic/stable`,
   `sudo k8s status --wait-ready`, uncordon, check. Then the workers. Workers must never be newer than the control plane.
4. Patch releases come by themselves from the channel: `sudo snap refresh --hold=72h k8s` keeps them out of a window of work.
5. With charms: `juju run k8s/leader pre-upgrade-check`, then `juju refresh k8s --channel 1.33/stable`; it goes unit by unit. Then the same for
   `k8s-worker`, with `juju run k8s-worker/leader pre-upgrade-check` before it.
6. Add-ons that you installed yourself (CSI drivers, operators) after the cluster, as their own tables of versions say.

## Back up

- Objects and volumes: Velero, or the storage''s own snapshots. Try a restore now and then.
- etcd: on a control-plane node, with an `etcdctl` of your own (the snap has none):
  `sudo etcdctl --endpoints https://127.0.0.1:2379 --cacert /etc/kubernetes/pki/etcd/ca.crt --cert /etc/kubernetes/pki/apiserver-etcd-client.crt --key /etc/kubernetes/pki/apiserver-etcd-client.key snapshot save etcd.db`.
- k8s-dqlite, and k8sd''s own small database in every case: stop one node''s services (`sudo snap stop k8s`), copy `/var/snap/k8s/common/var/lib/k8s-dqlite`
  and `/var/snap/k8s/common/var/lib/k8sd/state`, `sudo snap start k8s`. One node at a time.
- These files hold every Secret of the cluster: keep them where a kubeconfig of an administrator may lie.

## Why does a workload not run

1. `kubectl -n NS get pods -o wide`, `kubectl -n NS describe pod POD` — the events at the end name the reason.
2. `kubectl -n NS logs POD -c CONTAINER --previous` — of a container that crashed.
3. `kubectl -n NS get endpointslices -l kubernetes.io/service-name=SVC` — empty: the selector or the readiness is wrong, not the network.
4. Name resolution: `kubectl run probe --rm -it --restart=Never --image=busybox:1.36 -- nslookup SVC.NS.svc.cluster.local`.
5. Policies: `kubectl get networkpolicies,ciliumnetworkpolicies -A`; Cilium''s own view: `kubectl -n kube-system exec ds/cilium -- cilium-dbg status --brief`.
6. Rollouts: `kubectl -n NS rollout status deploy/NAME --timeout=5m`, `kubectl -n NS rollout history deploy/NAME`.

## Checks

- `sudo k8s status` says `ready`, all nodes are Ready and of one version, features are enabled as before.
- Nothing is Pending, CrashLoopBackOff or ImagePullBackOff that was not before; restarts do not go up.
- A test workload starts, resolves a name, is reached by its service, and writes to a volume; remove it afterwards.
- The certificates last: `sudo k8s certs-status` on each node, where the version has it, else `sudo openssl x509 -enddate -noout -in /etc/kubernetes/pki/apiserver.crt`.

## Signs of failure

| sign | usual cause | next step |
|---|---|---|
| node NotReady | kubelet or containerd stopped, disk full, network | `snap services k8s` and the kubelet''s log on it; `df -h /var/snap /var/lib` |
| Pending, "Insufficient cpu" | requests exceed what is free | `kubectl describe node`; lower requests or add a node |
| Pending, "unbound PersistentVolumeClaim" | no storage class or no room | `kubectl get sc,pvc -A`, `kubectl describe pvc` |
| ImagePullBackOff | name, credentials, proxy of containerd | the event''s text; `/etc/systemd/system/snap.k8s.containerd.service.d/` holds the proxy''s settings |
| CrashLoopBackOff | the program ends | `logs --previous`, exit code 137 is memory (`OOMKilled`) |
| CreateContainerConfigError | a Secret or ConfigMap is missing | the event names it |
| pods stuck Terminating | node away, finalizer | bring the node back; a finalizer is removed only by who knows what it protects |
| kubectl: connection refused | API server or datastore | `sudo journalctl -u snap.k8s.kube-apiserver -n 100`, then `snap.k8s.etcd` or `snap.k8s.k8s-dqlite`; from elsewhere a kubeconfig of `k8s kubectl config view` is wrong, take `k8s config` |
| "no leader", writes time out | datastore without a majority | bring nodes back; recovery from one node (k8sd''s `cluster-recover`, `etcdutl snapshot restore`) only with its documentation and by a person |
| "certificate has expired" | certificates of a year ago | `sudo k8s certs-status`, then `sudo k8s refresh-certs --expires-in 1y` on each node, one by one |
| load balancer address "pending" | no range, or range used up | `sudo k8s get load-balancer` |
| join fails | token used or expired, name differs, ports, clock | a new token for exactly that host name |

## Rollback

- A workload: `kubectl -n NS rollout undo deploy/NAME` (`--to-revision=N`); a Helm release: `helm -n NS rollback RELEASE N`. Neither returns data or changed CRDs.
- A feature''s setting: note `sudo k8s get FEATURE` before, set the old values again.
- A node''s refresh: `sudo snap revert k8s` returns the revision of before, then `sudo k8s status --wait-ready`. What lies under `/var/snap/k8s/common`, the datastore too,
  is not taken back. Use it on the first node, before others have followed; else all nodes must go back, and that is a restore to plan.
- A drained node: `kubectl uncordon NODE`. A removed one must join anew.
- The cluster''s state: restore the datastore''s copy on a stopped cluster, or objects through Velero. What was done since is lost.

## Never without a person''s approval

- `kubectl delete` of namespaces, volumes, claims, CRDs or nodes; `--force --grace-period=0`; `kubectl drain` of more than one node at once.
- `k8s remove-node`, `k8s disable`, `snap remove k8s`, a second `k8s bootstrap`, `snap revert`, recovery of the datastore.
- Reading Secrets (`kubectl get secret -o yaml`), `k8s config`, join tokens: they open the whole cluster.
- A refresh of a control-plane node to another channel, and `k8s set` of what the network or the load balancer uses: they touch every workload.
- Say in the request which cluster (`kubectl config current-context`), which nodes or namespaces, and what is interrupted or lost.
', 'owner', 0, '2026-11-30 23:30:16.915454+00', true),
	('01a22ecb-7ace-74f7-a309-60f3d3738ac2', 1, 'ceph', '---
name: ceph
description: Inspect, operate and repair Ceph clusters (monitors, OSDs, placement groups, pools, RBD, CephFS, RGW), deployed by cephadm, charms, MicroCeph or Rook.
---

# Ceph

## When to use

- `ceph -s` is not HEALTH_OK, clients hang or are slow, disks fail or fill.
- OSDs, hosts, monitors or pools must be added, replaced, drained or removed.
- The cluster is to be upgraded, or a host rebooted, without interrupting its clients.

Find out first who deployed it, since that tool owns the daemons: cephadm (`ceph orch status` answers), Juju charms
(`juju status ceph-mon ceph-osd`), MicroCeph (`microceph status`), or Rook (`kubectl -n rook-ceph get cephcluster`). Where there is an
action or an orchestrator command for what you want, use it instead of the daemon''s own.

Not for the block devices and file systems of one client that has no Ceph behind it, and not to tune a cluster that is healthy and quick
enough. Commands are for Reef (18) and Squid (19).

## How to reach the commands

| deployment | prefix |
|---|---|
| cephadm | `sudo cephadm shell -- ceph …`, or `ceph` where ceph-common and the admin keyring are |
| charms | `juju ssh ceph-mon/leader sudo ceph …`, actions by `juju run ceph-mon/leader get-health` |
| MicroCeph | `sudo microceph.ceph …` |
| Rook | `kubectl -n rook-ceph exec deploy/rook-ceph-tools -- ceph …` |

## First look, changes nothing

1. `ceph -s` — health, quorum, OSDs up and in, states of placement groups, recovery and client traffic. Good: `HEALTH_OK`, all OSDs
   `up` and `in`, all groups `active+clean`.
2. `ceph health detail` — each warning by its code with what it is about.
3. `ceph versions` — mixed versions mean that an upgrade is under way or was left.
4. `ceph osd tree` — hosts and OSDs, up/down, in/out (REWEIGHT 0 is out), device class.
5. `ceph df detail` and `ceph osd df tree` — room by pool and by OSD; look at the fullest OSD, not at the mean.
6. `ceph pg stat`, `ceph pg dump_stuck` — what is not `active+clean`.
7. `ceph osd pool ls detail` — size, min_size, rule, flags, autoscale mode, application.
8. `ceph osd dump | grep -E ''flags|full_ratio''` — flags such as `noout` that somebody left set.
9. `ceph crash ls-new`, `ceph log last 100 warn cluster` — what has happened.
10. `ceph osd perf` — latencies; `ceph tell osd.N dump_ops_in_flight` for a slow OSD, from anywhere.
11. With cephadm `ceph orch ps` — every daemon, its host, state and version; `ceph orch host ls` — hosts, offline or in maintenance.

Write down the answer of step 1: it is what "as before" means at the end.

## Rules that keep data

- Never act on a second failure domain before all placement groups are `active+clean` again.
- `size=3 min_size=2` is the usual; `min_size=1` risks losing writes. Never lower it to make a warning go away.
- Ask before each stop: `ceph osd ok-to-stop N`. Ask before each removal: `ceph osd safe-to-destroy N`.
- `nearfull` (85 %), `backfillfull` (90 %), `full` (95 %, writes stop): plan capacity so that the loss of one host stays below 85 %.

## Reboot a host, or work on it

1. `ceph -s` is HEALTH_OK, or only warns of what you know.
2. `ceph osd ok-to-stop $(ceph osd ls-tree HOST)` says that it is safe.
3. cephadm: `ceph orch host ok-to-stop HOST`, then `ceph orch host maintenance enter HOST`, which sets `noout` for the host and stops its daemons.
   A refusal is a reason to look, not to add `--force`. The host of the active manager is refused: `ceph mgr fail` first.
4. MicroCeph: `sudo microceph cluster maintenance enter NODE --dry-run`, then without.
5. Charms and Rook, or by hand: `ceph osd set-group noout HOST`, for that host alone, rather than `ceph osd set noout` for all
   (the charm''s `juju run ceph-mon/leader set-noout`).
6. Reboot, do the work. Then `ceph orch host maintenance exit HOST`, `microceph cluster maintenance exit NODE` or
   `ceph osd unset-group noout HOST` (`unset-noout`), whichever fits what was entered.
7. Wait until its OSDs are up (`ceph osd tree`) and for `active+clean` before the next host. For a monitor''s host see also that
   `ceph quorum_status -f json-pretty` lists it again.

## Replace a failed disk

1. `ceph osd tree down`, `ceph device ls-by-host HOST`, `ceph device get-health-metrics DEVICE` — which one, and its serial number.
2. `ceph osd out N` — data moves to others; wait for `active+clean`. Of a dead disk it has begun by itself after
   `mon_osd_down_out_interval` (600 s).
3. `ceph osd safe-to-destroy N` says yes.
4. cephadm: `ceph orch osd rm N --replace`, follow `ceph orch osd rm status`; the OSD becomes `destroyed` and keeps its id for the new disk.
   `--zap` as well only for a disk that stays in: a service specification that matches would make an OSD of the erased disk at once
   (`unmanaged: true` in the specification prevents that). Charms: `juju run ceph-osd/U remove-disk osd-ids=osd.N`, without `purge=true`, so that
   the id stays. MicroCeph: `sudo microceph disk list`, then `sudo microceph disk remove N`.
5. Change the disk by its serial number, not by its name: names move between boots.
6. cephadm: the service specification takes the new disk (`ceph orch device ls --refresh` shows it); else
   `ceph orch daemon add osd HOST:/dev/X`. Charms: `juju run ceph-osd/U add-disk osd-devices=/dev/X osd-ids=osd.N`. MicroCeph:
   `sudo microceph disk add /dev/disk/by-id/X --wipe`. Wait for `active+clean`.

## Add capacity

1. `ceph osd set norebalance`, add all OSDs of the batch, `ceph osd unset norebalance`: data moves once.
2. Check that the balancer is on: `ceph balancer status` (mode upmap), and that autoscaling is what you want: `ceph osd pool autoscale-status`.
3. How fast it moves: with mClock, the usual scheduler (`ceph config get osd osd_op_queue`), by
   `ceph config set osd osd_mclock_profile high_client_ops` (clients first), `balanced` or `high_recovery_ops`; `osd_max_backfills` and
   `osd_recovery_max_active` count only with the scheduler `wpq`, or with `osd_mclock_override_recovery_settings`. Put it back afterwards with
   `ceph config rm osd OPTION`.

## Upgrade

1. HEALTH_OK, no flags set, all daemons of one version, the release notes read. Go over at most two major releases at a time.
2. cephadm: two managers at least (`ceph orch ps --daemon-type mgr`). `ceph orch upgrade check --ceph-version 19.2.2`, then
   `ceph orch upgrade start --ceph-version 19.2.2`; follow `ceph orch upgrade status` and `ceph -W cephadm`; `ceph orch upgrade pause` and `resume`
   if clients suffer. It goes managers, monitors, OSDs, then the others, and asks for each daemon whether it may stop.
3. By hand the order is: monitors, managers, OSDs host by host, then MDS (`ceph fs set FS max_mds 1` first, the old number afterwards), then RGW.
   Charms: `juju refresh`, then `juju config APP source=…`, in the order ceph-mon, ceph-osd, ceph-fs, ceph-radosgw, each at rest before the next.
   MicroCeph: `sudo snap refresh microceph --channel CHANNEL`, one node after another.
4. Only when `ceph versions` shows one version: `ceph osd require-osd-release RELEASE`, where `ceph osd dump | grep require_osd_release` still shows
   the old one. It can''t be taken back.

## Checks

- `ceph -s` is HEALTH_OK, or shows what it showed before; every monitor in quorum, every expected OSD up and in. `ceph health detail` mutes nothing
  that you did not mute (`ceph health unmute CODE`).
- `ceph pg stat` shows `active+clean` (with scrubbing) alone; no flags remain: `ceph osd dump | grep flags`.
- `ceph versions` shows one version.
- A client really reads and writes: `rbd -p POOL create probe --size 1G`, `rbd bench --io-type write --io-total 64M POOL/probe`, `rbd rm POOL/probe`;
  for RGW put and get an object; for CephFS write a file.

## Signs of failure

| sign | what it means | next step |
|---|---|---|
| MON_DOWN, no quorum | fewer than a majority of monitors | clocks (`chronyc tracking`), disks of the monitors, network 3300 and 6789 |
| MON_CLOCK_SKEW | clocks differ by more than 50 ms | repair time synchronisation; never restart monitors first |
| OSD_DOWN of one host | host or its network | the host; if it only reboots, wait |
| OSD flapping | network or MTU of the cluster network, or a disk at its end | `ceph log last 200`, `ping -M do -s 8972 PEER` where jumbo frames are set |
| OSD does not start | disk, keys, or a full host | `ceph orch ps HOST`; `sudo cephadm logs --name osd.N` on the host, without cephadm `journalctl -u ceph-osd@N` |
| PG_DEGRADED | copies are missing, data is served | wait for recovery, watch the fullest OSD |
| PG_AVAILABILITY, inactive, incomplete | data can''t be served | bring the OSDs back that `ceph pg PGID query` names as blocking |
| OBJECT_UNFOUND | the newest copies are on OSDs that are down | bring those back; `mark_unfound_lost` loses data |
| PG_DAMAGED, inconsistent | scrub found copies that differ | `rados list-inconsistent-obj PGID --format=json-pretty`, read which copy is wrong, then `ceph pg repair PGID` |
| OSD_NEARFULL, OSD_FULL, POOL_FULL | too little room | free or add room; see that the balancer works. Only where it is off: `ceph osd test-reweight-by-utilization`, then `ceph osd reweight-by-utilization` |
| SLOW_OPS | a disk, the network or overload | `ceph osd perf`, SMART of the disk, `ceph tell osd.N dump_ops_in_flight` |
| MDS_ALL_DOWN, damaged rank | CephFS is not served | logs of the MDS; no `cephfs-journal-tool` without a backup of the journal |
| RECENT_CRASH | a daemon crashed | `ceph crash info ID`, then `ceph crash archive ID` once understood |

## Rollback

- A flag: `ceph osd unset FLAG`. A setting: `ceph config rm WHO OPTION`, its history is in `ceph config log`, and `ceph config reset N` returns to one.
- An OSD marked out that still has its data: `ceph osd in N`. Until it was destroyed or zapped nothing is lost. A removal that still waits:
  `ceph orch osd rm stop N`.
- A CRUSH change: before it `ceph osd getcrushmap -o before.map`; back with `ceph osd setcrushmap -i before.map`. Both move data.
- An upgrade: `ceph orch upgrade pause` (or `stop`), and repair forward. Downgrading monitors or OSDs over a major release is not supported.
- A pool or image that was deleted: only from a backup or snapshot; `rbd trash` keeps what was moved there (`rbd trash ls POOL`, `rbd trash restore`).

## Never without a person''s approval

- `ceph osd purge`, `destroy`, `ceph orch osd rm`, any zap or `--wipe`; `ceph osd pool delete`, `rbd rm`, `rbd snap purge`, `ceph fs rm`.
- `ceph orch host drain`, `ceph orch host rm`, maintenance of a host, `ceph orch upgrade start`; `--force` and `--yes-i-really-mean-it` with anything.
- `mark_unfound_lost`, `ceph osd lost`, `force-create-pg`, `ceph-objectstore-tool` with a writing operation, `ceph-monstore-tool`.
- `min_size` below its value, ratios above their defaults, `ceph config set mon mon_allow_pool_delete true`, `require-osd-release`.
', 'owner', 0, '2026-11-30 23:30:16.915454+00', true),
	('01a22ecb-7ace-751f-8940-71cd029d91f0', 1, 'juju', '---
name: juju
description: Deploy, scale, upgrade and repair applications modelled with Juju (controllers, models, charms, units, relations) on LXD, MAAS, OpenStack or Kubernetes.
---

# Juju

## When to use

- The system is described by models, applications, units and relations, or `juju status` answers on the machine.
- Something must be deployed, scaled, related, configured, upgraded or removed through a charm.
- A unit is in `error`, `blocked` or `waiting`, an agent is `lost`, or a model does not come to rest.

Do not use it for machines that no Juju model owns, and do not change by hand what a charm renders:
the next hook writes it again.

Commands are for Juju 3.x. In 2.9 an action is `juju run-action UNIT ACTION --wait` and a command on
units is `juju run`; in 3.x they are `juju run UNIT ACTION` and `juju exec`.

## Terms

| term | meaning |
|---|---|
| controller | the Juju server; has its own model named `controller` |
| model | a workspace of applications on one cloud; commands act on the current one or on `-m CONTROLLER:OWNER/MODEL` |
| application, unit | a deployed charm and its instances, `postgresql` and `postgresql/0` |
| workload status | what the charm says: active, maintenance, waiting, blocked, error |
| agent status | what Juju says of the agent: idle, executing, allocating, lost, failed |
| relation (integration) | data that two applications exchange, made by `juju integrate` |
| offer | an endpoint that other models may relate to |

## First look, changes nothing

Always find out where you are before any change:

1. `juju whoami` — controller, model and user that the next commands act on.
2. `juju controllers --refresh` and `juju models` — what there is, and that the controller answers.
3. `juju status --relations` — every application, unit, machine and relation. Read the message column.
4. `juju status --format json` — for exact reading; units stand under `applications.*.units`.
5. `juju show-unit APP/0` — relation data as the unit sees it; secrets show as URIs only.
6. `juju config APP` — options; `source: user` marks what somebody set.
7. `juju show-status-log APP/0 -n 50` — how the status changed.
8. `juju debug-log --replay --no-tail --include APP/0 --level WARNING | tail -n 200` — why. Without `--no-tail` it goes on following;
   `--lines` does not go together with either. In a Kubernetes model the log is filtered by application: `--include APP`.
9. `juju machines` — instances; `juju show-machine 3` tells of hardware, containers and constraints.

Write down what step 3 shows: the applications, their charm revisions and channels are what a rollback names.

## Deploy

1. `juju info CHARM` — channels, the bases that each supports, and what it provides and requires; `--config` adds its options.
2. Choose a channel on purpose: `juju deploy CHARM APP --channel 14/stable --base ubuntu@22.04 -n 3
   --constraints "cores=4 mem=8G root-disk=40G"`. Give `--trust` only where the charm''s documentation asks for it: its hooks may then use the cloud''s credentials.
3. `juju integrate APP:db OTHER:database` — name the endpoints where more than one would fit.
4. `juju config APP key=value` — before it is under load; some options restart the workload.
5. `juju wait-for application APP --query=''status=="active"'' --timeout 20m` — ends by itself with an error when the time is over.

For a bundle, look first: `juju deploy ./bundle.yaml --dry-run`, then without `--dry-run`. An overlay
(`--overlay site.yaml`) keeps a site''s values out of the shared bundle.

## Scale

- Machines: `juju add-unit APP -n 2`, place with `--to lxd:3` or `--to zone=az2`;
  `juju remove-unit APP/4` takes a named unit away. First `juju remove-unit APP/4 --dry-run`: it tells which storage goes along.
- Kubernetes: `juju scale-application APP 3`; the highest numbered units go first, and no other can be chosen.
- For a clustered service look at its quorum before removing: keep an odd number, never go below a majority,
  and remove one unit at a time, waiting for `active/idle` between them.

## Run things on units

- `juju actions APP` and `juju show-action APP ACTION` — what the charm offers and its parameters.
- `juju run APP/leader ACTION key=value --wait=10m` — a charm''s action; prefer it to a shell command. Of one that lasts longer
  `juju operations` and `juju show-operation N` tell later.
- `juju exec --unit APP/0 -- systemctl status SERVICE` — a command in the charm''s environment.
- `juju ssh APP/0 COMMAND` — on the machine; in a sidecar charm `juju ssh --container CONTAINER APP/0`, by the name of the workload''s container.

## Upgrade

Order: client, controller, models. Charms are independent of them. Since 3.0 a controller moves in place to another **patch** of its
minor version alone (3.6.4 to 3.6.9); for another minor or major version its models move to a new controller.

1. `juju status` shows everything `active/idle`; else repair first.
2. Back the controller up: `juju create-backup -m controller --filename controller.tar.gz` downloads it; keep it elsewhere. A controller
   on Kubernetes can''t be backed up so.
3. Client: `sudo snap refresh juju --channel 3.6/stable`.
4. Patch: `juju upgrade-controller --dry-run`, then without; wait until `juju show-controller` shows the version and the units of the model
   `controller` are at rest.
5. Minor or major: with the new client `juju bootstrap CLOUD NEWCONTROLLER`, then from the old one each model by
   `juju migrate MODEL NEWCONTROLLER`, which only begins it: `juju status` tells how far it is. A model that is not fit to move is refused with its reasons and
   stays where it was. Users, their grants and offers must be right on both sides; the old controller is kept until all has proved itself.
6. `juju upgrade-model -m MODEL --dry-run`, then without; agents restart, workloads do not.
7. Charms, one application at a time, its documentation first. Note revision and channel from `juju status`: they are what a rollback names. Take the
   workload''s own backup (an action such as `create-backup`, where there is one), and run the action `pre-upgrade-check` or `pre-refresh-check` of
   a charm that has it.
8. `juju refresh APP --channel NEW`, and the checks below before the next application.

## Checks

- `juju status --format json | jq -r ''.applications | to_entries[] | .key as $a | (.value.units // {} | to_entries[]) | select(.value["workload-status"].current != "active" or .value["juju-status"].current != "idle") | "\($a) \(.key) \(.value["workload-status"].message // "")"''`
  prints nothing once all is at rest. Subordinates stand below their principal''s unit under `subordinates`.
- No machine is `down` or `pending` in `juju machines`.
- `juju debug-log --replay --no-tail --level ERROR --date | tail -n 100` shows nothing younger than the change.
- The service itself answers: a query, an HTTP request, the cluster''s own health command. `active` is what
  the charm believes; only the workload''s answer proves it.

## Signs of failure

| sign | usual cause | next step |
|---|---|---|
| `error`, "hook failed: config-changed" | a bug or an impossible option | read the log of `APP/0` as above, correct, then `juju resolved APP/0` |
| `blocked`, "missing relation" | an integration is absent | `juju integrate`, endpoints as the message says |
| `waiting` for long | the other side has not answered | look at the related application first |
| agent `lost` | machine off, network, or the agent dead | `juju ssh` to the machine; `systemctl status jujud-machine-N` |
| machine stays `pending` | no capacity, image or address | `juju show-machine N`, the message under `machine-status`; after the cause is mended `juju retry-provisioning N` |
| `allocating` on Kubernetes | the pod is not scheduled | `kubectl -n MODEL describe pod APP-0` |
| `juju run APP/leader` finds no leader | units can''t reach the controller | the controller''s port 17070 from the unit |
| model upgrade refused | an agent is not at rest or runs another version | repair that agent, then again |
| every command hangs | the controller or its database | `juju ssh -m controller 0`, `journalctl -u ''snap.juju-db.*'' -u ''jujud-machine-*''` |

A hook error is tried again by itself. `juju resolved --no-retry APP/0` skips the hook: the charm then believes
that something happened which did not. Use it only where the log shows that the rest is safe.

## Rollback

- Configuration: `juju config APP key=OLD`, or `juju config APP --reset key` for the default.
- Charm: `juju refresh APP --channel OLDCHANNEL --revision OLD`; later refreshes then stay in that channel. It returns the
  charm''s code, not the workload''s data: schema changes need the backup taken before.
- Scale: remove the units added last, one by one, after the workload has moved their data.
- Relation: `juju remove-relation APP:db OTHER:database` — the other side may drop users or databases; read its charm first.
- Controller: the separate program `juju-restore`, run with the downloaded backup on the machine of the database''s primary (machine 0, or with high availability the `ha-primary` in
  `juju status -m controller --format json`), on that same controller alone and never with a backup of a newer Juju. All of its models go
  back to that time. Practise it before you need it.
- A migrated model: back to the old controller only while that still runs the version the model''s agents have.

## Never without a person''s approval

- `juju destroy-model`, `juju destroy-controller`, `juju kill-controller`, `juju migrate`, `--destroy-storage`, `--force`, `--no-wait`.
- `--no-prompt`, which answers Juju''s own question: only for exactly what was approved, after the same command with `--dry-run` where it has that.
- `juju remove-application` and `juju remove-unit` of anything that holds data; `juju remove-storage`.
- `juju remove-machine --force`: it skips every hook that would have handed data over.
- Say in the request which controller and model (`juju whoami`), which units, and what is lost.
', 'owner', 0, '2026-11-30 23:30:16.915454+00', true),
	('01a22ecb-7ace-7543-bd86-2fd01544e72a', 1, 'landscape', '---
name: landscape
description: Administer Ubuntu machines through Landscape (registration, packages, updates, scripts, reboots, access, reports) and keep a self-hosted Landscape server running.
---

# Landscape

## When to use

- Many Ubuntu machines must be looked at, patched, rebooted or configured in one go, and they are registered with a Landscape server.
- A machine must be registered, is pending, shows no recent contact, or its activities fail.
- The self-hosted server itself must be upgraded, backed up or repaired.

Not for one machine that you can reach directly and that nobody manages through Landscape, and not for packages inside
containers or snaps of a cluster (lxd, microk8s, k8s) that its own upgrade procedure must order.

Commands are for a self-hosted server 24.04 LTS and its legacy API, which `landscape-api` speaks.

## How it works

- Each machine runs `landscape-client`, which talks to the server by HTTPS every 15 minutes (an "exchange", `exchange_interval`), and asks every 30 seconds
  whether something waits for it (a "ping", `ping_interval`). If so it makes an exchange within a minute: what you order happens soon, not at once.
- An order is an **activity** with a status: `undelivered` (the page says queued), `unapproved`, `scheduled`, `delivered` (in progress: the machine has it),
  `succeeded`, `failed`, `canceled`. An order for many machines is a parent with one child a machine.
- The server is made of `landscape-*` services (appserver, api, async-frontend, job-handler, message server, ping server, package upload and search)
  under the unit `landscape-server.target`, PostgreSQL, and RabbitMQ, behind Apache (quickstart and manual) or HAProxy (Juju).
  Juju deploys it as `landscape-server`, `postgresql`, `rabbitmq-server`, `haproxy`.

## Reaching it

`landscape-api` (`sudo snap install landscape-api`) takes the address and keys from the environment:

```
export LANDSCAPE_API_URI="https://landscape.example.com/api/"
export LANDSCAPE_API_KEY="…"      # a person''s key, from the account''s settings page
export LANDSCAPE_API_SECRET="…"   # never in a command line or a log
export LANDSCAPE_API_SSL_CA_FILE=/etc/ssl/certs/landscape-ca.pem   # for a private authority
```

A key has the rights of its person. Take one that is limited to the access group you work on. `landscape-api` alone lists the actions and
`landscape-api help ACTION` the arguments of one: look there before the first use, since versions differ. `--json` after an action gives JSON.
Lists of ids or names are one word with commas: `7,8,9`.

## First look, changes nothing

1. `landscape-api get-computers --limit 20 --json` — `id`, `hostname`, `title`, `tags`, `last_exchange_time`, `last_ping_time`, `reboot_required_flag`.
2. `landscape-api get-computers --query "tag:web alert:security-upgrades" --json` — select as the web page''s search does: terms side by side must all hold;
   `OR` and `NOT` in capitals. Others: `id:7`, `hostname:db1.example.com` (the whole name), `distribution:24.04`, `access-group:prod`, `needs:reboot`,
   `alert:package-upgrades`, `alert:computer-offline`, `search:NAME` for a saved one; a bare word is looked for in names and titles. There is no `AND`.
3. `landscape-api get-pending-computers` — who asks to be let in.
4. `landscape-api get-alerts` — which alerts are active, on how many machines.
5. `landscape-api get-packages "id:7" --upgrade true --limit 50` — what could be upgraded on a machine.
6. `landscape-api get-activities --query "status:failed" --limit 20` — what went wrong lately, with `result_text`.
7. On a machine: `systemctl status landscape-client`, `sudo tail -50 /var/log/landscape/broker.log` (exchanges),
   `manager.log` (what was done), `package-changer.log`.

Always print the machines that a query selects, and their number, before the same query is given to a command that changes something.

## Register a machine

1. `sudo apt install landscape-client` (or `sudo snap install landscape-client` on Core).
2. The server''s authority where it is private: the file goes to `/etc/landscape/server.pem`, and `ssl_public_key` names it.
3. `sudo landscape-config --computer-title "$(hostname -f)" --account-name standalone --url https://landscape.example.com/message-system --ping-url http://landscape.example.com/ping`
   It asks for what is missing, the registration key too: never give that as an option, where every user of the machine can read it. Without a terminal
   write `registration_key = …` into `/etc/landscape/client.conf` (owner `landscape`, mode 600) and add `--silent`.
   Add `--tags web,prod`, `--access-group prod`, `--include-manager-plugins ScriptExecution --script-users nobody,landscape`
   if scripts are wanted. Without the plugin every script is refused; title, tags and group are told to the server at registration alone.
4. `landscape-api get-pending-computers`, compare title and hostname with what you expect, then `landscape-api accept-pending-computers ID --access-group prod`.
   A machine that was there before takes its old place with `--existing-ids NEWID=OLDID`, else it is listed twice.
5. `sudo landscape-config --is-registered` prints `Registered:    True` and ends with 0, and `get-computers` lists it.

A cloned image keeps the identity of its source: before the image is made stop `landscape-client` and empty `/var/lib/landscape/client/`.

## Patch machines

1. Select a few first (a tag such as `canary`), print them.
2. Security updates alone: `landscape-api upgrade-packages "tag:canary" --security-only`; everything: without that option; some packages:
   `--packages NAME,NAME`. `--deliver-after 2026-12-01T22:00:00Z` puts it off, and `--deliver-delay-window 30` spreads it over minutes.
3. Note the activity''s `id`; `landscape-api get-activities --query "parent-id:ID"` until each child is `succeeded`, or you know why it `failed`.
4. Look at the service that the machines give, then the rest, in batches that leave enough of them working.
5. Reboot who needs it: `landscape-api get-computers --query "tag:canary needs:reboot"`, then
   `landscape-api reboot-computers 7,8` — never all members of a cluster at once.
6. For a rule that stays: `landscape-api create-upgrade-profile "Security, nightly" week 30 --on-days mo,tu,we,th --at-hour 3 --upgrade-type security`, then
   `landscape-api help associate-upgrade-profile` for the tags it holds for.

Hold what must not move: a package profile with a constraint, or `apt-mark hold` on the machine; tell where it was done.

## Scripts

1. `landscape-api get-scripts` — what there is; prefer a kept script to a new one.
2. `landscape-api create-script "Free space" 300 ./free-space.sh --username nobody` — title, limit in seconds, file with the code, and the least user
   that will do. `landscape-api get-script-code SCRIPT_ID` shows a kept one: read it before it runs.
3. `landscape-api execute-script "tag:canary" SCRIPT_ID --username nobody`; then the children''s `result_text`.
4. A script may run again after a lost contact: make it repeatable, and let its exit status tell the truth.

## The server

- Health: `sudo lsctl status` (the units of `landscape-server.target`); the page and `/message-system` through the proxy;
  `sudo rabbitmqctl list_queues -p landscape name messages` (growing queues: the job handler does not keep up).
- Logs: `/var/log/landscape-server/*.log`, first `appserver`, `api`, `message-server`, `job-handler`, `pingserver`.
- Backup: all databases of one moment (`pg_basebackup` with archived WAL, or with the services stopped `pg_dump` of each `landscape-standalone-*`), and `/etc/landscape/`
  (licence and secrets), `/etc/default/landscape-server`, the site in `/etc/apache2/sites-available/` and the certificates. Databases without
  the configuration''s secrets can''t be used. With charms the backup actions of the charm `postgresql` as well.
- Upgrade: back up, the release''s own notes read, `sudo lsctl stop`, `sudo add-apt-repository ppa:landscape/self-hosted-24.04`, `sudo apt update`,
  `sudo apt full-upgrade` (keep your `service.conf` when asked), `sudo setup-landscape-server` (it moves the schema, once), `sudo lsctl start`.
- With charms: `juju refresh landscape-server`, `juju config landscape-server landscape_ppa=…` and the PPA on each unit; then the actions `pause` on all units,
  `upgrade` on all, `migrate-schema` on **one**, `resume` on all.

## Checks

- All children of the activity are succeeded; the failed ones are listed with their `result_text`.
- `needs:reboot` and `alert:package-upgrades` no longer select the machines.
- `last_exchange_time` of each is younger than 30 minutes, `last_ping_time` than five.
- The machines'' own service answers; a package that is installed proves nothing about it.

## Signs of failure

| sign | usual cause | next step |
|---|---|---|
| no contact for more than an hour | client stopped, name, proxy or certificate | `broker.log`: error 6 is the name, 60 the certificate, 77 its file; `curl --cacert /etc/landscape/server.pem https://SERVER/message-system` reaches it |
| the client skips its start, "condition unmet" | not registered any more | `sudo landscape-config --is-registered`; register anew, `--existing-ids` when accepting |
| packages unknown or out of date | the package reporter is behind, often a broken APT source | `sudo apt update` and `package-reporter.log` on the machine; mend the source, `sudo systemctl restart landscape-client` |
| activity stays undelivered | the machine is off or not asking; of all machines: RabbitMQ | its last exchange and ping; `systemctl status rabbitmq-server`; cancel what is outdated: `cancel-activities` |
| activity stays unapproved | somebody must approve it | the one who may: `landscape-api approve-activities "id:ID"` |
| script refused | plugin or user not allowed | `include_manager_plugins` and `script_users` in `/etc/landscape/client.conf`, then restart the client |
| dpkg interrupted, lock held | unattended-upgrades at the same time | on the machine `sudo dpkg --configure -a`; move the window |
| two machines in turn under one name | a cloned identity | clear `/var/lib/landscape/client/` on the copy, register it anew |
| server answers 502 or 503 | appserver down, database away | `lsctl status`, PostgreSQL''s log, room on the disk |
| page loads, nothing is done | RabbitMQ or the job handler | queues, `job-handler.log` |

## Rollback

- What was not delivered: `landscape-api cancel-activities "parent-id:ID"` — what is in progress goes on.
- Packages: install the earlier version where the archive still has it (`apt-cache policy PACKAGE` tells):
  `sudo apt install --allow-downgrades PACKAGE=VERSION`, then `sudo apt-mark hold PACKAGE`. Data formats may not go back.
- A kernel: choose the earlier one in GRUB (`grub-reboot`), and keep it installed until the new one has proved itself.
- The server: services stopped, the dumps restored, the earlier version of the packages, started again: together, since the schema belongs to the version.

## Never without a person''s approval

- `remove-computers`, `remove-packages`, `reboot-computers`, `shutdown-computers`, release upgrades, removal profiles.
- `upgrade-packages` and `install-packages` on more than the agreed machines; `approve-activities`, which stands for a person.
- Scripts as root, scripts on a query that selects everything, changes of access groups, roles or the registration key.
- `accept-pending-computers` for a machine that nobody announced: it may then be given scripts and secrets of its group.
', 'owner', 0, '2026-11-30 23:30:16.915454+00', true),
	('01a22ecb-7ace-7569-86c0-fde7440a2dda', 1, 'lxd', '---
name: lxd
description: Run, inspect, move, back up and repair LXD containers, virtual machines, storage pools, networks, projects and clusters.
---

# LXD

## When to use

- A system container or virtual machine must be created, changed, snapshotted, moved, backed up or removed on an LXD host or cluster.
- An instance does not start, has no address, is out of disk, or is slow.
- A cluster member is offline, must be evacuated, or LXD is to be refreshed to another channel.

Not for application containers that Docker or Kubernetes run, and not for instances that Juju or a deployment
tool owns: change those through their owner, else the two disagree.

Commands are for LXD 5.21 (LTS) and 6. Where the two differ it is said; `lxc COMMAND --help` is right for the client that you have.

## First look, changes nothing

1. `lxc remote list` and `lxc project list` — which server and project the next commands act on.
2. `lxc version` — client and server; `snap list lxd` shows the channel, such as `5.21/stable`.
3. `lxc list --all-projects` — instances, state, addresses, location.
4. `lxc cluster list` — members; all `ONLINE`, "Fully operational", and their roles: `database-leader`, `database` (called `database-voter`
   since 6.x), `database-standby`. An error tells that it is not clustered.
5. `lxc storage list`, then `lxc storage info POOL` — driver and room left.
6. `lxc network list` — managed bridges and OVN networks; `lxc network info NET` for the addresses.
7. `lxc config show INSTANCE --expanded` — all that it gets from profiles as well.
8. `lxc info INSTANCE` — processes, memory, disk, network, snapshots; `lxc info INSTANCE --show-log` for the last start.
9. `lxc operation list` — what is running at this moment.
10. `lxc warning list` — what LXD itself complains of; `lxc warning show UUID` for one.

Give `--project NAME` explicitly in every command that changes something: the default depends on who ran what before.

## First installation

1. `sudo snap install lxd --channel=5.21/stable` (an LTS channel), for members of a cluster with `--cohort="+"`, so that all get the same
   revision. `sudo snap refresh --hold=24h lxd` keeps refreshes away while you work.
2. Write the answers into a preseed and keep it: `sudo lxd init --preseed < init.yaml`. A preseed names `config`, `storage_pools`,
   `networks`, `profiles`, `projects`, for a cluster `cluster`. `sudo lxd init --dump` prints what a server has, as a start.
3. Storage: ZFS or Btrfs on a device of its own for snapshots at no cost; `dir` copies every time; Ceph for a cluster with live moves.
4. Members of the group `lxd` are root on the host. Give people a certificate restricted to a project instead:
   `lxc config trust add --name ada --restricted --projects web` prints a token, which she uses once: `lxc remote add SERVER TOKEN`.

## Create and change

1. `lxc image list ubuntu: 24.04 amd64` — the images; `lxc image list images:` for other systems.
2. `lxc launch ubuntu:24.04 web1 -c limits.cpu=2 -c limits.memory=4GiB -d root,size=20GiB`;
   a virtual machine with `--vm`, on a member with `--target MEMBER`.
3. `lxc exec web1 -- cloud-init status --wait` — wait until the first start is complete. Of a virtual machine the
   agent answers some seconds after the boot: try again while it says that the LXD VM agent is not running.
4. `lxc exec web1 -- COMMAND`; `lxc file push FILE web1/etc/app/`; `lxc file pull web1/var/log/app.log .`.
5. `lxc config set web1 limits.memory=8GiB` — at once for containers; what a running virtual machine refuses needs it stopped.
6. `lxc config device override web1 root size=40GiB` — grow a root disk that comes from a profile; `lxc config device set web1 root size=40GiB`
   once it is the instance''s own. A virtual machine sees it after a restart, and its file system is grown inside. Never shrink: block volumes refuse
   it, file systems that hold more fail.
7. `lxc config device add web1 http proxy listen=tcp:0.0.0.0:80 connect=tcp:127.0.0.1:80` — publish a port.
8. `lxc config device add web1 data disk pool=POOL source=VOLUME path=/srv` — a custom volume, which outlives the instance.

## Networks

1. `lxc network create br1 --type=bridge ipv4.address=10.20.0.1/24 ipv4.nat=true ipv6.address=none` — a bridge of LXD''s own;
   in a cluster first once with `--target MEMBER` for every member, then once without.
2. `lxc config device add web1 eth0 nic network=br1 ipv4.address=10.20.0.10` — a fixed address by DHCP.
3. `lxc network acl create web` and `lxc network acl edit web` — rules; attach by `security.acls` on the network or the nic.
4. To stand in the hosts'' own network use `nictype=bridged parent=br0` on a bridge of the host, or `macvlan`, by which the host
   itself can''t reach the instance.
5. `lxc network list-leases br1` — who has which address.
6. `lxc network show br1` before a change; `lxc network set br1 KEY=VALUE` acts at once on everything that is attached.

## Snapshots, backups, moves

- `lxc snapshot web1 before-upgrade` — at once on ZFS, Btrfs, LVM thin and Ceph. It holds the root disk alone: custom volumes have snapshots of their own,
  `lxc storage volume snapshot POOL VOLUME before-upgrade`. With memory `--stateful` (virtual machines with `migration.stateful=true`, which is set while stopped).
- `lxc config set web1 snapshots.schedule="0 2 * * *" snapshots.expiry=7d` — regular ones.
- A snapshot is in the same pool: it is no backup. `lxc export web1 /backup/web1.tar.gz` is one; custom volumes are **not** in it:
  `lxc storage volume export POOL VOLUME /backup/volume.tar.gz`.
- `lxc move web1 --target MEMBER` inside a cluster; stop it first, unless it is a virtual machine on shared storage with live migration allowed.
- `lxc copy web1 backup:web1 --refresh` — keep a copy on another server up to date.

## Cluster upkeep

1. `lxc cluster list` — every member online, and more than half of the voters (the leader counts) will stay up during the work.
2. `lxc cluster evacuate MEMBER` — asks, then its instances move or stop, as `cluster.evacuate` of each says; containers are stopped on the way.
   The state is then `EVACUATED`. Leave `--force` away: in 5.21 it skips the question, in 6 it goes on although the quorum would be lost.
3. Do the work; restart the member.
4. `lxc cluster restore MEMBER` — the instances come home.
5. Refresh of the snap: never while a member is offline, since all must reach the same version. `sudo snap refresh lxd --cohort="+"` on each, right after
   another; those that are ahead are blocked, and their API with them, until the last has followed. Instances run on meanwhile.

## Checks

- `lxc list NAME` says RUNNING with an address, and `lxc exec NAME -- systemctl is-system-running` says `running`
  (`degraded`: see `lxc exec NAME -- systemctl --failed`).
- `lxc storage info POOL` has at least 15 % free; ZFS slows and then fails close to full.
- `lxc cluster list` shows all members ONLINE, at least three with a database role; `lxc warning list` has nothing new.
- `lxc version` gives the same server version on every member.
- The service in the instance answers from where its clients are, not only from the host.
- After work on a member: `lxc list --all-projects location=MEMBER` shows its instances at home again.
- After a move: `lxc config show NAME --expanded` has the same devices and limits as before.

## Signs of failure

| sign | usual cause | next step |
|---|---|---|
| instance has no IPv4 | no DHCP: firewall (ufw, Docker''s FORWARD policy) or a static bridge | `lxc network info lxdbr0`; allow `lxdbr0` in and routed: `ufw allow in on lxdbr0`, `ufw route allow in on lxdbr0`, `ufw route allow out on lxdbr0` |
| start fails, "No space left" | pool or its metadata full | `lxc storage info POOL`, remove old snapshots and unused images |
| start fails, "idmap" or mounts | nesting, raw.idmap or a disk source that is gone | `lxc info NAME --show-log`, `lxc config device list NAME` |
| virtual machine hangs in boot | secure boot with an unsigned kernel | `lxc console NAME --type=vga` or `lxc console NAME`; `security.secureboot=false` if the image needs it |
| "Instance is busy" | an operation runs | `lxc operation list`; wait rather than kill |
| member OFFLINE | clock, network, port 8443, or another version | on it: `snap services lxd`, `sudo journalctl -u snap.lxd.daemon -n 100` |
| members blocked after a refresh | one has not followed, or is offline | `snap list lxd` on each; refresh the last one |
| every command hangs, no leader | lost quorum of the database | bring voters back (`sudo lxd cluster list-database` names them). Only if all but one are lost for good, by a person on that one: `sudo snap stop lxd`, `sudo lxd cluster recover-from-quorum-loss`, `sudo snap start lxd` |
| a remote answers "not authorized" or "Forbidden" | the server does not know the client, or restricts it to other projects | `lxc config trust list` on the server; `lxc config trust add --name CLIENT` gives a token |

## Rollback

- An instance: `lxc stop web1`, then `lxc restore web1 before-upgrade`. What was written since is lost: take a snapshot of the present state first.
  On ZFS a restore to a snapshot that is not the newest is refused, unless `zfs.remove_snapshots` of the volume (`volume.zfs.remove_snapshots` of the
  pool) allows the newer ones to be removed. To look first: `lxc copy web1/before-upgrade web1-then`, which changes nothing.
- A custom volume: `lxc storage volume restore POOL VOLUME before-upgrade`, its users stopped.
- A changed setting: keep `lxc config show NAME > before.yaml`; `lxc config edit NAME < before.yaml` puts it back. The same for
  `lxc profile show/edit` and `lxc network show/edit`. A profile changes every instance that uses it.
- An export: `lxc import /backup/web1.tar.gz web1-restored`, compare, then swap names with `lxc move`.
- LXD itself: the database''s schema goes forward only. A change to a **lower** track is not supported; restore from a backup of
  `/var/snap/lxd/common/lxd` instead, which holds the database but not pools on devices of their own.

## Never without a person''s approval

- `lxc delete` (with `--force` above all), `lxc storage delete`, `lxc storage volume delete`, `lxc network delete`, `lxc project delete`, `lxc rebuild`.
- `lxc restore` and `lxc storage volume restore`, since they throw the present state away; `lxc publish --force`, which stops the instance.
- `lxc cluster evacuate`, `lxc cluster remove`, anything with `--force`, and `recover-from-quorum-loss`.
- `lxc exec` of a command that writes in an instance which the task does not name.
- `security.privileged=true`, `security.nesting=true`, `raw.*` keys and host disks in an instance: they weaken the border to the host.
', 'owner', 0, '2026-11-30 23:30:16.915454+00', true),
	('01a22ecb-7ace-758e-bd25-134eee1783d6', 1, 'openstack', '---
name: openstack
description: Operate OpenStack clouds (Sunbeam and charmed OpenStack above all) - servers, networks, volumes, images, quotas, hypervisor upkeep, upgrades and fault finding.
---

# OpenStack

## When to use

- Servers, networks, routers, floating addresses, volumes, images, projects or quotas of a cloud must be looked at or changed.
- A server ends in ERROR, can''t be reached, or "No valid host was found".
- A hypervisor must be emptied, a service is down, or the cloud itself is to be upgraded.

Work as a project''s user works unless the task needs an administrator. For the machines below see the skills juju, lxd and ceph:
charmed OpenStack is upgraded through Juju, its volumes often are Ceph''s.

Not for what a tool such as Terraform, Heat or Magnum made: change that there, else its next run undoes it. Not for what the guest''s own
system administrator owns. Commands are for 2024.1 (Caracal) and later with `python-openstackclient` and `osc-placement`.

## Credentials

- Use `clouds.yaml` and `--os-cloud NAME` (or `OS_CLOUD`), preferably with an application credential limited to one project:
  `openstack application credential create harvest --role member --expiration 2027-01-01T00:00:00`. It shows its secret once.
- Sunbeam gives one by `sunbeam cloud-config --admin --update` (writes `~/.config/openstack/clouds.yaml`) or `sunbeam openrc`, both of the administrator;
  charmed OpenStack keeps the administrator''s password with the leader of `keystone` (`leader-get admin_passwd` there): a person fetches it.
- A password or secret never goes into a command line, a log or a conversation.

## First look, changes nothing

1. `openstack token issue -f json -c user_id -c project_id -c expires` and `openstack project show ID` — who and where you are. Without `-c` it prints the token.
2. `openstack catalog list` — the services and their addresses.
3. `openstack compute service list`, `openstack network agent list`, `openstack volume service list` — good: State `up` (agents: Alive `:-)`); Status `disabled` was
   somebody''s decision, ask.
4. `openstack hypervisor list --long`; `openstack resource provider list`, `openstack resource provider inventory list ID` and
   `openstack resource provider usage show ID` — what placement counts, and of how much.
5. `openstack server list --all-projects --status ERROR --long` (administrator), else without `--all-projects`.
6. `openstack server show ID` — `fault`, host, addresses, flavor, `task_state`.
7. `openstack server event list ID`, then `openstack server event show ID REQUEST` — what was asked and where it failed; the request''s id finds it in every service''s log.
8. `openstack quota show --usage PROJECT` — limits and what is in use.
9. Of the deployment: `sunbeam cluster list` and `juju status -m openstack`, or of charmed OpenStack `juju status -m MODEL`.

## A server, from nothing

1. Image: `openstack image list --status active`; a new one: `openstack image create ubuntu-24.04 --file noble.img --disk-format qcow2 --container-format bare --property hw_disk_bus=virtio`.
   With Ceph behind use `raw` (`qemu-img convert -O raw`), so that clones cost nothing.
2. Network: `openstack network create app`, `openstack subnet create app-v4 --network app --subnet-range 10.10.0.0/24 --dns-nameserver 9.9.9.9`.
3. Way out: `openstack router create edge`, `openstack router set edge --external-gateway EXTERNAL`, `openstack router add subnet edge app-v4`.
4. Security group: `openstack security group create web`, `openstack security group rule create web --protocol tcp --dst-port 443 --remote-ip 0.0.0.0/0`;
   SSH from the addresses of administrators only.
5. Key: `openstack keypair create --public-key ~/.ssh/id_ed25519.pub ada`.
6. `openstack server create web1 --flavor m1.small --image ubuntu-24.04 --network app --key-name ada --security-group web --boot-from-volume 20 --wait`.
7. `openstack floating ip create EXTERNAL`, `openstack server add floating ip web1 ADDRESS`.
8. `openstack console log show web1 --lines 50` — until cloud-init says that it has finished; then SSH.

Several that must not share a host: `openstack server group create web --policy anti-affinity`, then `--server-group web` at each `server create`
(older clients: `--hint group=ID`).

## Volumes

- `openstack volume create data --size 50 --type TYPE`, `openstack server add volume web1 data`; inside it is `/dev/disk/by-id/virtio-<first 20 characters of its id>`.
- Grow: `openstack --os-volume-api-version 3.42 volume set data --size 80` (attached ones where the driver allows it), then partition and file system inside.
- `openstack volume snapshot create data-before --volume data --force` — of an attached one it is like a pulled plug: freeze the file system
  (`fsfreeze -f`, and `-u` afterwards) or stop the database first. `openstack volume backup create data --name data-1 --force` puts a copy elsewhere.

## Change a server

- Resize: `openstack server resize --flavor m1.large --wait web1` stops the server and ends in `VERIFY_RESIZE`; test, then
  `openstack server resize confirm web1` — or `openstack server resize revert web1`.
- Rebuild throws the root disk away. Rescue: `openstack server rescue web1`, repair, `openstack server unrescue web1`.
- Stop before delete: `openstack server stop`, look for a day, then remove.

## Empty a hypervisor for work

Sunbeam does the steps 1 to 3 itself, once the feature is on (`sunbeam enable maintenance`): `sunbeam cluster maintenance enable NODE --dry-run`,
then without, and afterwards `sunbeam cluster maintenance disable NODE`. Elsewhere:

1. `openstack compute service set --disable --disable-reason "memory, ticket 4711" HOST nova-compute`.
2. `openstack server list --all-projects --host HOST`.
3. Each: `openstack server migrate --live-migration --wait SERVER` (`--block-migration` with local disks); stopped ones `openstack server migrate --wait SERVER`, then
   `openstack server migration confirm SERVER`. `openstack server migration list --server SERVER` tells how far. Servers with PCI devices may not go live:
   plan a stop with their owners.
4. The list is empty; put the machine into maintenance in MAAS or Juju, respect Ceph''s `noout` where it also carries OSDs.
5. Afterwards all agents of the host are up, then `openstack compute service set --enable HOST nova-compute`, and try one server on it
   (`--availability-zone nova:HOST`, administrator).

A host that died: be sure that it is **off** (power management), else two copies write to one volume. Then
`openstack --os-compute-api-version 2.11 compute service set --down HOST nova-compute`, and for each of its servers
`openstack server evacuate SERVER --wait`. When the host is back, `--up` instead of `--down`, and only after its old copies are gone.

## Upgrade the cloud

1. Release notes of each version between. Step over a release only from one SLURP release (2024.1, 2025.1) to the next, and only where the deployment''s tool does it.
2. All services up, no migration or build under way, databases and the controller backed up (`juju run mysql-innodb-cluster/leader mysqldump` for charms; copy the dump away).
3. Sunbeam, new revisions of the same release: `sudo snap refresh openstack` on every node (with MAAS on the client alone), then `sunbeam cluster refresh k8s`,
   `sunbeam cluster refresh mysql`, where Vault is enabled `sunbeam cluster refresh vault`, and last `sunbeam cluster refresh`. It can''t go from one release track to another
   (2024.1 to 2025.1): ask what the documentation of your version says.
4. Charms: the charms'' own channels first, then the workload. `cou plan`, read it, then `cou upgrade` (charmed-openstack-upgrader) keeps the order: vault and rabbitmq-server,
   ceph-mon, keystone, cinder, glance, placement, nova-cloud-controller, openstack-dashboard, and last the data plane with
   nova-compute (hypervisors in batches, emptied before), ovn-central, neutron-api, ceph-osd. By hand `juju config APP openstack-origin=cloud:jammy-caracal` moves all units of an application at once;
   with `action-managed-upgrade=True` set before it waits for `juju run APP/N openstack-upgrade`, unit by unit.
5. After each step the checks below.

## Checks

- Every compute, network and volume service is `up`; `openstack hypervisor list` is complete.
- A probe goes the whole way: network, server with a volume, floating address, SSH, outward name resolution, then all of it is deleted.
- `nova-status upgrade check` and `placement-status upgrade check` on the control plane end with 0 (1 is a warning to read, 2 a failure).
- No new server is in ERROR, and none keeps a `task_state` for more than an hour.

## Signs of failure

| sign | usual cause | next step |
|---|---|---|
| "No valid host was found" | room, aggregate, trait, disabled services | scheduler''s log at the request''s id; `openstack allocation candidate list --resource VCPU=2 --resource MEMORY_MB=4096` |
| ERROR in "block device mapping" | Cinder or image too slow | `openstack volume show`, cinder-volume''s log; Ceph''s health |
| ERROR, "binding failed" | the agent of the host | `openstack network agent list --host HOST`, ovn-controller or neutron''s agent there |
| no address inside | DHCP or metadata | console log; `openstack port show`, its `binding_vif_type`; the OVN metadata agent |
| address, but not reachable | security group, router, MTU | rules first; then `openstack router show`, ping from the router''s side, MTU of tunnels |
| floating address silent | gateway chassis, provider network | on an OVN central unit `ovn-sbctl show` for who holds the router''s gateway port (`cr-lrp-…`); upstream VLAN |
| volume stuck in `attaching` or `deleting` | a lost message | its service''s log first; `openstack volume set --state` changes only the row |
| 401 or 403 all at once | token keys, clock, expired credential | `openstack token issue --debug`; keystone''s fernet keys equal on all units |
| 503 of a service | its API or the load balancer | `juju status`, haproxy''s log of the unit |
| RabbitMQ partition, messages grow | cluster split | `rabbitmqctl cluster_status` on every unit; repair by the charm''s guide |
| MySQL cluster without primary | all units restarted | `juju run mysql-innodb-cluster/leader reboot-cluster-from-complete-outage` |

## Rollback

- Resize: revert until it is confirmed. Security groups, routers, quotas: note `show -f json` before, set the old values again.
- A volume: `openstack --os-volume-api-version 3.40 volume revert SNAPSHOT`, detached, of the **last** snapshot alone; what was written since is lost. Else, and
  safer, a new volume from the snapshot (`openstack volume create --snapshot ID NAME`), exchanged for the old one.
- An image: `openstack image set --deactivate NEW` and use the old; running servers keep what they were made from.
- A service''s upgrade: databases move forward only; go back by restoring dump and version together, else repair forward.
- A deleted server: only from its volumes (those without "delete on termination"), snapshots or backups.

## Never without a person''s approval

- Deleting servers, volumes, snapshots, images, networks, routers, projects; `openstack project cleanup`; `server rebuild`; `volume revert`; `volume set --state`.
- Evacuation, `compute service set --down`, reset of states (`server set --state`), anything that changes other projects, `--force`.
- Upgrades, maintenance of a hypervisor, a reboot of the database''s cluster.
- Opening a security group to `0.0.0.0/0` for SSH, RDP or databases; changes of external networks and roles; showing of credentials.
', 'owner', 0, '2026-11-30 23:30:16.915454+00', true),
	('01a22ecb-8347-72a0-9345-4925a6dfd81e', 1, 'deploy', '---
name: deploy
description: How we deploy.
---
# Deploy

Ask first.', 'owner', 0, '2026-11-30 23:30:19.07941+00', false);


--
-- Data for Name: skills; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.skills VALUES
	('01a22ecb-7ace-74c8-b144-dd8869376bc3', NULL, 'canonical-k8s', 'Install, join, upgrade, back up and repair Canonical Kubernetes clusters (the k8s snap and its charms), and find out why workloads on them do not run.', 1, 'owner', '2026-11-30 23:30:16.915454+00', '2026-11-30 23:30:16.915454+00'),
	('01a22ecb-7ace-74f7-a309-60f3d3738ac2', NULL, 'ceph', 'Inspect, operate and repair Ceph clusters (monitors, OSDs, placement groups, pools, RBD, CephFS, RGW), deployed by cephadm, charms, MicroCeph or Rook.', 1, 'owner', '2026-11-30 23:30:16.915454+00', '2026-11-30 23:30:16.915454+00'),
	('01a22ecb-7ace-751f-8940-71cd029d91f0', NULL, 'juju', 'Deploy, scale, upgrade and repair applications modelled with Juju (controllers, models, charms, units, relations) on LXD, MAAS, OpenStack or Kubernetes.', 1, 'owner', '2026-11-30 23:30:16.915454+00', '2026-11-30 23:30:16.915454+00'),
	('01a22ecb-7ace-7543-bd86-2fd01544e72a', NULL, 'landscape', 'Administer Ubuntu machines through Landscape (registration, packages, updates, scripts, reboots, access, reports) and keep a self-hosted Landscape server running.', 1, 'owner', '2026-11-30 23:30:16.915454+00', '2026-11-30 23:30:16.915454+00'),
	('01a22ecb-7ace-7569-86c0-fde7440a2dda', NULL, 'lxd', 'Run, inspect, move, back up and repair LXD containers, virtual machines, storage pools, networks, projects and clusters.', 1, 'owner', '2026-11-30 23:30:16.915454+00', '2026-11-30 23:30:16.915454+00'),
	('01a22ecb-7ace-758e-bd25-134eee1783d6', NULL, 'openstack', 'Operate OpenStack clouds (Sunbeam and charmed OpenStack above all) - servers, networks, volumes, images, quotas, hypervisor upkeep, upgrades and fault finding.', 1, 'owner', '2026-11-30 23:30:16.915454+00', '2026-11-30 23:30:16.915454+00'),
	('01a22ecb-8347-72a0-9345-4925a6dfd81e', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 'deploy', 'How we deploy.', 1, 'owner', '2026-11-30 23:30:19.07941+00', '2026-11-30 23:30:19.07941+00');


--
-- Data for Name: source_blobs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.source_blobs OVERRIDING SYSTEM VALUE VALUES
	(1, '\x61cc78d4b0fc740194bf619bbdc8901228b7b5f8e9b90ca7b5baae0a12373cb9', 35, -2553478921108212481, '\x2590020612676f2d6d6f646578616d706c652e636f6d2f73616d706c6501020000000000000000', '\x0308000000', '\x28b52ffd04001901006d6f64756c65206578616d706c652e636f6d2f73616d706c650a0a676f20312e32360aaa5048dd', '2026-11-30 23:30:17.434516+00'),
	(2, '\xcee3ad64f02a2ff521c54a7267f83d7710033bc7d40c0a0ed325b783c709d914', 122, -2553478921108212481, '\x9001f08f09020605081306051320676f73616d706c65477265657466756e6374696f6e66756e63204772656574282920737472696e67737472696e67547769636566756e63205477696365282920737472696e673265376664336331666363636364383435653432303332616563346662383936010202030004050008080100060007000408000c0c0100060000000000000009', '\x2fb80305050d477265657463616c6c734772656574206772656574732e0202010000020c000002010000020c0000020300', '\x28b52ffd0400b50200a2c4101780c102d537f1fde91a4f985a7616f0ab240db1eb17d8881987a7053032da2c8c1d316e0af7ea80555bbacf42901a3c9278fbabf2fe5af89ccc33a7a0e72b9424e40205004d14190201964abaa586ab0df309cbb6629b', '2026-11-30 23:30:17.434516+00');


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
	('ingest/01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 4),
	('user/owner', 37),
	('project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 16),
	('command/01a22ecb-8b75-759f-8e56-0b912a1d6762', 3),
	('command/01a22ecb-8b90-7942-9dd7-ad960207455f', 0);


--
-- Data for Name: subjects; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.subjects VALUES
	('01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 'ingest/01a22ecb-7c4d-78d8-a94a-c87d39a6e503', 4, '2026-11-30 23:30:17.293599+00', '2026-11-30 23:30:17.484053+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 12, '2026-11-30 23:30:19.09098+00', '2026-11-30 23:30:19.26293+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 'user/owner', 12, '2026-11-30 23:30:17.491493+00', '2026-11-30 23:30:17.5848+00'),
	('project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 'project/01a22ecb-832d-7041-a21b-dae9ed8808ca', 4, '2026-11-30 23:30:19.082337+00', NULL),
	('01a22ecb-8b75-759f-8e56-0b912a1d6762', 'command/01a22ecb-8b75-759f-8e56-0b912a1d6762', 3, '2026-11-30 23:30:21.174424+00', '2026-11-30 23:30:21.191652+00'),
	('01a22ecb-8b90-7942-9dd7-ad960207455f', 'command/01a22ecb-8b90-7942-9dd7-ad960207455f', 0, '2026-11-30 23:30:21.201038+00', NULL),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 'user/owner', 11, '2026-11-30 23:30:17.594432+00', '2026-11-30 23:30:17.685095+00'),
	('01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', 'user/owner', 3, '2026-11-30 23:30:17.692938+00', '2026-11-30 23:30:17.753568+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 'user/owner', 11, '2026-11-30 23:30:17.762623+00', '2026-11-30 23:30:17.849516+00');


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
	('01a22ecb-7d13-7781-a286-050130c7f93a', 'm0', 'model', 0, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"calls":[{"id":"call-0-0","name":"search_symbols","local":true,"limit":2000000000},{"id":"call-0-1","name":"find_callers","local":true,"limit":2000000000}]}', 0, NULL, '2026-11-30 23:30:17.523168+00', '2026-11-30 23:30:17.528264+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 'classify', 'model', -1, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"intent":"research"}', 0, NULL, '2026-11-30 23:30:19.128194+00', '2026-11-30 23:30:19.129607+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 'call-0-1', 'tool', 0, 2, 'find_callers', '{"name": "Greet"}', true, false, 2000000000, 1, 0, 0, 'done', '{"text":"[sample:main:greet.go:6] in Twice (exact, defined at greet.go:6)\n    func Twice() string","preview":"1 caller"}', 0, NULL, '2026-11-30 23:30:17.528264+00', '2026-11-30 23:30:17.553482+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 'call-0-0', 'tool', 0, 1, 'search_symbols', '{"query": "Greet"}', true, false, 2000000000, 1, 0, 0, 'done', '{"text":"[sample:main:greet.go:4] function Greet (lines 4-4)\n    func Greet() string\n    // Greet greets.","preview":"1 symbol"}', 0, NULL, '2026-11-30 23:30:17.528264+00', '2026-11-30 23:30:17.557945+00'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 'm1', 'model', 1, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"reason":"answered"}', 0, NULL, '2026-11-30 23:30:17.567581+00', '2026-11-30 23:30:17.568778+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 'classify', 'model', -1, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"intent":"research"}', 0, NULL, '2026-11-30 23:30:17.611671+00', '2026-11-30 23:30:17.612785+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 'm0', 'model', 0, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"calls":[{"id":"call-0-0","name":"search_symbols","local":true,"limit":2000000000},{"id":"call-0-1","name":"find_callers","local":true,"limit":2000000000}]}', 0, NULL, '2026-11-30 23:30:17.64345+00', '2026-11-30 23:30:17.646394+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 'call-0-0', 'tool', 0, 1, 'search_symbols', '{"query": "Greet"}', true, false, 2000000000, 1, 0, 0, 'done', '{"text":"[sample:main:greet.go:4] function Greet (lines 4-4)\n    func Greet() string\n    // Greet greets.","preview":"1 symbol"}', 0, NULL, '2026-11-30 23:30:17.646394+00', '2026-11-30 23:30:17.661918+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 'call-0-1', 'tool', 0, 2, 'find_callers', '{"name": "Greet"}', true, false, 2000000000, 1, 0, 0, 'done', '{"text":"[sample:main:greet.go:6] in Twice (exact, defined at greet.go:6)\n    func Twice() string","preview":"1 caller"}', 0, NULL, '2026-11-30 23:30:17.646394+00', '2026-11-30 23:30:17.667057+00'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 'm1', 'model', 1, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"reason":"answered"}', 0, NULL, '2026-11-30 23:30:17.673709+00', '2026-11-30 23:30:17.674329+00'),
	('01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', 'classify', 'model', -1, 0, '', NULL, false, false, 0, 1, 0, 0, 'done', '{"intent":"research"}', 0, NULL, '2026-11-30 23:30:17.709079+00', '2026-11-30 23:30:17.709635+00'),
	('01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', 'm0', 'model', 0, 0, '', NULL, false, false, 0, 1, 1, 1, 'running', NULL, 0, NULL, '2026-11-30 23:30:17.740937+00', NULL),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 'm0', 'model', 0, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"calls":[{"id":"call-0-0","name":"search_symbols","local":true,"limit":2000000000},{"id":"call-0-1","name":"find_callers","local":true,"limit":2000000000}]}', 0, NULL, '2026-11-30 23:30:17.795812+00', '2026-11-30 23:30:17.803665+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 'm0', 'model', 0, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"calls":[{"id":"call-0-0","name":"save_secret","asks":true,"limit":30000000000,"expires":"2026-12-01T23:30:19.159Z"}]}', 0, NULL, '2026-11-30 23:30:19.156503+00', '2026-11-30 23:30:19.160088+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 'call-0-1', 'tool', 0, 2, 'find_callers', '{"name": "Greet"}', true, false, 2000000000, 1, 0, 0, 'done', '{"text":"[sample:main:greet.go:6] in Twice (exact, defined at greet.go:6)\n    func Twice() string","preview":"1 caller"}', 0, NULL, '2026-11-30 23:30:17.803665+00', '2026-11-30 23:30:17.816563+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 'call-0-0', 'tool', 0, 1, 'search_symbols', '{"query": "Greet"}', true, false, 2000000000, 1, 0, 0, 'done', '{"text":"[sample:main:greet.go:4] function Greet (lines 4-4)\n    func Greet() string\n    // Greet greets.","preview":"1 symbol"}', 0, NULL, '2026-11-30 23:30:17.803665+00', '2026-11-30 23:30:17.819949+00'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 'm1', 'model', 1, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"reason":"answered"}', 0, NULL, '2026-11-30 23:30:17.827459+00', '2026-11-30 23:30:17.828835+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 'call-0-0', 'tool', 0, 1, 'save_secret', '{"generate":true,"name":"API_TOKEN"}', false, true, 30000000000, 1, 0, 0, 'done', '{"text":"Saved API_TOKEN, version 2. Its handle is secret://API_TOKEN@2.","preview":"API_TOKEN, version 2"}', 0, NULL, '2026-11-30 23:30:19.160088+00', '2026-11-30 23:30:19.216299+00'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 'm1', 'model', 1, 0, 'scripted', NULL, false, false, 0, 1, 0, 0, 'done', '{"reason":"answered"}', 0, NULL, '2026-11-30 23:30:19.248251+00', '2026-11-30 23:30:19.249842+00');


--
-- Data for Name: turn_messages; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.turn_messages VALUES
	('01a22ecb-7d13-7781-a286-050130c7f93a', 0, '[{"type":"thinking","text":"Let me see."},{"type":"text","text":"I look."},{"type":"tool_use","call_id":"call-0-0","tool":"search_symbols","input":{"query":"Greet"}},{"type":"tool_use","call_id":"call-0-1","tool":"find_callers","input":{"name":"Greet"}}]'),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 1, '[{"type":"text","text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}]'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 0, '[{"type":"thinking","text":"Let me see."},{"type":"text","text":"I look."},{"type":"tool_use","call_id":"call-0-0","tool":"search_symbols","input":{"query":"Greet"}},{"type":"tool_use","call_id":"call-0-1","tool":"find_callers","input":{"name":"Greet"}}]'),
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 1, '[{"type":"text","text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}]'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 0, '[{"type":"thinking","text":"Let me see."},{"type":"text","text":"I look."},{"type":"tool_use","call_id":"call-0-0","tool":"search_symbols","input":{"query":"Greet"}},{"type":"tool_use","call_id":"call-0-1","tool":"find_callers","input":{"name":"Greet"}}]'),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 1, '[{"type":"text","text":"Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}]'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 0, '[{"type":"tool_use","call_id":"call-0-0","tool":"save_secret","input":{"generate":true,"name":"API_TOKEN"}}]'),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 1, '[{"type":"text","text":"There is a new token."}]');


--
-- Data for Name: turns; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.turns VALUES
	('01a22ecb-7d7a-73c9-a54d-e8a84ae784c0', 'owner', 'thread', '01a22ecb-7d7a-73ca-a11f-c90ef4c64fed', 'And who calls it?', '{}', '{}', '', '', 'done', 'answered', 'research', 'Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].', '[{"repo":"sample","version":"main","file":"greet.go","line":4,"symbol":"Greet","verified":true,"commit":"050f3082ed021a6d4bf89ee8ea429096ffcf0ffd"},{"repo":"sample","version":"main","file":"greet.go","line":400,"verified":false,"commit":"050f3082ed021a6d4bf89ee8ea429096ffcf0ffd"}]', NULL, 2, '{"provider_id":"scripted-0","kind":"scripted","model":"scripted"}', 660, 41, 0, 0, '', '', '', -1, NULL, '2026-11-30 23:30:17.605018+00', '2026-11-30 23:30:17.594432+00', '2026-11-30 23:30:17.605018+00', '2026-11-30 23:30:17.685095+00', NULL, 0, false, 0, NULL),
	('01a22ecb-7d13-7781-a286-050130c7f93a', 'owner', 'thread', '01a22ecb-7d13-7784-bb33-307cd53987db', 'Where is Greet?', '{}', '{}', '', '', 'done', 'answered', 'research', 'Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].', '[{"repo":"sample","version":"main","file":"greet.go","line":4,"symbol":"Greet","verified":true,"commit":"050f3082ed021a6d4bf89ee8ea429096ffcf0ffd"},{"repo":"sample","version":"main","file":"greet.go","line":400,"verified":false,"commit":"050f3082ed021a6d4bf89ee8ea429096ffcf0ffd"}]', NULL, 2, '{"provider_id":"scripted-0","kind":"scripted","model":"scripted"}', 540, 34, 0, 0, '', '', '', -1, NULL, '2026-11-30 23:30:17.513839+00', '2026-11-30 23:30:17.491493+00', '2026-11-30 23:30:17.513839+00', '2026-11-30 23:30:17.5848+00', NULL, 0, false, 0, NULL),
	('01a22ecb-7ddc-7cae-99c0-9f7956f8dc32', 'owner', 'thread', '01a22ecb-7ddc-7cb0-b1cf-ec85780c8471', 'What fails?', '{}', '{}', '', '', 'failed', 'failed', 'research', '', '[]', NULL, 0, NULL, 0, 0, 0, 0, 'upstream', 'no such key', '', -1, NULL, '2026-11-30 23:30:17.703454+00', '2026-11-30 23:30:17.692938+00', '2026-11-30 23:30:17.703454+00', '2026-11-30 23:30:17.753568+00', NULL, 0, false, 0, NULL),
	('01a22ecb-8352-7d40-88b1-75a5afe1e867', 'owner', '01a22ecb-834a-74e7-ac5a-44c16e6327cd', '01a22ecb-8352-7d42-a270-966f66d266df', 'Make a new token', '{}', '{}', '', '', 'done', 'answered', 'research', 'There is a new token.

*No evidence: this answer cites no source in the code that was read.*', '[]', NULL, 1, '{"provider_id":"scripted-0","kind":"scripted","model":"scripted"}', 1952, 36, 0, 0, '', '', '', -1, NULL, '2026-11-30 23:30:19.11341+00', '2026-11-30 23:30:19.09098+00', '2026-11-30 23:30:19.11341+00', '2026-11-30 23:30:19.26293+00', '01a22ecb-832d-7041-a21b-dae9ed8808ca', 2, false, 0, NULL),
	('01a22ecb-7e22-77c4-9cef-6d95d309d18f', 'owner', NULL, '01a22ecb-7e22-77c5-b194-39008371c551', 'What do the notes say?', '{}', '{}', '', '', 'done', 'answered', 'research', 'Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].', '[{"repo":"sample","version":"main","file":"greet.go","line":4,"symbol":"Greet","verified":true,"commit":"050f3082ed021a6d4bf89ee8ea429096ffcf0ffd"},{"repo":"sample","version":"main","file":"greet.go","line":400,"verified":false,"commit":"050f3082ed021a6d4bf89ee8ea429096ffcf0ffd"}]', NULL, 2, '{"provider_id":"scripted-0","kind":"scripted","model":"scripted"}', 420, 27, 0, 0, '', '', '', -1, NULL, '2026-11-30 23:30:17.782613+00', '2026-11-30 23:30:17.762623+00', '2026-11-30 23:30:17.782613+00', '2026-11-30 23:30:17.849516+00', NULL, 0, false, 0, NULL);


--
-- Data for Name: users; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.users VALUES
	('owner', NULL, 'owner', 'admin', 'owner', NULL, '', '', '', '2026-11-30 23:30:14.496036+00', NULL),
	('01a22ecb-8329-7831-ae1a-0addba2232c7', 'ada@example.com', 'Ada', 'admin', 'local', NULL, '', '', '', '2026-11-30 23:30:19.049568+00', NULL);


--
-- Data for Name: value_uses; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.value_uses VALUES
	('user/owner', '\x895e32afa39b4c6df72ccb220311f040602ecfe62defa60588042c93572ad842', '01a22ecb-7e22-77c5-b194-39008371c551');


--
-- Data for Name: version_files; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.version_files VALUES
	(60064385, 2, 2, ''),
	(60064385, 1, 1, '');


--
-- Data for Name: versions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.versions OVERRIDING SYSTEM VALUE VALUES
	(60064385, 1, 'main', '050f3082ed021a6d4bf89ee8ea429096ffcf0ffd', '2026-11-30 23:30:17+00', '2026-11-30 23:30:17.446317+00', true, 2, 2, 0, 0, 0, true);


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

SELECT pg_catalog.setval('public.versions_id_seq', 60064385, true);


--
-- Name: actions actions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.actions
    ADD CONSTRAINT actions_pkey PRIMARY KEY (id);


--
-- Name: actions actions_turn_id_call_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.actions
    ADD CONSTRAINT actions_turn_id_call_id_key UNIQUE (turn_id, call_id);


--
-- Name: agent_connections agent_connections_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agent_connections
    ADD CONSTRAINT agent_connections_pkey PRIMARY KEY (agent_id);


--
-- Name: agent_sessions agent_sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agent_sessions
    ADD CONSTRAINT agent_sessions_pkey PRIMARY KEY (id);


--
-- Name: agents agents_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_pkey PRIMARY KEY (id);


--
-- Name: agents agents_token_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_token_hash_key UNIQUE (token_hash);


--
-- Name: api_keys api_keys_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);


--
-- Name: api_keys api_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);


--
-- Name: artifact_renders artifact_renders_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifact_renders
    ADD CONSTRAINT artifact_renders_pkey PRIMARY KEY (artifact_id, version);


--
-- Name: artifact_versions artifact_versions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifact_versions
    ADD CONSTRAINT artifact_versions_pkey PRIMARY KEY (artifact_id, version);


--
-- Name: artifact_versions artifact_versions_write_key_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifact_versions
    ADD CONSTRAINT artifact_versions_write_key_key UNIQUE (write_key);


--
-- Name: artifacts artifacts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifacts
    ADD CONSTRAINT artifacts_pkey PRIMARY KEY (id);


--
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);


--
-- Name: budgets budgets_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.budgets
    ADD CONSTRAINT budgets_pkey PRIMARY KEY (user_id, day);


--
-- Name: command_outputs command_outputs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.command_outputs
    ADD CONSTRAINT command_outputs_pkey PRIMARY KEY (command_id);


--
-- Name: commands commands_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.commands
    ADD CONSTRAINT commands_pkey PRIMARY KEY (id);


--
-- Name: conversations conversations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (id);


--
-- Name: devices devices_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_pkey PRIMARY KEY (hash);


--
-- Name: devices devices_user_code_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_user_code_key UNIQUE (user_code);


--
-- Name: document_texts document_texts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.document_texts
    ADD CONSTRAINT document_texts_pkey PRIMARY KEY (owner, sha256);


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
-- Name: forward_visits forward_visits_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.forward_visits
    ADD CONSTRAINT forward_visits_pkey PRIMARY KEY (hash);


--
-- Name: graph_loads graph_loads_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.graph_loads
    ADD CONSTRAINT graph_loads_pkey PRIMARY KEY (id);


--
-- Name: graph_owner graph_owner_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.graph_owner
    ADD CONSTRAINT graph_owner_pkey PRIMARY KEY (one);


--
-- Name: graph_sweeps graph_sweeps_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.graph_sweeps
    ADD CONSTRAINT graph_sweeps_pkey PRIMARY KEY (id);


--
-- Name: groups groups_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.groups
    ADD CONSTRAINT groups_name_key UNIQUE (name);


--
-- Name: groups groups_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.groups
    ADD CONSTRAINT groups_pkey PRIMARY KEY (id);


--
-- Name: idempotency idempotency_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (user_id, key);


--
-- Name: identities identities_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (issuer, subject);


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
-- Name: install_tokens install_tokens_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.install_tokens
    ADD CONSTRAINT install_tokens_hash_key UNIQUE (hash);


--
-- Name: install_tokens install_tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.install_tokens
    ADD CONSTRAINT install_tokens_pkey PRIMARY KEY (id);


--
-- Name: large_values large_values_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.large_values
    ADD CONSTRAINT large_values_pkey PRIMARY KEY (owner, sha256);


--
-- Name: lxd_identity lxd_identity_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.lxd_identity
    ADD CONSTRAINT lxd_identity_pkey PRIMARY KEY (one);


--
-- Name: lxd_servers lxd_servers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.lxd_servers
    ADD CONSTRAINT lxd_servers_pkey PRIMARY KEY (endpoint);


--
-- Name: memberships memberships_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (group_id, user_id);


--
-- Name: memories memories_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_pkey PRIMARY KEY (id);


--
-- Name: memories memories_write_key_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_write_key_key UNIQUE (write_key);


--
-- Name: messages messages_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);


--
-- Name: port_forwards port_forwards_agent_id_route_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.port_forwards
    ADD CONSTRAINT port_forwards_agent_id_route_name_key UNIQUE (agent_id, route_name);


--
-- Name: port_forwards port_forwards_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.port_forwards
    ADD CONSTRAINT port_forwards_pkey PRIMARY KEY (id);


--
-- Name: presence presence_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.presence
    ADD CONSTRAINT presence_pkey PRIMARY KEY (id);


--
-- Name: processes processes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.processes
    ADD CONSTRAINT processes_pkey PRIMARY KEY (id);


--
-- Name: project_settings project_settings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.project_settings
    ADD CONSTRAINT project_settings_pkey PRIMARY KEY (project_id);


--
-- Name: projects projects_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (id);


--
-- Name: provisions provisions_instance_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.provisions
    ADD CONSTRAINT provisions_instance_key UNIQUE (instance);


--
-- Name: provisions provisions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.provisions
    ADD CONSTRAINT provisions_pkey PRIMARY KEY (id);


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
-- Name: secret_generations secret_generations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_generations
    ADD CONSTRAINT secret_generations_pkey PRIMARY KEY (project_id);


--
-- Name: secret_offers secret_offers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_offers
    ADD CONSTRAINT secret_offers_pkey PRIMARY KEY (turn_id, call_id);


--
-- Name: secret_versions secret_versions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_versions
    ADD CONSTRAINT secret_versions_pkey PRIMARY KEY (project_id, name, version);


--
-- Name: secret_versions secret_versions_write_key_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_versions
    ADD CONSTRAINT secret_versions_write_key_key UNIQUE (write_key);


--
-- Name: secrets secrets_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secrets
    ADD CONSTRAINT secrets_pkey PRIMARY KEY (project_id, name);


--
-- Name: sessions sessions_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_hash_key UNIQUE (hash);


--
-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);


--
-- Name: sign_in_attempts sign_in_attempts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sign_in_attempts
    ADD CONSTRAINT sign_in_attempts_pkey PRIMARY KEY (subject);


--
-- Name: skill_seeds skill_seeds_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.skill_seeds
    ADD CONSTRAINT skill_seeds_pkey PRIMARY KEY (name);


--
-- Name: skill_versions skill_versions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.skill_versions
    ADD CONSTRAINT skill_versions_pkey PRIMARY KEY (skill_id, version);


--
-- Name: skills skills_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.skills
    ADD CONSTRAINT skills_pkey PRIMARY KEY (id);


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
-- Name: users users_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);


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
-- Name: actions_alone; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX actions_alone ON public.actions USING btree (id) WHERE ((turn_id = ''::text) AND (ended_at IS NULL));


--
-- Name: actions_conversation; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX actions_conversation ON public.actions USING btree (conversation_id, id);


--
-- Name: actions_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX actions_project ON public.actions USING btree (project_id, id) WHERE (project_id IS NOT NULL);


--
-- Name: actions_requester; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX actions_requester ON public.actions USING btree (requester, id) WHERE (project_id IS NULL);


--
-- Name: actions_status; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX actions_status ON public.actions USING btree (project_id, status, id);


--
-- Name: actions_untold; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX actions_untold ON public.actions USING btree (decided_at) WHERE ((decided_at IS NOT NULL) AND (told_at IS NULL));


--
-- Name: agent_sessions_process; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX agent_sessions_process ON public.agent_sessions USING btree (process_id);


--
-- Name: agents_machine; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX agents_machine ON public.agents USING btree (project_id, machine) WHERE (machine <> ''::text);


--
-- Name: agents_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX agents_project ON public.agents USING btree (project_id, created_at);


--
-- Name: api_keys_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX api_keys_user ON public.api_keys USING btree (user_id, created_at);


--
-- Name: artifact_renders_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX artifact_renders_open ON public.artifact_renders USING btree (created_at) WHERE ((body IS NULL) AND (fault = ''::text));


--
-- Name: artifacts_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX artifacts_project ON public.artifacts USING btree (project_id, updated_at DESC);


--
-- Name: audit_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_at ON public.audit USING btree (at DESC, id DESC);


--
-- Name: audit_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_project ON public.audit USING btree (project_id, at DESC) WHERE (project_id <> ''::text);


--
-- Name: audit_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_user ON public.audit USING btree (user_id, at DESC);


--
-- Name: commands_agent; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX commands_agent ON public.commands USING btree (agent_id, created_at DESC);


--
-- Name: commands_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX commands_due ON public.commands USING btree (COALESCE(result_by, deliver_by)) WHERE ((ended_at IS NULL) AND (status <> 'pending'::text));


--
-- Name: commands_ended; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX commands_ended ON public.commands USING btree (ended_at) WHERE (ended_at IS NOT NULL);


--
-- Name: commands_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX commands_open ON public.commands USING btree (agent_id) WHERE (ended_at IS NULL);


--
-- Name: commands_pending; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX commands_pending ON public.commands USING btree (created_at) WHERE (status = 'pending'::text);


--
-- Name: commands_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX commands_project ON public.commands USING btree (project_id, created_at DESC);


--
-- Name: commands_unstarted; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX commands_unstarted ON public.commands USING btree (created_at) WHERE ((ended_at IS NULL) AND (launched_at IS NULL));


--
-- Name: commands_untold; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX commands_untold ON public.commands USING btree (ended_at) WHERE ((ended_at IS NOT NULL) AND (told_at IS NULL));


--
-- Name: conversations_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX conversations_project ON public.conversations USING btree (project_id, updated_at DESC) WHERE (project_id IS NOT NULL);


--
-- Name: conversations_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX conversations_user ON public.conversations USING btree (user_id, updated_at DESC);


--
-- Name: conversations_words; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX conversations_words ON public.conversations USING gin (to_tsvector('simple'::regconfig, public.plain_text(title)));


--
-- Name: devices_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX devices_expiry ON public.devices USING btree (expires_at);


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
-- Name: forward_visits_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX forward_visits_expiry ON public.forward_visits USING btree (expires_at);


--
-- Name: forward_visits_forward; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX forward_visits_forward ON public.forward_visits USING btree (forward_id);


--
-- Name: forward_visits_session; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX forward_visits_session ON public.forward_visits USING btree (session_id);


--
-- Name: idempotency_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotency_age ON public.idempotency USING btree (created_at);


--
-- Name: identities_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX identities_user ON public.identities USING btree (user_id);


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
-- Name: install_tokens_expired; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX install_tokens_expired ON public.install_tokens USING btree (expires_at);


--
-- Name: install_tokens_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX install_tokens_project ON public.install_tokens USING btree (project_id);


--
-- Name: large_values_unused; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX large_values_unused ON public.large_values USING btree (unused_since) WHERE (unused_since IS NOT NULL);


--
-- Name: memberships_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX memberships_user ON public.memberships USING btree (user_id);


--
-- Name: memories_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX memories_project ON public.memories USING btree (project_id, updated_at DESC);


--
-- Name: memories_search; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX memories_search ON public.memories USING gin (search);


--
-- Name: messages_conversation; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX messages_conversation ON public.messages USING btree (conversation_id);


--
-- Name: messages_parent; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX messages_parent ON public.messages USING btree (parent_id);


--
-- Name: messages_words; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX messages_words ON public.messages USING gin (words);


--
-- Name: performed_act; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX performed_act ON public.performed USING btree (act);


--
-- Name: performed_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX performed_at ON public.performed USING btree (at);


--
-- Name: performed_by; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX performed_by ON public.performed USING btree (user_id, hash, at);


--
-- Name: presence_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX presence_project ON public.presence USING btree (project_id);


--
-- Name: projects_group; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX projects_group ON public.projects USING btree (group_id);


--
-- Name: provisions_key; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX provisions_key ON public.provisions USING btree (project_id, user_id, key) WHERE (key <> ''::text);


--
-- Name: provisions_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX provisions_open ON public.provisions USING btree (created_at) WHERE (ended_at IS NULL);


--
-- Name: provisions_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX provisions_project ON public.provisions USING btree (project_id, created_at DESC);


--
-- Name: resolutions_file; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX resolutions_file ON public.resolutions USING btree (file_id);


--
-- Name: resolutions_identity; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX resolutions_identity ON public.resolutions USING btree (key, file_id);


--
-- Name: secret_versions_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX secret_versions_key ON public.secret_versions USING btree (key);


--
-- Name: sessions_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_expiry ON public.sessions USING btree (expires_at);


--
-- Name: sessions_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_user ON public.sessions USING btree (user_id);


--
-- Name: sign_in_attempts_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sign_in_attempts_age ON public.sign_in_attempts USING btree (began_at);


--
-- Name: skills_name; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX skills_name ON public.skills USING btree (COALESCE(project_id, ''::text), name);


--
-- Name: skills_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX skills_project ON public.skills USING btree (project_id) WHERE (project_id IS NOT NULL);


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
-- Name: turns_afterword; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX turns_afterword ON public.turns USING btree (ended_at) WHERE afterword_due;


--
-- Name: turns_conversation; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX turns_conversation ON public.turns USING btree (conversation_id, created_at);


--
-- Name: turns_feed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX turns_feed ON public.turns USING btree (project_id, feed_seq) WHERE (project_id IS NOT NULL);


--
-- Name: turns_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX turns_open ON public.turns USING btree (created_at) WHERE (ended_at IS NULL);


--
-- Name: turns_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX turns_project ON public.turns USING btree (project_id, created_at DESC) WHERE (project_id IS NOT NULL);


--
-- Name: turns_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX turns_user ON public.turns USING btree (user_id, created_at DESC);


--
-- Name: users_email; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX users_email ON public.users USING btree (lower(email));


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
-- Name: actions actions_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.actions
    ADD CONSTRAINT actions_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


--
-- Name: agent_connections agent_connections_agent_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agent_connections
    ADD CONSTRAINT agent_connections_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id) ON DELETE CASCADE;


--
-- Name: agent_sessions agent_sessions_agent_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agent_sessions
    ADD CONSTRAINT agent_sessions_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id) ON DELETE CASCADE;


--
-- Name: agents agents_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


--
-- Name: api_keys api_keys_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: artifact_renders artifact_renders_artifact_id_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifact_renders
    ADD CONSTRAINT artifact_renders_artifact_id_version_fkey FOREIGN KEY (artifact_id, version) REFERENCES public.artifact_versions(artifact_id, version) ON DELETE CASCADE;


--
-- Name: artifact_versions artifact_versions_artifact_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifact_versions
    ADD CONSTRAINT artifact_versions_artifact_id_fkey FOREIGN KEY (artifact_id) REFERENCES public.artifacts(id) ON DELETE CASCADE;


--
-- Name: artifacts artifacts_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifacts
    ADD CONSTRAINT artifacts_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


--
-- Name: command_outputs command_outputs_command_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.command_outputs
    ADD CONSTRAINT command_outputs_command_id_fkey FOREIGN KEY (command_id) REFERENCES public.commands(id) ON DELETE CASCADE;


--
-- Name: commands commands_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.commands
    ADD CONSTRAINT commands_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


--
-- Name: conversations conversations_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


--
-- Name: devices devices_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: document_texts document_texts_owner_sha256_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.document_texts
    ADD CONSTRAINT document_texts_owner_sha256_fkey FOREIGN KEY (owner, sha256) REFERENCES public.large_values(owner, sha256) ON DELETE CASCADE;


--
-- Name: endings endings_subject_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.endings
    ADD CONSTRAINT endings_subject_id_fkey FOREIGN KEY (subject_id) REFERENCES public.subjects(id) ON DELETE CASCADE;


--
-- Name: forward_visits forward_visits_forward_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.forward_visits
    ADD CONSTRAINT forward_visits_forward_id_fkey FOREIGN KEY (forward_id) REFERENCES public.port_forwards(id) ON DELETE CASCADE;


--
-- Name: forward_visits forward_visits_session_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.forward_visits
    ADD CONSTRAINT forward_visits_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(id) ON DELETE CASCADE;


--
-- Name: graph_loads graph_loads_repo_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.graph_loads
    ADD CONSTRAINT graph_loads_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES public.repositories(id) ON DELETE CASCADE;


--
-- Name: identities identities_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: ingest_versions ingest_versions_ingest_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ingest_versions
    ADD CONSTRAINT ingest_versions_ingest_id_fkey FOREIGN KEY (ingest_id) REFERENCES public.ingests(id) ON DELETE CASCADE;


--
-- Name: install_tokens install_tokens_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.install_tokens
    ADD CONSTRAINT install_tokens_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


--
-- Name: memberships memberships_group_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.groups(id) ON DELETE CASCADE;


--
-- Name: memberships memberships_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: memories memories_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


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
-- Name: port_forwards port_forwards_agent_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.port_forwards
    ADD CONSTRAINT port_forwards_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id) ON DELETE CASCADE;


--
-- Name: project_settings project_settings_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.project_settings
    ADD CONSTRAINT project_settings_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


--
-- Name: projects projects_created_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id);


--
-- Name: projects projects_group_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.groups(id) ON DELETE SET NULL;


--
-- Name: provisions provisions_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.provisions
    ADD CONSTRAINT provisions_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


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
-- Name: secret_generations secret_generations_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_generations
    ADD CONSTRAINT secret_generations_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


--
-- Name: secret_offers secret_offers_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_offers
    ADD CONSTRAINT secret_offers_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


--
-- Name: secret_versions secret_versions_project_id_name_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_versions
    ADD CONSTRAINT secret_versions_project_id_name_fkey FOREIGN KEY (project_id, name) REFERENCES public.secrets(project_id, name) ON DELETE CASCADE;


--
-- Name: secrets secrets_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secrets
    ADD CONSTRAINT secrets_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


--
-- Name: sessions sessions_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: skill_versions skill_versions_skill_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.skill_versions
    ADD CONSTRAINT skill_versions_skill_id_fkey FOREIGN KEY (skill_id) REFERENCES public.skills(id) ON DELETE CASCADE;


--
-- Name: skills skills_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.skills
    ADD CONSTRAINT skills_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


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
-- Name: turns turns_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;


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


