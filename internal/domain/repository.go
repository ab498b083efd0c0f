package domain

import "time"

// WorktreeVersion is the version name of a plain folder, or of a checkout with its uncommitted changes.
const WorktreeVersion = "worktree"

// Repository is a source of code that Harvest reads.
type Repository struct {
	ID       int64
	Name     string          // may hold "/"
	URL      string          // https, ssh or git address, or a local path
	Refs     []string        // the refs to read; empty: the default branch, or with Worktree none
	AllTags  bool            // read every tag as well
	Worktree bool            // read the folder as it lies, with uncommitted changes
	Watch    time.Duration   // how often to look for changes; 0: never
	Versions []VersionDetail // whole versions only
}

// VersionDetail describes a version that can be queried.
type VersionDetail struct {
	ID          int64      `json:"-"`
	Repo        string     `json:"-"`
	Tag         string     `json:"version"`
	Commit      string     `json:"commit,omitempty"` // "" for a plain folder
	CommittedAt *time.Time `json:"committed_at,omitempty"`
	IngestedAt  time.Time  `json:"ingested_at"`
	Stale       bool       `json:"stale"` // the ref was seen at another commit since
	Files       int        `json:"files"`
	Symbols     int        `json:"symbols"`
	Skipped     SkipCount  `json:"skipped"`
	// OtherGraph tells that its symbols and edges were put in another graph than the one in Postgres.
	OtherGraph bool `json:"-"`
}

// VersionRef is a version that a repository's source offers.
type VersionRef struct {
	Tag         string    // the version's name: a tag, a branch, or WorktreeVersion
	Commit      string    // "" for a plain folder, and for a ref that is not there
	CommittedAt time.Time // zero where unknown
}

// SkipCount counts the files that were recorded but not read, by reason.
type SkipCount struct {
	Oversized int `json:"oversized"`
	Binary    int `json:"binary"`
	Generated int `json:"generated"`
}

// WatchOff in an IngestRequest ends the watch of a repository.
const WatchOff time.Duration = -1

// IngestRequest asks for a repository to be read.
type IngestRequest struct {
	UserID   string
	Name     string // "": from the last element of the path or URL
	URL      string // address or local path; "" to read a known repository again
	Refs     []string
	AllTags  bool
	Worktree bool
	Watch    time.Duration // 0 leaves it as it was, WatchOff ends it
	AnyPath  bool          // the owner named it: a local path outside the configured roots is allowed
	// Credentials replace those that are kept for the repository; none leave them as they are.
	Credentials Credentials
}

// IngestStatus is the state of an ingestion.
type IngestStatus string

// The states of an ingestion.
const (
	IngestQueued   IngestStatus = "queued"
	IngestRunning  IngestStatus = "running"
	IngestDone     IngestStatus = "done"
	IngestFailed   IngestStatus = "failed"
	IngestCanceled IngestStatus = "canceled"
	IngestSkipped  IngestStatus = "skipped" // the schedule found the repository being read already
)

// Final reports whether s can change no more.
func (s IngestStatus) Final() bool { return s != IngestQueued && s != IngestRunning }

// IngestKind says what a run does with its repository.
type IngestKind string

// The kinds of runs. They share one lock per repository.
const (
	IngestRead   IngestKind = "read"
	IngestDelete IngestKind = "delete"
)

// Ingest is one run of reading a repository, or of deleting it.
type Ingest struct {
	ID         string           `json:"ingest_id"`
	Repository string           `json:"repository"`
	Kind       IngestKind       `json:"kind"`
	Status     IngestStatus     `json:"status"`
	Versions   []IngestProgress `json:"versions"`
	Error      string           `json:"error,omitempty"` // for people
	ErrorCode  Code             `json:"error_code,omitempty"`
	CreatedAt  time.Time        `json:"created_at"`
	EndedAt    *time.Time       `json:"ended_at,omitempty"`
}

// IngestOrder asks for a run on a repository.
type IngestOrder struct {
	ID         string // see NewID
	UserID     string
	Repository string
	Kind       IngestKind
	OnlyMoved  bool   // leave out versions that were read at their commit
	WorkflowID string // of the workflow that will do it
}

// OpenIngest is a run that has not ended, as those see it who start and tidy up.
type OpenIngest struct {
	IngestOrder
	Launched        bool // its workflow was started
	CancelRequested bool
	CreatedAt       time.Time
}

// VersionClaim is a version of a run as the one that reads it finds it.
type VersionClaim struct {
	VersionRef
	Attempt  int  // of this claim, from 1; writes of an earlier one are refused from now on
	Done     bool // it was read already; Progress says what
	Progress IngestProgress
}

// IngestProgress says how far the reading of one version is.
type IngestProgress struct {
	Repository string    `json:"repository"`
	Version    string    `json:"version,omitempty"` // "" while refs are fetched
	Phase      string    `json:"phase"`             // planned, then fetch, list, parse, resolve (and load), publish, done or failed
	FilesDone  int       `json:"files_done"`
	FilesTotal int       `json:"files_total"`
	BytesDone  int64     `json:"bytes_done"`
	BytesTotal int64     `json:"bytes_total"`
	Symbols    int       `json:"symbols,omitempty"`
	Edges      int       `json:"edges,omitempty"`
	Skipped    SkipCount `json:"skipped"`
	Reused     int       `json:"reused"`            // files whose blob had been parsed before
	Waiting    string    `json:"waiting,omitempty"` // why the step failed and will be tried again
	Error      string    `json:"error,omitempty"`
}
