package domain

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// redacted stands where a value would.
const redacted = "[secret]"

// SecretValue is a secret's value. It never shows when it is printed, logged or marshalled. It
// is kept behind a pointer: fmt passes a type's methods by when a verb does not fit a pointer.
type SecretValue struct{ value *string }

// NewSecretValue wraps a value; "" is the same as the zero SecretValue.
func NewSecretValue(value string) SecretValue {
	if value == "" {
		return SecretValue{}
	}
	return SecretValue{&value}
}

// Reveal gives the value itself.
func (v SecretValue) Reveal() string {
	if v.value == nil {
		return ""
	}
	return *v.value
}

// Empty reports whether there is no value.
func (v SecretValue) Empty() bool { return v.value == nil }

// String gives a placeholder, also for no value: not even that is told.
func (v SecretValue) String() string { return redacted }

// Format prints the placeholder whatever the verb.
func (v SecretValue) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText gives the placeholder.
func (v SecretValue) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText takes the value that somebody sends.
func (v *SecretValue) UnmarshalText(text []byte) error {
	*v = NewSecretValue(string(text))
	return nil
}

// Check judges a value that is to be kept. Errors, which never hold anything of it: invalid
// for one that is too short, not UTF-8 or has a NUL, which no environment can hold; too_large.
func (v SecretValue) Check() error {
	text := v.Reveal()
	switch {
	case len(text) > MaxSecretValue:
		return &Error{Code: CodeTooLarge, Field: "value", Message: fmt.Sprintf("a secret's value may have at most %d bytes", MaxSecretValue)}
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return Invalid("value", "must be UTF-8 without NUL; keep what is neither as base64")
	case len(strings.TrimSpace(text)) < MinSecretValue:
		return Invalid("value", "must have at least %d bytes: a shorter one is guessed, and can't be told from ordinary text where it has to be hidden", MinSecretValue)
	}
	return nil
}
