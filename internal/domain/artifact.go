package domain

import "time"

// ArtifactKind says what an artifact's content is.
type ArtifactKind string

// The kinds of artifacts.
const (
	ArtifactMarkdown   ArtifactKind = "markdown"
	ArtifactPDF        ArtifactKind = "pdf"        // Markdown, which is rendered for downloads
	ArtifactTerraform  ArtifactKind = "terraform"  // a Bundle
	ArtifactTerragrunt ArtifactKind = "terragrunt" // a Bundle
	ArtifactContext    ArtifactKind = "context"    // text that a task is given to read
)

// Valid reports whether there is such a kind.
func (k ArtifactKind) Valid() bool {
	switch k {
	case ArtifactMarkdown, ArtifactPDF, ArtifactTerraform, ArtifactTerragrunt, ArtifactContext:
		return true
	}
	return false
}

// Bundle reports whether the content is a Bundle.
func (k ArtifactKind) Bundle() bool { return k == ArtifactTerraform || k == ArtifactTerragrunt }

// Artifact is a document or a bundle of files that a project keeps.
type Artifact struct {
	ID        string       `json:"id"`
	Title     string       `json:"title"`
	Kind      ArtifactKind `json:"kind"`              // never changes
	Content   string       `json:"content,omitempty"` // text, or a Bundle's JSON; left out in lists
	Version   int          `json:"version"`
	CreatedBy string       `json:"created_by"`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedAt time.Time    `json:"updated_at"`
	ProjectID string       `json:"project_id"`
}

// ArtifactChange is a new version of an artifact; nil leaves a part as it is.
type ArtifactChange struct {
	Title        *string
	Content      *string
	Version      int // the version that it builds on; 0 for whichever is the newest
	RestoredFrom int // the version that it repeats; 0 for none
	Author       Author
}

// Limits of an artifact.
const (
	MaxArtifactTitle = 200     // characters
	MaxArtifactBytes = 2 << 20 // of text, or of all files of a bundle together
	MaxBundleFiles   = 200
	MaxBundlePath    = 255 // bytes
)

// Download is an artifact as a file.
type Download struct {
	Name string // a file name, safe for any file system
	Type string // media type
	Body []byte
}

// Rendering is an order to render a version of an artifact as PDF.
type Rendering struct {
	ArtifactID string
	Version    int
	Title      string
	Content    string
	At         time.Time // when the version was written
	Attempt    int       // how often it was begun, this time included
}

// Rendered is what became of such an order.
type Rendered struct {
	Body  []byte // nil while there is none
	Fault string // why there will be none; "" otherwise
}
