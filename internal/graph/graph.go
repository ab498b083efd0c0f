// Package graph declares the code graph: what ingestion writes and what tools and the API
// read. Two backends implement it, Postgres (graph/pg) and Neo4j (graph/neo4j), and one
// suite (graph/graphtest) judges both.
//
// Sources (blobs, facts, file texts, versions) always live in Postgres; a Backend holds
// symbols and edges for traversal.
package graph

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// BlobID is the hex SHA-256 of how a content is read (its language, the kind of manifest that
// it is or the reason for which it is skipped, and the versions of what reads it) and of its
// bytes: the same content read in the same way is parsed once, ever.
type BlobID string

// ResolvedID is a hex hash from which a file's edges follow: of its path, its blob, what its
// references mean by the declarations of the repository, and what a type checker would see.
// Files of one repository with one ResolvedID have the same edges.
type ResolvedID string

// Blob is a distinct content with what parsing it told.
type Blob struct {
	ID    BlobID
	Text  []byte // nil for binary, oversized and generated files
	Size  int64
	Facts domain.FileFacts
}

// VersionFile is a file of a version.
type VersionFile struct {
	Path     string
	Blob     BlobID
	Resolved ResolvedID // "" where the graph is kept elsewhere and shares no edges
	Language string
	Skipped  string // "", "binary", "oversized" or "generated"
}

// ResolvedFile is a file's edges.
type ResolvedFile struct {
	ID    ResolvedID
	Path  string
	Blob  BlobID
	Facts *domain.FileFacts // of the blob, whole
	Edges []domain.Edge
}

// VersionSpec names a version that is about to be loaded.
type VersionSpec struct {
	Repo        string
	Tag         string
	Commit      string
	CommittedAt int64 // Unix seconds; 0 where unknown
}

// Sources keeps repositories, versions and file contents.
type Sources interface {
	// SaveRepository inserts or updates by name and gives the id.
	SaveRepository(ctx context.Context, repo domain.Repository) (int64, error)
	// Repositories lists by name, with whole versions only.
	Repositories(ctx context.Context) ([]domain.Repository, error)
	// Repository gives one repository, or not_found.
	Repository(ctx context.Context, name string) (domain.Repository, error)
	// DeleteRepository removes a repository with its versions, and blobs that no other uses.
	DeleteRepository(ctx context.Context, name string) error
	// Version gives a whole version, or not_found that lists what there is.
	Version(ctx context.Context, repo, tag string) (domain.VersionDetail, error)
	// NoteRef records the commit at which a ref was last seen, for staleness.
	NoteRef(ctx context.Context, repo, tag, commit string) error

	// MissingBlobs gives those of ids that are not stored yet, in their order.
	MissingBlobs(ctx context.Context, ids []BlobID) ([]BlobID, error)
	// PutBlobs stores blobs; one that is there already is left alone.
	PutBlobs(ctx context.Context, blobs []Blob) error
	// Facts loads the facts of blobs; unknown ids are absent from the map.
	Facts(ctx context.Context, ids []BlobID) (map[BlobID]*domain.FileFacts, error)
	// Outlines is Facts without References and without Doc texts: what other files can see.
	// It is read for every file of a version, so it must not read what it leaves out.
	Outlines(ctx context.Context, ids []BlobID) (map[BlobID]*domain.FileFacts, error)

	// ReadFile gives lines from..to (from 1, inclusive; to 0: the end) of a file's text and
	// its number of lines.
	ReadFile(ctx context.Context, at FileRef, from, to int) (text string, lines int, err error)
	// Files lists paths of a version that match a glob ("" for all), up to limit (0: all), in
	// order of path.
	Files(ctx context.Context, repo, version, glob string, limit int) ([]VersionFile, error)
	// SearchText finds lines in file texts: for words the best first, for an expression in the
	// order of versions (newest first), paths and lines.
	SearchText(ctx context.Context, q TextQuery) (TextPage, error)
}

// VersionRef names a version of a repository, or with an empty Version all that the repository has.
type VersionRef struct{ Repo, Version string }

