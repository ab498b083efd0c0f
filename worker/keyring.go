package worker

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// keySize is the size of an AES-256 key, in bytes.
const keySize = 32

// Key is one encryption key of payloads.
type Key struct {
	ID     string // 1 to 64 letters, digits, "-", "_" or "."; it stands in clear beside each payload
	Secret []byte // 32 bytes
}

// Keyring is the keys of a deployment in order of age: the last one is active and encrypts,
// the others only decrypt what was written before. To rotate without a moment in which some
// process meets an unknown key, give every process the new key first, before the last one,
// and then move it to the end.
type Keyring []Key

// NewKey makes a key with a random secret and a random id.
func NewKey() Key {
	secret, id := make([]byte, keySize), make([]byte, 4)
	_, _ = rand.Read(secret) // crypto/rand.Read never returns an error
	_, _ = rand.Read(id)
	return Key{ID: "k" + hex.EncodeToString(id), Secret: secret}
}

// Fingerprint tells keys of one id apart without giving anything of the secret away.
func (k Key) Fingerprint() string {
	mac := hmac.New(sha256.New, k.Secret)
	mac.Write([]byte("harvest key fingerprint\x00" + k.ID))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// Active gives the id of the key that encrypts; "" where there is none.
func (k Keyring) Active() string {
	if len(k) == 0 {
		return ""
	}
	return k[len(k)-1].ID
}

// Fingerprints gives the fingerprint of each key by its id.
func (k Keyring) Fingerprints() map[string]string {
	prints := make(map[string]string, len(k))
	for _, key := range k {
		prints[key.ID] = key.Fingerprint()
	}
	return prints
}

// ParseKeyring reads the text form of a keyring: a line "id base64-of-32-bytes" per key,
// the active one last; empty lines and lines that begin with "#" are skipped.
// Errors name the line and never hold a secret.
func ParseKeyring(text string) (Keyring, error) {
	var keys Keyring
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, encoded, ok := strings.Cut(line, " ")
		if !ok {
			return nil, domain.Invalid("encryption keys", "line %d is not of the form \"id base64-secret\"", n)
		}
		secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
		if err != nil || len(secret) != keySize {
			return nil, domain.Invalid("encryption keys", "the secret in line %d is not %d bytes in base64", n, keySize)
		}
		keys = append(keys, Key{ID: id, Secret: secret})
	}
	if err := keys.check(); err != nil {
		return nil, err
	}
	return keys, nil
}

// String gives the text form that ParseKeyring reads. It holds the secrets.
func (k Keyring) String() string {
	var text strings.Builder
	for _, key := range k {
		fmt.Fprintf(&text, "%s %s\n", key.ID, base64.StdEncoding.EncodeToString(key.Secret))
	}
	return text.String()
}

func (k Keyring) check() error {
	if len(k) == 0 {
		return domain.Invalid("encryption keys", "there is no key; give at least one line \"id base64-secret\"")
	}
	seen := map[string]bool{}
	for _, key := range k {
		if !validKeyID(key.ID) {
			return domain.Invalid("encryption keys", "the key id %q is not 1 to 64 letters, digits, \"-\", \"_\" or \".\"", key.ID)
		}
		if seen[key.ID] {
			return domain.Invalid("encryption keys", "two keys have the id %q", key.ID)
		}
		if len(key.Secret) != keySize {
			return domain.Invalid("encryption keys", "the secret of key %q is not %d bytes", key.ID, keySize)
		}
		seen[key.ID] = true
	}
	return nil
}

func validKeyID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for _, r := range id {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
		default:
			return false
		}
	}
	return true
}

// OpenKeyFile reads the keyring from path. Where the file does not exist it is made with
// one fresh key, mode 0600, and synced before it is used: a key that was lost after
// something was encrypted with it would lose that too.
func OpenKeyFile(path string) (Keyring, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createKeyFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read encryption keys: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read encryption keys: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, domain.Errorf(domain.CodeForbidden, "%s is open to others (mode %04o); run: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	keys, err := ParseKeyring(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// createKeyFile writes a fresh keyring beside path and links it into place, so that of two
// processes that start at once one wins and both use its key.
func createKeyFile(path string) (Keyring, error) {
	draft, err := os.CreateTemp(filepath.Dir(path), ".keys-*") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("create encryption keys: %w", err)
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	_, err = draft.WriteString("# Encrypts what is stored in Temporal. The last key is active. Keep this file.\n" + Keyring{NewKey()}.String())
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err != nil {
		return nil, fmt.Errorf("create encryption keys: %w", err)
	}
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create encryption keys: %w", err)
	}
	return OpenKeyFile(path)
}
