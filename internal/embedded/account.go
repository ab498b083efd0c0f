package embedded

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/harvest-engine/harvest/internal/domain"
)

// account is the user that PostgreSQL runs as. Its programs refuse root, so as root they
// run under an unprivileged one. A nil account means: as we are.
type account struct{ uid, gid uint32 }

// unprivilegedUsers are tried in this order; the last is on every system.
var unprivilegedUsers = []string{"postgres", "nobody"}

// serverAccount picks the user for the cluster in dir: the owner of one that is there,
// otherwise the first unprivileged user of this system.
func serverAccount(dir string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	if info, err := os.Stat(dir); err == nil {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 {
			return &account{uid: owner.Uid, gid: owner.Gid}, nil
		}
	}
	for _, name := range unprivilegedUsers {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil && uid != 0 {
			return &account{uid: uint32(uid), gid: uint32(gid)}, nil
		}
	}
	return nil, domain.Errorf(domain.CodeUnavailable,
		"PostgreSQL can't run as root, and this system has no user postgres or nobody; run harvest as an ordinary user, or set DATABASE_URL")
}

// credential is what a child process is given to become the account.
func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid, NoSetGroups: false}
}

// own gives path to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	if err := os.Chown(path, int(a.uid), int(a.gid)); err != nil {
		return fmt.Errorf("give %s to uid %d: %w", path, a.uid, err)
	}
	return nil
}

// reaches reports whether the account may pass through every folder above path.
func (a *account) reaches(path string) bool {
	if a == nil {
		return true
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || !a.traverses(info) {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

func (a *account) traverses(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	mode := info.Mode().Perm()
	switch {
	case owner.Uid == a.uid:
		return mode&0o100 != 0
	case owner.Gid == a.gid:
		return mode&0o010 != 0
	}
	return mode&0o001 != 0
}
