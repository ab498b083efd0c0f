package domain

import (
	"fmt"
	"io"
)

// Credentials open a private repository. The zero value is none. They never show when they
// are printed or marshalled: whoever stores them seals the fields by name.
type Credentials struct {
	Token  string // for https: a personal access token or password
	SSHKey string // for ssh: a private key without passphrase, as text
}

// Empty reports whether there are no credentials.
func (c Credentials) Empty() bool { return c == Credentials{} }

// Format prints what kinds there are, whatever the verb.
func (c Credentials) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, fmt.Sprintf("credentials(token %t, ssh key %t)", c.Token != "", c.SSHKey != ""))
}

// MarshalText gives a placeholder.
func (c Credentials) MarshalText() ([]byte, error) { return []byte(fmt.Sprint(c)), nil }
