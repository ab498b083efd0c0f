package embedded

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// oldestMajor is the oldest PostgreSQL that the project's SQL runs on.
const oldestMajor = 14

// binFolders are where systems keep server binaries outside PATH.
var binFolders = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// Binaries is a set of PostgreSQL server programs of one version.
type Binaries struct {
	Dir   string // holds initdb and postgres
	Major int    // 15, 16, 17, …
}

// Postgres is the path of the server.
func (b Binaries) Postgres() string { return filepath.Join(b.Dir, "postgres") }

// InitDB is the path of the program that makes a cluster.
func (b Binaries) InitDB() string { return filepath.Join(b.Dir, "initdb") }

// InstalledPostgres gives the newest server programs on this machine; with major > 0 only
// those of that version will do. ok is false where there are none.
func InstalledPostgres(ctx context.Context, major int) (b Binaries, ok bool) {
	var found []Binaries
	for _, dir := range candidateFolders() {
		if b, ok := inspectBinaries(ctx, dir); ok && (major == 0 || b.Major == major) {
			found = append(found, b)
		}
	}
	if len(found) == 0 {
		return Binaries{}, false
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Major > found[j].Major })
	return found[0], true
}

func candidateFolders() []string {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	for _, pattern := range binFolders {
		matches, _ := filepath.Glob(pattern) // the patterns are constants and well-formed
		dirs = append(dirs, matches...)
	}
	return dirs
}

// inspectBinaries asks the server program in dir for its version.
func inspectBinaries(ctx context.Context, dir string) (Binaries, bool) {
	b := Binaries{Dir: dir}
	for _, program := range []string{b.InitDB(), b.Postgres()} {
		if info, err := os.Stat(program); err != nil || info.IsDir() {
			return b, false
		}
	}
	out, err := exec.CommandContext(ctx, b.Postgres(), "--version").Output()
	if err != nil {
		return b, false
	}
	b.Major = parseMajor(string(out))
	return b, b.Major >= oldestMajor
}

// parseMajor reads "postgres (PostgreSQL) 15.9 (Debian …)" and gives 15; 0 where it can't.
func parseMajor(version string) int {
	_, rest, ok := strings.Cut(version, ") ")
	if !ok {
		return 0
	}
	digits := rest
	if end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = rest[:end]
	}
	major, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return major
}
