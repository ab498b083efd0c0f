package config

import (
	"fmt"
	"io"
	"net/url"
	"strings"
)

const redacted = "[secret]"

// Secret is a value that never shows when it is printed, logged or marshalled. It is kept
// behind a pointer: fmt passes a type's methods by when a verb does not fit a pointer.
type Secret struct{ value *string }

// NewSecret wraps a value; "" is the same as the zero Secret.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value}
}

// Reveal gives the value itself.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Empty reports whether there is no value.
func (s Secret) Empty() bool { return s.value == nil }

// Equal reports whether both hold the same value.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String gives a placeholder, or "" where there is no value.
func (s Secret) String() string {
	if s.Empty() {
		return ""
	}
	return redacted
}

// Format prints the placeholder whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText gives the placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Address is a URL, an scp-like git address or a path. A password or token in it does not
// show when it is printed, logged or marshalled.
type Address string

// Reveal gives the address with its credentials.
func (a Address) Reveal() string { return string(a) }

// String gives the address without its credentials.
func (a Address) String() string {
	scheme, rest, ok := strings.Cut(string(a), "://")
	if !ok || !strings.Contains(rest, "@") {
		return string(a)
	}
	u, err := url.Parse(string(a))
	if err != nil {
		return scheme + "://" + redacted
	}
	if !secretUser(u) {
		return string(a)
	}
	u.User = url.User("redacted")
	return u.String()
}

// HoldsCredentials reports whether the address holds a password, or a user name that may be
// a token.
func (a Address) HoldsCredentials() bool {
	_, rest, ok := strings.Cut(string(a), "://")
	if !ok || !strings.Contains(rest, "@") {
		return false
	}
	u, err := url.Parse(string(a))
	return err != nil || secretUser(u)
}

// secretUser reports whether an address holds a secret before its "@": over http a user name
// alone may be a token.
func secretUser(u *url.URL) bool {
	_, password := u.User.Password()
	return password || u.User != nil && (u.Scheme == "http" || u.Scheme == "https")
}

// Format prints the address without its password whatever the verb.
func (a Address) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, a.String()) }

// MarshalText gives the address without its password.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }
