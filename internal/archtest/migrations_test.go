package archtest_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var migrationName = regexp.MustCompile(`^(\d{3})_[a-z0-9_]+\.sql$`)

// The migrations of a release are in databases: changed, nobody would run them again, and what is
// put before the last of them would never be run.
func TestMigrationsOfReleasesStay(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	for _, fault := range migrationFaults(t, os.DirFS(filepath.Join(root, "internal/postgres/migrations")), os.DirFS(filepath.Join(root, "cmd/harvest/testdata/databases"))) {
		t.Error(fault)
	}
}

// migrationFaults judges the files of a folder of migrations by the sums that are kept with the
// database of each release.
func migrationFaults(t *testing.T, migrations, databases fs.FS) (faults []string) {
	t.Helper()
	complain := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	sums, numbers := map[string]string{}, map[string]string{}
	for _, name := range names(t, migrations) {
		match := migrationName.FindStringSubmatch(name)
		if match == nil {
			complain("%s is not named NNN_name.sql", name)
			continue
		}
		if first, taken := numbers[match[1]]; taken {
			complain("%s and %s have one number", first, name)
		}
		numbers[match[1]] = name
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(content(t, migrations, name)))
	}
	for _, release := range names(t, databases) {
		kept, newest := map[string]string{}, ""
		for line := range strings.Lines(string(content(t, databases, path.Join(release, "migrations.sum")))) {
			sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
			kept[name], newest = sum, max(newest, name)
		}
		for name, sum := range kept {
			switch sums[name] {
			case sum:
			case "":
				complain("%s of %s is missing", name, release)
			default:
				complain("%s was changed since %s: add another one", name, release)
			}
		}
		for name := range sums {
			if _, old := kept[name]; !old && name[:3] <= newest[:min(3, len(newest))] {
				complain("%s would not be run on databases of %s, which ends with %s", name, release, newest)
			}
		}
	}
	slices.Sort(faults)
	return faults
}

func names(t *testing.T, folder fs.FS) (all []string) {
	t.Helper()
	entries, err := fs.ReadDir(folder, ".")
	if err != nil || len(entries) == 0 {
		t.Fatalf("nothing is here: %v", err)
	}
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func content(t *testing.T, folder fs.FS, name string) []byte {
	t.Helper()
	text, err := fs.ReadFile(folder, name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestFaultsOfMigrationsAreFound(t *testing.T) {
	t.Parallel()
	sum := func(sql string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(sql))) }
	databases := fstest.MapFS{
		"v1/migrations.sum": {Data: []byte(sum("a") + "  001_a.sql\n")},
		"v2/migrations.sum": {Data: []byte(sum("a") + "  001_a.sql\n" + sum("c") + "  010_c.sql\n")},
	}
	for says, change := range map[string]func(migrations fstest.MapFS){
		"": func(m fstest.MapFS) { m["011_d.sql"] = &fstest.MapFile{Data: []byte("d")} },
		"001_a.sql was changed since v1: add another one; 001_a.sql was changed since v2: add another one": func(m fstest.MapFS) { m["001_a.sql"].Data = []byte("A") },
		"010_c.sql of v2 is missing":                                               func(m fstest.MapFS) { delete(m, "010_c.sql") },
		"011_d.sql and 011_e.sql have one number":                                  func(m fstest.MapFS) { m["011_d.sql"], m["011_e.sql"] = &fstest.MapFile{}, &fstest.MapFile{} },
		"005_b.sql would not be run on databases of v2, which ends with 010_c.sql": func(m fstest.MapFS) { m["005_b.sql"] = &fstest.MapFile{} },
		"011-d.sql is not named NNN_name.sql; 12_d.sql is not named NNN_name.sql; d.md is not named NNN_name.sql": func(m fstest.MapFS) {
			m["12_d.sql"], m["011-d.sql"], m["d.md"] = &fstest.MapFile{}, &fstest.MapFile{}, &fstest.MapFile{}
		},
	} {
		migrations := fstest.MapFS{"001_a.sql": {Data: []byte("a")}, "010_c.sql": {Data: []byte("c")}}
		change(migrations)
		if got := strings.Join(migrationFaults(t, migrations, databases), "; "); got != says {
			t.Errorf("the fault %q is told as %q", says, got)
		}
	}
}
