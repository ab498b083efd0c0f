package gitrepo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/gofrs/flock"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Config says how a Store works.
type Config struct {
	Dir     string   // folder of the mirrors; made when needed
	Environ []string // the process's environment, name=value; only what git and ssh need of it is passed on
	// Silence is how long a host may send nothing before it is given up; 0: two minutes.
	Silence time.Duration
}

const defaultSilence = 2 * time.Minute

// Store opens repositories. It is safe for concurrent use, also by several processes.
type Store struct {
	dir     string
	git     git
	silence time.Duration
}

// NewStore builds a Store.
func NewStore(cfg Config) *Store {
	return &Store{dir: cfg.Dir, git: newGit(cfg.Environ), silence: cmp.Or(cfg.Silence, defaultSilence)}
}

// Repo is a repository that can be read: a mirror, or a local one in place.
type Repo struct {
	git    git
	addr   Address
	gitDir string // "" for a plain folder
	work   string // the folder of the files; "" for a mirror or a bare repository
}

// Plain reports whether the repository is a folder without git.
func (r *Repo) Plain() bool { return r.gitDir == "" }

// output runs git on the repository.
func (r *Repo) output(ctx context.Context, args ...string) ([]byte, error) {
	return r.git.output(ctx, append([]string{"--git-dir=" + r.gitDir}, args...)...)
}

// Local opens the repository at a local folder, without changing or copying anything. A
// folder that is no repository is opened as a plain one. A missing folder is not_found.
func (s *Store) Local(ctx context.Context, addr Address) (*Repo, error) {
	info, err := os.Stat(addr.Path)
	if err != nil || !info.IsDir() {
		return nil, domain.Wrap(domain.CodeNotFound, err, "there is no folder %s", addr.Path)
	}
	dir, bare, err := s.gitDirOf(ctx, addr.Path)
	if err != nil {
		return nil, err
	}
	repo := &Repo{git: s.git, addr: addr, gitDir: dir, work: addr.Path}
	if bare {
		repo.work = ""
	}
	return repo, nil
}

// gitDirOf finds the git directory of a folder: its own .git, or the folder itself where it
// is bare. A folder below a working tree is a plain one: it is not the repository's root.
func (s *Store) gitDirOf(ctx context.Context, path string) (dir string, bare bool, err error) {
	if _, err := os.Stat(filepath.Join(path, ".git")); err == nil {
		dir = filepath.Join(path, ".git")
	} else if isBare(path) {
		dir, bare = path, true
	} else {
		return "", false, nil
	}
	// The .git of a linked working tree is a file that names the directory: git reads it.
	out, err := s.git.output(ctx, "--git-dir="+dir, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return "", false, fmt.Errorf("open %s: %w", path, err)
	}
	return string(trimLine(out)), bare, nil
}

func isBare(path string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(path, name)); err != nil {
			return false
		}
	}
	return true
}

func trimLine(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// mirrorDir gives the folder of an address's mirror: readable, and one per address.
func (s *Store) mirrorDir(addr Address) string {
	sum := sha256.Sum256([]byte(addr.URL))
	name := unsafeInName.ReplaceAllString(addr.DefaultName(), "-")
	if len(name) > 60 {
		name = name[:60]
	}
	return filepath.Join(s.dir, name+"-"+hex.EncodeToString(sum[:8])+".git")
}

// Mirror opens the mirror of a remote repository as it is, without the network. One that
// was never fetched is not_found.
func (s *Store) Mirror(addr Address) (*Repo, error) {
	dir := s.mirrorDir(addr)
	if !isBare(dir) {
		return nil, domain.NotFound("%s was not fetched yet", addr)
	}
	return &Repo{git: s.git, addr: addr, gitDir: dir}, nil
}

// Remove deletes the mirror of an address; a local repository is left alone.
func (s *Store) Remove(ctx context.Context, addr Address) error {
	if addr.Local() {
		return nil
	}
	unlock, err := s.lock(ctx, s.mirrorDir(addr))
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.RemoveAll(s.mirrorDir(addr)); err != nil {
		return fmt.Errorf("remove a mirror: %w", err)
	}
	return nil
}

// RemoveOthers deletes the mirrors of all addresses but the known ones. One that is being
// fetched is left alone.
func (s *Store) RemoveOthers(ctx context.Context, known func(context.Context) ([]Address, error)) (removed int, err error) {
	mirrors, err := filepath.Glob(filepath.Join(s.dir, "*.git"))
	if err != nil || len(mirrors) == 0 {
		return 0, err
	}
	keep, err := s.mirrorsOf(ctx, known)
	if err != nil {
		return 0, err
	}
	for _, dir := range mirrors {
		if keep[dir] {
			continue
		}
		gone, err := s.removeOther(ctx, dir, known)
		if err != nil {
			return removed, err
		}
		if gone {
			removed++
		}
	}
	return removed, nil
}

// removeOther deletes one mirror, unless somebody works on it. What is known is asked again
// behind the lock: the repository may have come back, and been fetched, since it was asked.
func (s *Store) removeOther(ctx context.Context, dir string, known func(context.Context) ([]Address, error)) (gone bool, err error) {
	lock := flock.New(dir + ".lock")
	if free, err := lock.TryLock(); err != nil || !free {
		return false, nil // it is left to the next time
	}
	defer func() { _ = lock.Unlock() }()
	keep, err := s.mirrorsOf(ctx, known)
	if err != nil || keep[dir] {
		return false, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return false, fmt.Errorf("remove a mirror: %w", err)
	}
	return true, nil
}

// mirrorsOf gives the folders of the mirrors of the known addresses.
func (s *Store) mirrorsOf(ctx context.Context, known func(context.Context) ([]Address, error)) (map[string]bool, error) {
	addresses, err := known(ctx)
	if err != nil {
		return nil, err
	}
	dirs := map[string]bool{}
	for _, addr := range addresses {
		dirs[s.mirrorDir(addr)] = true
	}
	return dirs, nil
}

// lock takes the lock of a mirror; it waits until the lock is free or ctx ends.
func (s *Store) lock(ctx context.Context, dir string) (unlock func(), err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of mirrors: %w", err)
	}
	lock := flock.New(dir + ".lock")
	ok, err := lock.TryLockContext(ctx, 100*time.Millisecond)
	if err != nil {
		return nil, fmt.Errorf("lock a mirror: %w", err)
	}
	if !ok {
		return nil, errors.New("lock a mirror: not obtained")
	}
	return func() { _ = lock.Unlock() }, nil
}
