package settings

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Replace writes a file so that at any moment, a loss of power included, there is the old
// one or the new one, whole.
func Replace(path string, content []byte, mode os.FileMode) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a link stays one
	}
	folder := filepath.Dir(path)
	file, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // no more there where all went well
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncFolder(folder)
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

// Machine gives the id of this machine, which is made at the first call and kept in the
// state folder.
func Machine(stateDir string) (string, error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return "", fmt.Errorf("make the state folder: %w", err)
	}
	path := filepath.Join(stateDir, "machine")
	text, err := os.ReadFile(path)
	if id := strings.TrimSpace(string(text)); err == nil && id != "" {
		return id, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the id of this machine: %w", err)
	}
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails
	id := hex.EncodeToString(random)
	if err := Replace(path, []byte(id+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("store the id of this machine: %w", err)
	}
	return id, nil
}

// Boot names the current run of the machine; it is empty where the system does not say.
func Boot() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
