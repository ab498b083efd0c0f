package graph

import (
	"path"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	outlineCentral = 30
	outlineFolders = 150
	outlineDepth   = 4 // of folders
	outlineKeys    = 6 // per folder
)

// CentralCandidates is how many of the most referenced symbols an outline looks at.
const CentralCandidates = 3000

// Outline gives the outline of a version; central are the CentralCandidates most referenced
// symbols, the most referenced first.
func (s *Summary) Outline(version domain.VersionDetail, central []Hit) Outline {
	s.keys(central)
	o := Outline{Version: version, Languages: s.languages(), Central: notTests(central, outlineCentral)}
	o.Folders, o.Truncated = s.folders()
	return o
}

// notTests keeps the first hits outside of tests.
func notTests(hits []Hit, limit int) []Hit {
	var kept []Hit
	for _, h := range hits {
		if len(kept) < limit && !IsTest(h.Path) {
			kept = append(kept, h)
		}
	}
	return kept
}

// Summary gathers what an Outline tells, one file at a time.
type Summary struct {
	byLanguage map[string]int
	byFolder   map[string]*Folder
}

// NewSummary gives an empty Summary.
func NewSummary() *Summary {
	return &Summary{byLanguage: map[string]int{}, byFolder: map[string]*Folder{}}
}

// File counts a file.
func (s *Summary) File(name, language string, symbols int) {
	if language != "" {
		s.byLanguage[language]++
	}
	for _, folder := range foldersOf(name) {
		f := s.byFolder[folder]
		if f == nil {
			f = &Folder{Path: folder}
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
func (s *Summary) keys(central []Hit) {
	for _, h := range central {
		folders := foldersOf(h.Path)
		f := s.byFolder[folders[len(folders)-1]]
		if f != nil && h.Exported && len(f.Key) < outlineKeys && !slices.Contains(f.Key, h.QualifiedName()) {
			f.Key = append(f.Key, h.QualifiedName())
		}
	}
}

func (s *Summary) languages() []Count {
	var counts []Count
	for name, n := range s.byLanguage {
		counts = append(counts, Count{Name: name, N: n})
	}
	slices.SortFunc(counts, func(a, b Count) int {
		if a.N != b.N {
			return b.N - a.N
		}
		return strings.Compare(a.Name, b.Name)
	})
	return counts
}

// folders gives the largest folders in order of path, and whether some were left out.
func (s *Summary) folders() ([]Folder, bool) {
	var all []Folder
	for _, f := range s.byFolder {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b Folder) int {
		if a.Symbols != b.Symbols {
			return b.Symbols - a.Symbols
		}
		return strings.Compare(a.Path, b.Path)
	})
	truncated := len(all) > outlineFolders
	all = all[:min(len(all), outlineFolders)]
	slices.SortFunc(all, func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
	return all, truncated
}