// FileRef names a file of a version.
type FileRef struct{ Repo, Version, Path string }

// TextQuery searches the texts of files.
type TextQuery struct {
	Versions []VersionRef // where to look; empty: everywhere
	Pattern  string       // words, all of which a line's surroundings must hold, or an RE2 expression
	Regexp   bool
	PathGlob string // "" for all
	Limit    int    // most matches; bounded by the backend at 200
	Context  int    // lines around each match, at most 5
}

// TextMatch is a line that matches.
type TextMatch struct {
	FileRef
	Line   int
	Text   string // the line, cut at 400 bytes
	Before []string
	After  []string
	Score  float64 // of words: up to 1.7, higher is better; of an expression 0
}

// TextPage is the result of a text search.
type TextPage struct {
	Matches   []TextMatch
	Files     int  // whose texts the query covers
	Truncated bool // more matched than Limit, or TimedOut
	TimedOut  bool // the time for one search was up before every file was read
}

// Loader writes one version into a backend: it becomes visible whole, by Publish.
type Loader interface {
	// Missing gives those of ids whose edges the backend does not hold yet.
	Missing(ctx context.Context, ids []ResolvedID) ([]ResolvedID, error)
	// Put stores the symbols and edges of files. All files of the version with a Missing id
	// are given exactly once, in batches.
	Put(ctx context.Context, files []ResolvedFile) error
	// Publish makes the version, made of files, visible in place of the one before.
	// load gives the resolved files of ids for a backend that can't share them between versions.
	Publish(ctx context.Context, files []VersionFile, load func(ctx context.Context, ids []ResolvedID) ([]ResolvedFile, error)) (domain.VersionDetail, error)
	// Discard drops what was put, after a failure.
	Discard(ctx context.Context) error
}

// SymbolRef names symbols of a version: by file and name, or by name alone.
type SymbolRef struct {
	Repo, Version string
	File          string // "" for any
	Name          string // bare, "Receiver.name", or a Local of domain.SymbolKey
	Line          int    // 0, or any line inside the wanted symbol
}

// Hit is a symbol found in a version.
type Hit struct {
	Repo, Version, Path string
	Local               string // see domain.SymbolKey
	domain.Symbol
	Score float64 // of a search: up to 1, see TierScore; in an Outline: how often it is referenced
}

// Site is an edge seen from one end: the symbol at the other end and the place.
type Site struct {
	Hit  // the symbol at the other end; of an edge from file level a zero Symbol with Path set
	Kind domain.EdgeKind
	How  domain.How
	File string // where the edge's source text stands
	Line int
}

// SymbolQuery searches symbols by name.
type SymbolQuery struct {
	Text     string       // a name or a fragment; camel case and snake case parts match
	Versions []VersionRef // where to look; empty: everywhere
	Kind     string       // "", "any", "function", "class", or a domain.SymbolKind
	Limit    int          // at most 100
}

// Reader answers questions about whole versions. Unknown repositories and versions are
// not_found errors that list what there is; results are in a stable order.
type Reader interface {
	// SearchSymbols finds names by the text of q, the best match first; see Search and
	// TierScore. A symbol that several versions hold is given once, from the newest.
	SearchSymbols(ctx context.Context, q SymbolQuery) (hits []Hit, truncated bool, err error)
	// FileSymbols lists a file's symbols in order of position; not_found for an unknown file.
	FileSymbols(ctx context.Context, at FileRef) ([]Hit, error)
	// FindSymbols gives every symbol that ref may mean, best first; none is not an error.
	FindSymbols(ctx context.Context, ref SymbolRef) ([]Hit, error)
	// Callers gives the calls of the symbols that ref means; depth 1 is direct calls, at most 5.
	Callers(ctx context.Context, ref SymbolRef, depth, limit int) (sites []Site, truncated bool, err error)
	// Callees gives the calls that the symbols that ref means make, in the order of the source.
	Callees(ctx context.Context, ref SymbolRef, limit int) (sites []Site, truncated bool, err error)
	// References gives edges of every kind that end in the symbols that ref means.
	References(ctx context.Context, ref SymbolRef, limit int) (sites []Site, truncated bool, err error)
	// Imports lists a file's imports in order of position; not_found for an unknown file.
	Imports(ctx context.Context, at FileRef) ([]domain.Import, error)
	// Path gives the shortest chain of calls from one symbol to another, of at most maxDepth
	// edges (0: a default of 12, at most 30); each site is the callee with the place of its
	// call, the first has no place. No chain is no error.
	Path(ctx context.Context, from, to SymbolRef, maxDepth int) ([]Site, error)
	// Outline sums a version up: its languages, its largest folders, its most referenced symbols.
	Outline(ctx context.Context, repo, version string) (Outline, error)
	// Graph gives the whole symbol graph, trimmed to caps: class-like nodes are kept first,
	// calls and uses edges are dropped first.
	Graph(ctx context.Context, repo, version string, maxNodes, maxEdges int) (Picture, error)
}

