package testkit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/harvest-engine/harvest/internal/embedded"
)

// debian is a tree of Debian's packages, in the release of this machine and from its mirror.
type debian struct {
	arch     string // "" for that of this machine
	variant  string // of mmdebstrap: what there is beside the packages
	packages []string
	overlay  map[string]string // files of our own: their text by their path
	enable   []string          // units of systemd
}

// debianRecipe is to be changed with the way in which trees are made, so that none of before is taken.
const debianRecipe = "1"

// errNoDebian says that such a tree can't be made on this machine.
var errNoDebian = errors.New("there is no mmdebstrap, busybox or apt-get to make a Debian image with; install mmdebstrap and busybox-static")

// archive gives the tree as a tar file. It is made once a month, for all test binaries of
// the machine: packages of older trees may be gone from the mirrors, faults of theirs mended.
func (d debian) archive() (string, error) {
	for _, name := range []string{"mmdebstrap", "busybox", "apt-get"} {
		if _, err := exec.LookPath(name); err != nil {
			return "", errNoDebian
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute) // of a slow mirror
	defer stop()
	recipe := fmt.Sprintf("%s %+v %s", debianRecipe, d, time.Now().UTC().Format("2006-01"))
	sum := sha256.Sum256([]byte(recipe))
	dir := embedded.DefaultCacheDir()
	file := filepath.Join(dir, "debian-"+hex.EncodeToString(sum[:6])+".tar")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache: %w", err)
	}
	lock := flock.New(file + ".lock") // test binaries run side by side
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return "", fmt.Errorf("wait for another image: %w", err)
	}
	defer lock.Unlock() //nolint:errcheck // the file is closed with the process at the latest
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	return file, d.make(ctx, file)
}

func (d debian) make(ctx context.Context, file string) error {
	release, mirror, err := debianSource(ctx)
	if err != nil {
		return err
	}
	args := []string{
		"--quiet", "--mode=root", "--format=tar", "--variant=" + d.variant, "--include=" + strings.Join(d.packages, ","),
		"--aptopt=Acquire::Languages \"none\"", "--dpkgopt=force-unsafe-io",
		"--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=path-exclude=/usr/share/locale/*",
	}
	if d.arch != "" {
		args = append(args, "--architectures="+d.arch)
	}
	if len(d.overlay) > 0 {
		overlay, err := os.MkdirTemp("", "harvest-debian-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(overlay)
		if err := d.overlays(overlay); err != nil {
			return err
		}
		args = append(args, "--customize-hook=sync-in "+overlay+" /",
			// A machine gets its own. Without the file of its id it would ask for settings as it boots first.
			"--customize-hook=rm -f \"$1/etc/hostname\" && : >\"$1/etc/machine-id\"")
	}
	dropOld(filepath.Join(filepath.Dir(file), "debian-*.tar"))
	part := file + ".part"
	var said bytes.Buffer
	c := exec.CommandContext(ctx, "mmdebstrap", append(args, release, part, mirror)...)
	c.Stdout, c.Stderr, c.WaitDelay = &said, &said, 10*time.Second
	if err := c.Run(); err != nil {
		_ = os.Remove(part)
		return fmt.Errorf("make a Debian image: %w\n%s", err, said.String())
	}
	return os.Rename(part, file)
}

// dropOld removes the trees of earlier months.
func dropOld(pattern string) {
	files, _ := filepath.Glob(pattern) // the pattern is well-formed
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) > 40*24*time.Hour {
			_ = os.Remove(file) // it only takes room
		}
	}
}

// overlays writes the files of our own, and the busybox of this machine, behind whatever the
// packages have.
func (d debian) overlays(dir string) error {
	if err := os.Chmod(dir, 0o755); err != nil { // it becomes the root folder
		return err
	}
	if err := copyBusybox(filepath.Join(dir, "usr/local/busybox")); err != nil {
		return err
	}
	for path, text := range d.overlay {
		to := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, []byte(text), 0o755); err != nil {
			return err
		}
	}
	wants := filepath.Join(dir, "etc/systemd/system/multi-user.target.wants")
	for _, unit := range d.enable {
		if err := os.MkdirAll(wants, 0o755); err != nil {
			return err
		}
		if err := os.Symlink("../"+unit, filepath.Join(wants, unit)); err != nil {
			return err
		}
	}
	return nil
}

// debianSource gives the release of this machine, and the mirror that its apt uses.
func debianSource(ctx context.Context) (release, mirror string, err error) {
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "VERSION_CODENAME="); ok {
			release = strings.Trim(value, `"`)
		}
	}
	if release == "" {
		return "", "", errors.New("/etc/os-release names no release")
	}
	out, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format", "$(SITE)",
		"Created-By: Packages", "Component: main", "Codename: "+release).Output()
	if sites := strings.Fields(string(out)); err == nil && len(sites) > 0 {
		return release, sites[0], nil
	}
	return release, "http://deb.debian.org/debian", nil // apt has not looked at its mirrors yet
}

// skipWithout ends a test that lacks something of the machine: as a failure where the variable
// demands it.
func skipWithout(t testing.TB, err error, variable string) {
	t.Helper()
	if os.Getenv(variable) != "1" {
		t.Skipf("%v; set %s=1 to make this a failure", err, variable)
	}
	t.Fatal(err)
}
