package pg

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/graph"
)

const (
	outlineCentral = 30
	outlineFolders = 150
	outlineDepth   = 4 // of folders
	outlineKeys    = 6 // per folder
)

func sqlf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

const (
	outlineFilesSQL = `
select f.path, f.language, coalesce(f.symbols, 0)
from version_files vf join source_files f on f.id = vf.file_id
where vf.version_id = @version
order by f.path collate "C"`
	// The most referenced symbols; containment is no reference.
	centralSQL = `
with counts as materialized (
    select e.dst_key, count(*) as n
    from version_files vf join edges e on e.resolved_id = vf.resolved_id
    where vf.version_id = @version and e.kind <> 2
    group by e.dst_key order by n desc, e.dst_key limit 3000
)
select c.n, ` + hitColumns + `
from counts c, lateral (
    select s.*, f.path from symbols s
    join version_files vf on vf.version_id = @version and vf.file_id = s.file_id
    join source_files f on f.id = s.file_id
    where s.key_id = c.dst_key offset 0
) s, lateral (select s.path) f
order by c.n desc, f.path collate "C", s.start_line`
)

// Outline sums a version up. It is worked out once for each snapshot and process.
func (s *Store) Outline(ctx context.Context, repo, version string) (graph.Outline, error) {
	v, err := s.Version(ctx, repo, version)
	if err != nil {
		return graph.Outline{}, err
	}
	if cached, ok := s.outlines.Load(v.ID); ok {
		outline := cached.(graph.Outline)
		outline.Version = v
		return outline, nil
	}
	outline := graph.Outline{Version: v}
	err = s.reading(ctx, func(tx pgx.Tx) error {
		type file struct {
			Path, Language string
			Symbols        int
		}
		args := pgx.NamedArgs{"version": v.ID}
		files, err := collect(ctx, tx, "list files", pgx.RowToStructByPos[file], outlineFilesSQL, args)
		if err != nil {
			return err
		}
		central, err := collect(ctx, tx, "count references", func(row pgx.CollectableRow) (graph.Hit, error) {
			var h hitRow
			var n int64
			err := row.Scan(append([]any{&n}, h.targets()...)...)
			hit := h.hit(repo, version)
			hit.Score = float64(n)
			return hit, err
		}, centralSQL, args)
		if err != nil {
			return err
		}
		sum := newSummary()
		for _, f := range files {
			sum.file(f.Path, f.Language, f.Symbols)
		}
		sum.keys(central)
		outline.Languages, outline.Folders, outline.Truncated = sum.languages(), nil, false
		outline.Folders, outline.Truncated = sum.folders()
		outline.Central = notTests(central, outlineCentral)
		return nil
	})
	if err == nil {
		s.outlines.Store(v.ID, outline)
	}
	return outline, err
}

// notTests keeps the first hits outside of tests.
func notTests(hits []graph.Hit, limit int) []graph.Hit {
	var kept []graph.Hit
	for _, h := range hits {
		if len(kept) < limit && !graph.IsTest(h.Path) {
			kept = append(kept, h)
		}
	}
	return kept
}

// summary counts what is in a version's folders.
type summary struct {
	byLanguage map[string]int
	byFolder   map[string]*graph.Folder
}

func newSummary() *summary {
	return &summary{byLanguage: map[string]int{}, byFolder: map[string]*graph.Folder{}}
}

func (s *summary) file(name, language string, symbols int) {
	if language != "" {
		s.byLanguage[language]++
	}
	for _, folder := range foldersOf(name) {
		f := s.byFolder[folder]
		if f == nil {
			f = &graph.Folder{Path: folder}
			s.byFolder[folder] = f
		}
		f.Files++
		f.Symbols += symbols
	}
}

// foldersOf gives the folders above a file, the outermost first, down to outlineDepth; "."
// is the version's root.
func foldersOf(name string) []string {
	folders := []string{"."}
	dir := path.Dir(name)
	if dir == "." {
		return folders
	}
	parts := strings.Split(dir, "/")
	for n := 1; n <= min(len(parts), outlineDepth); n++ {
		folders = append(folders, strings.Join(parts[:n], "/"))
	}
	return folders
}

// keys notes the names of the most referenced exported symbols in their innermost folder.
func (s *summary) keys(central []graph.Hit) {
	for _, h := range central {
		folders := foldersOf(h.Path)
		f := s.byFolder[folders[len(folders)-1]]
		if f != nil && h.Exported && len(f.Key) < outlineKeys && !slices.Contains(f.Key, h.QualifiedName()) {
			f.Key = append(f.Key, h.QualifiedName())
		}
	}
}

func (s *summary) languages() []graph.Count {
	var counts []graph.Count
	for name, n := range s.byLanguage {
		counts = append(counts, graph.Count{Name: name, N: n})
	}
	slices.SortFunc(counts, func(a, b graph.Count) int {
		if a.N != b.N {
			return b.N - a.N
		}
		return strings.Compare(a.Name, b.Name)
	})
	return counts
}

// folders gives the largest folders in order of path, and whether some were left out.
func (s *summary) folders() ([]graph.Folder, bool) {
	var all []graph.Folder
	for _, f := range s.byFolder {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b graph.Folder) int {
		if a.Symbols != b.Symbols {
			return b.Symbols - a.Symbols
		}
		return strings.Compare(a.Path, b.Path)
	})
	truncated := len(all) > outlineFolders
	all = all[:min(len(all), outlineFolders)]
	slices.SortFunc(all, func(a, b graph.Folder) int { return strings.Compare(a.Path, b.Path) })
	return all, truncated
}
