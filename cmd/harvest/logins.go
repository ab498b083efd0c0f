package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/harvest-engine/harvest/internal/domain"
)

// configVariable names the folder of the user's configuration, as other programs have it.
const configVariable = "XDG_CONFIG_HOME"

// login is a key for a server.
type login struct {
	Key string `json:"key"`
	ID  string `json:"id,omitempty"` // "" for a key that was given, which is not ours to end
}

// logins are the keys that harvest login keeps.
type logins struct {
	Current string           `json:"current"` // the server in use; "" for none
	Servers map[string]login `json:"servers"` // by address
}

// loginFile is where the keys of the user are.
func (p *program) loginFile() (string, error) {
	dir, _ := p.env(configVariable)
	if dir == "" {
		home, _ := p.env("HOME")
		if home == "" {
			return "", domain.Errorf(domain.CodeInvalid, "HOME is not set; set it, or %s", configVariable)
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "harvest", "logins.json"), nil
}

// readLogins reads the keys; there need be none.
func readLogins(file string) (logins, error) {
	kept := logins{Servers: map[string]login{}}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return kept, fmt.Errorf("read the logins: %w", err)
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		return kept, domain.Wrap(domain.CodeInvalid, err, "%s can't be read; remove it, and log in again", file)
	}
	if kept.Servers == nil {
		kept.Servers = map[string]login{}
	}
	return kept, nil
}

// write keeps the keys for the user's eyes alone.
func (l logins) write(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	return replaceFile(file, append(text, '\n'))
}

// keptKey gives the key of a login to a server; base "" is the server in use.
func (p *program) keptKey(base string) (address, key string, ok bool) {
	file, err := p.loginFile()
	if err != nil {
		return "", "", false
	}
	kept, err := readLogins(file)
	if err != nil {
		return "", "", false
	}
	if base == "" {
		base = kept.Current
	}
	if trimmed, err := serverAddress(base); err == nil {
		base = trimmed
	}
	entry, ok := kept.Servers[base]
	return base, entry.Key, ok
}