// Outline sums a version up.
type Outline struct {
	Version   domain.VersionDetail
	Languages []Count // files per language
	Folders   []Folder
	Central   []Hit // the most referenced symbols
	Truncated bool
}

// Count is a number with a name.
type Count struct {
	Name string
	N    int
}

// Folder is a directory with what is in it, itself and below.
type Folder struct {
	Path           string
	Files, Symbols int
	Key            []string // names of its most referenced exported symbols
}

// Picture is the graph of a version as GET /graph gives it.
type Picture struct {
	Nodes      []Node
	Edges      []Link
	Truncated  bool
	TotalNodes int
}

// Node is a symbol of a Picture.
type Node struct {
	ID        string `json:"id"` // "file:local"
	Name      string `json:"name"`
	File      string `json:"file"`
	Kind      string `json:"kind"`
	StartLine int    `json:"start_line"`
	Signature string `json:"signature"`
}

// Link is an edge of a Picture.
type Link struct {
	ID       string `json:"id"` // "relation:source>target"
	Source   string `json:"source"`
	Target   string `json:"target"`
	Relation string `json:"relation"`
	How      string `json:"how,omitempty"`
}

// Backend is a graph database.
type Backend interface {
	Reader
	// Stage begins the load of a version.
	Stage(ctx context.Context, spec VersionSpec) (Loader, error)
	// DropRepository removes a repository's nodes.
	DropRepository(ctx context.Context, name string) error
	// Check reports whether the backend answers.
	Check(ctx context.Context) error
}

// Snapshot is a whole version under the id that it was published with: content that never
// changes, while a later reading of the same tag has another id.
type Snapshot struct {
	ID   int64
	Repo string
	Tag  string
}

// Snapshots is how a Backend other than that of the Sources takes part in publication: the
// Sources say which snapshot of a tag is live.
type Snapshots interface {
	// Owner is the id by which a Backend tells its own snapshots from those of other Sources.
	Owner(ctx context.Context) (string, error)
	// Snapshots gives the whole versions that a query covers, the newest first; none named
	// means all. A repository or version that does not exist is not_found.
	Snapshots(ctx context.Context, versions []VersionRef) ([]Snapshot, error)
	// Reserve gives the id under which a version will be published.
	Reserve(ctx context.Context, spec VersionSpec) (int64, error)
	// PublishAs makes the version, made of files and with the given number of symbols, the
	// live one of its tag.
	PublishAs(ctx context.Context, id int64, spec VersionSpec, files []VersionFile, symbols int) (domain.VersionDetail, error)
	// Texts loads the stored texts of blobs; those without one are absent from the map.
	Texts(ctx context.Context, ids []BlobID) (map[BlobID][]byte, error)
}

// Cypher runs read-only Cypher, where the backend speaks it.
type Cypher interface {
	// RunCypher gives rows as JSON, bounded in rows, bytes and time; a query that could
	// write or reach outside is forbidden.
	RunCypher(ctx context.Context, query string, params map[string]any) (CypherResult, error)
}

// CypherResult is a bounded table.
type CypherResult struct {
	Columns   []string
	Rows      [][]any
	Truncated bool
}
