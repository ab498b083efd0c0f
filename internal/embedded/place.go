package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// systemState holds the clusters of data folders that the server's user can't reach.
const systemState = "/var/lib/harvest"

// postgresHome gives the folder of a data folder's cluster and the user who runs it. It is
// dataDir/postgres; where a folder above that is closed to the user, a folder under the
// system's state folder, with dataDir/postgres a link to it.
func postgresHome(dataDir string) (string, *account, error) {
	home := filepath.Join(dataDir, "postgres")
	if target, err := filepath.EvalSymlinks(home); err == nil {
		acct, err := serverAccount(target)
		return target, acct, err
	}
	acct, err := serverAccount(home)
	if err != nil {
		return "", nil, err
	}
	if acct.reaches(home) {
		return home, acct, makeHome(home, acct)
	}
	sum := sha256.Sum256([]byte(home))
	target := filepath.Join(systemState, hex.EncodeToString(sum[:8]), "postgres")
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", nil, fmt.Errorf("make a folder for the database: %w", err)
	}
	if err := makeHome(target, acct); err != nil {
		return "", nil, err
	}
	// A link whose target was removed is in the way of the new one.
	if err := os.Remove(home); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("replace the link to the database's folder: %w", err)
	}
	if err := os.Symlink(target, home); err != nil {
		return "", nil, fmt.Errorf("link to the database's folder: %w", err)
	}
	return target, acct, nil
}

func makeHome(home string, acct *account) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("make a folder for the database: %w", err)
	}
	return acct.own(home)
}

// DefaultCacheDir is where programs that were fetched or built are kept: in the user's
// cache folder, and for root in the system's, since an unprivileged user must reach it.
func DefaultCacheDir() string {
	if os.Geteuid() == 0 {
		return "/var/cache/harvest"
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "harvest")
	}
	return filepath.Join(os.TempDir(), "harvest-cache")
}
