package domain

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Limits of secrets.
const (
	MinSecretValue    = 8        // bytes, blanks at the ends not counted: less can't be hidden in texts; see docs/decisions.md
	MaxSecretValue    = 64 << 10 // bytes
	MaxSecrets        = 200      // of a project
	MaxSecretVersions = 10       // kept of a secret, the newest
	MaxSecretBytes    = 2 << 20  // of all kept values of a project
)

// ToolSaveSecret is the tool whose actions take a value with their approval.
const ToolSaveSecret = "save_secret"

// Secret is what is known of a project's secret without its value.
type Secret struct {
	Name       string    `json:"name"`
	Version    int       `json:"version"`    // the newest, from 1
	Revealable bool      `json:"revealable"` // an admin permits that models see the value
	Author     string    `json:"author"`     // id of the person who gave the newest version
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"` // when the newest version was given

	ProjectID string `json:"-"`
}

// Ref names the newest version.
func (s Secret) Ref() SecretRef { return SecretRef{Name: s.Name, Version: s.Version} }

// SecretVersion is what is known of one version of a secret.
type SecretVersion struct {
	Version   int       `json:"version"`
	Author    string    `json:"author"`            // id of the person who gave it, or whose turn did
	TurnID    string    `json:"turn_id,omitempty"` // the turn that saved it; "" where a person did
	CreatedAt time.Time `json:"created_at"`
}

var secretName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]{0,127}$`)

// SecretName gives the name of a secret as it is kept, in upper case. What no environment
// variable could be called is invalid; the error does not repeat it, since it may be a value
// that somebody gave in the wrong place.
func SecretName(text string) (string, error) {
	name := strings.ToUpper(strings.TrimSpace(text))
	if !secretName.MatchString(name) {
		return "", Invalid("name", "must be 1 to 128 letters, digits and underscores, not a digit first")
	}
	return name, nil
}

// SecretScheme begins every handle.
const SecretScheme = "secret://"

// SecretRef names a version of a secret of the project at hand.
type SecretRef struct {
	Name    string
	Version int // 0: whichever is the newest
}

// Handle gives the text that stands for the value: "secret://NAME@VERSION".
func (r SecretRef) Handle() string {
	if r.Version == 0 {
		return SecretScheme + r.Name
	}
	return SecretScheme + r.Name + "@" + strconv.Itoa(r.Version)
}

// String gives the handle.
func (r SecretRef) String() string { return r.Handle() }

// HoldsHandle reports whether a text has what may be a handle in it.
func HoldsHandle(text string) bool { return strings.Contains(text, SecretScheme) }

// ParseHandle reads a text that is a handle and nothing else; one without a version means the
// newest. What only looks like a handle is invalid.
func ParseHandle(text string) (SecretRef, error) {
	rest, found := strings.CutPrefix(text, SecretScheme)
	name, version, pinned := strings.Cut(rest, "@")
	name, err := SecretName(name)
	if !found || err != nil {
		return SecretRef{}, Invalid("", "this is not the handle of a secret, such as %sNAME@1", SecretScheme)
	}
	ref := SecretRef{Name: name}
	if !pinned {
		return ref, nil
	}
	if ref.Version, err = strconv.Atoi(version); err != nil || ref.Version < 1 {
		return SecretRef{}, Invalid("", "the handle of the secret %s has no version after its @", name)
	}
	return ref, nil
}
