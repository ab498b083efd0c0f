package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/embedded"
)

// The files that processes of one data folder share.
const (
	instanceFile = "instance.json"
	tokenFile    = "owner-token"
	keyFile      = "encryption-keys"
	sessionFile  = "session-secret"
)

// instance says where the running Harvest of a data folder is. Its file is for the owner's
// eyes alone.
type instance struct {
	PID        int       `json:"pid"`
	API        string    `json:"api"`         // http://127.0.0.1:8080
	TemporalUI string    `json:"temporal_ui"` // behind the API's sign-in; "" for none
	Temporal   string    `json:"temporal"`    // host:port
	Database   string    `json:"database"`    // with its password; "" where the environment names it
	Version    string    `json:"version"`
	StartedAt  time.Time `json:"started_at"`
}

func (i instance) write(dataDir string) error {
	text, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dataDir, instanceFile), append(text, '\n'))
}

func readInstance(dataDir string) (instance, error) {
	var i instance
	text, err := os.ReadFile(filepath.Join(dataDir, instanceFile))
	if errors.Is(err, fs.ErrNotExist) {
		if pid, ok := livingHolder(dataDir); ok {
			return i, domain.Errorf(domain.CodeUnavailable,
				"the harvest of the data folder %s (process %d) is still starting, or stopping; try again in a moment", dataDir, pid)
		}
		return i, domain.Errorf(domain.CodeUnavailable,
			"no harvest runs on the data folder %s; start it with: harvest up (or name another folder with --data-dir)", dataDir)
	}
	if err != nil {
		return i, fmt.Errorf("find the running harvest: %w", err)
	}
	if err := json.Unmarshal(text, &i); err != nil {
		return i, fmt.Errorf("read %s: %w", filepath.Join(dataDir, instanceFile), err)
	}
	return i, nil
}

// livingHolder gives another process that lives and took the data folder: before it has
// written where it is, and after it has taken that back, it is on its way.
func livingHolder(dataDir string) (pid int, ok bool) {
	pid, ok = embedded.LockHolder(dataDir)
	return pid, ok && pid != os.Getpid() && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// removeInstance is done at an orderly end; a killed process leaves the file behind, and
// its successor replaces it.
func removeInstance(dataDir string) { _ = os.Remove(filepath.Join(dataDir, instanceFile)) }

func readToken(dataDir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dataDir, tokenFile))
	if err != nil {
		return "", domain.Wrap(domain.CodeUnauthorized, err,
			"the owner token can't be read; run this as the user who started harvest, or name its data folder with --data-dir")
	}
	return strings.TrimSpace(string(text)), nil
}

// ownerToken reads the token of the data folder, and makes one where there is none.
func ownerToken(dataDir string) (string, error) { return ownSecret(dataDir, tokenFile, "owner token") }

// sessionSecret reads the secret of the data folder that signs sessions, and makes one where
// there is none.
func sessionSecret(dataDir string) (string, error) {
	return ownSecret(dataDir, sessionFile, "session secret")
}

// ownSecret reads a secret of the data folder, and makes one where there is none. It is for
// its owner's eyes alone.
func ownSecret(dataDir, file, what string) (string, error) {
	if err := os.MkdirAll(dataDir, 0o711); err != nil {
		return "", fmt.Errorf("make the data folder: %w", err)
	}
	path := filepath.Join(dataDir, file)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		token := rand.Text()
		return token, replaceFile(path, []byte(token+"\n"))
	}
	if err != nil {
		return "", fmt.Errorf("read the %s: %w", what, err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", domain.Errorf(domain.CodeForbidden, "%s is open to others (mode %04o); run: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", domain.Wrap(domain.CodeUnauthorized, err, "the %s can't be read; run this as the user who started harvest, or name its data folder with --data-dir", what)
	}
	return strings.TrimSpace(string(text)), nil
}

// replaceFile writes a private file so that readers see the old one or the new one, whole.
func replaceFile(path string, text []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(path), ".draft-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = draft.Write(text)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		_ = os.Remove(draft.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
