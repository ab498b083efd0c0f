package graph

import (
	"cmp"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Base is the last element of a path.
func Base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// NoFile is the not_found of a file; like are files that may have been meant.
func NoFile(at FileRef, like []VersionFile) error {
	hint := ""
	for i, f := range like {
		if i == 0 {
			hint = "; there is "
		} else {
			hint += ", "
		}
		hint += f.Path
	}
	return domain.NotFound("%s:%s has no file %q%s", at.Repo, at.Version, at.Path, hint)
}

// NoSymbol is the not_found of a reference that means nothing.
func NoSymbol(ref SymbolRef) error {
	where := ""
	if ref.File != "" {
		where = " in " + ref.File
	}
	return domain.NotFound("%s:%s has no symbol %q%s; search_symbols finds names by a part of them", ref.Repo, ref.Version, ref.Name, where)
}

// CheckVersion reports an empty repository or version name.
func CheckVersion(repo, tag string) error {
	if repo == "" {
		return domain.Invalid("repo", "name a repository")
	}
	if tag == "" {
		return domain.Invalid("version", "name a version")
	}
	return nil
}

// Check reports a reference that can name no symbol.
func (ref SymbolRef) Check() error {
	if err := CheckVersion(ref.Repo, ref.Version); err != nil {
		return err
	}
	if ref.Name == "" {
		return domain.Invalid("name", "name a symbol")
	}
	return nil
}

const (
	maxCallersDepth = 5
	defaultSites    = 100
	maxSites        = 1000
)

// CallersDepth is the depth to which callers are followed, 1 to 5.
func CallersDepth(depth int) int { return min(max(depth, 1), maxCallersDepth) }

// SiteLimit is the most sites that an answer holds, 1000 at most; 0 means 100.
func SiteLimit(limit int) int {
	if limit <= 0 {
		limit = defaultSites
	}
	return min(limit, maxSites)
}

// CompareSites orders sites by the place of the edge, then by the symbol at the other end.
func CompareSites(a, b Site) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Path, b.Path),
		cmp.Compare(a.StartLine, b.StartLine), strings.Compare(string(a.Kind), string(b.Kind)))
}
