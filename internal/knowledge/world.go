package knowledge

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/knowledge/gotypes"
	"github.com/harvest-engine/harvest/internal/knowledge/manifest"
	"github.com/harvest-engine/harvest/internal/knowledge/resolve"
)

// outlineBatch is how many outlines are read at once.
const outlineBatch = 1000

// world is a version's files with all that their resolution looks at.
type world struct {
	reader  *Reader
	files   []graph.VersionFile
	base    map[string]graph.VersionFile       // whose edges hold here too where path and blob are equal; nil for none
	kept    map[graph.BlobID]*domain.FileFacts // whole facts that need not be loaded
	names   *resolve.World
	program *gotypes.Program
	units   map[string]*gotypes.Package // by path of a Go file
	locals  map[string]outline          // by path of a Go file
	texts   func(ctx context.Context, paths []string) (map[string][]byte, error)
}

// outline is the symbols of a Go file with their names.
type outline struct {
	symbols []domain.Symbol
	names   []string
}

// newWorld reads the outlines of a version's files and compares them with the base's.
func (r *Reader) newWorld(ctx context.Context, files []graph.VersionFile, b base, kept map[graph.BlobID]*domain.FileFacts) (*world, error) {
	outlines, err := r.outlines(ctx, files, kept)
	if err != nil {
		return nil, err
	}
	w := &world{reader: r, files: files, kept: kept, units: map[string]*gotypes.Package{}, locals: map[string]outline{}}
	if w.base, err = r.sameWorld(ctx, files, outlines, b); err != nil {
		return nil, err
	}
	var all []resolve.File
	for _, f := range files {
		facts := outlines[f.Blob]
		if facts == nil || f.Skipped != "" {
			continue
		}
		all = append(all, resolve.File{Path: f.Path, Facts: facts})
	}
	w.names = resolve.Build(all)
	for _, f := range all {
		if f.Facts.Language == "go" {
			w.locals[f.Path] = outline{f.Facts.Symbols, w.names.LocalNames(f.Path)}
		}
	}
	w.plan(files, outlines)
	return w, nil
}

// outlines reads the outlines of files that have any, but for those that are known.
func (r *Reader) outlines(ctx context.Context, files []graph.VersionFile, kept map[graph.BlobID]*domain.FileFacts) (map[graph.BlobID]*domain.FileFacts, error) {
	var wanted []graph.VersionFile
	for _, f := range files {
		if f.Skipped == "" && f.Language != "" || f.Skipped != "" && f.Language == "go" {
			wanted = append(wanted, f)
		}
	}
	ids := distinct(wanted)
	outlines := make(map[graph.BlobID]*domain.FileFacts, len(ids))
	ids = slices.DeleteFunc(ids, func(id graph.BlobID) bool {
		if facts := kept[id]; facts != nil {
			outlines[id] = facts
		}
		return kept[id] != nil
	})
	for len(ids) > 0 {
		n := min(len(ids), outlineBatch)
		batch, err := r.cfg.Sources.Outlines(ctx, ids[:n])
		if err != nil {
			return nil, fmt.Errorf("load outlines: %w", err)
		}
		for id, facts := range batch {
			outlines[id] = facts
		}
		ids = ids[n:]
	}
	return outlines, nil
}

// sameWorld gives the files of the base where all that files show to each other is equal in
// both versions: only bodies of functions, or what is no code, have changed. The edges of an
// unchanged file are the same then.
func (r *Reader) sameWorld(ctx context.Context, files []graph.VersionFile, outlines map[graph.BlobID]*domain.FileFacts, b base) (map[string]graph.VersionFile, error) {
	if len(b.files) == 0 {
		return nil, nil
	}
	changed := map[string]graph.VersionFile{} // as they are now; zero where they are gone
	for _, f := range files {
		if b.files[f.Path].Blob != f.Blob {
			changed[f.Path] = f
		}
	}
	if len(files)-len(changed) < len(b.files) {
		now := make(map[string]bool, len(files))
		for _, f := range files {
			now[f.Path] = true
		}
		for path := range b.files {
			if !now[path] {
				changed[path] = graph.VersionFile{}
			}
		}
	}
	before := make([]graph.VersionFile, 0, len(changed))
	for path := range changed {
		before = append(before, b.files[path])
	}
	past, err := r.outlines(ctx, before, outlines)
	if err != nil {
		return nil, err
	}
	for path, f := range changed {
		if shown(past[b.files[path].Blob]) != shown(outlines[f.Blob]) {
			return nil, nil
		}
	}
	return b.files, nil
}

// shown is a hash of what a file shows to others; "" for one that shows nothing. A file of
// code counts even where it is empty: imports may name it.
func shown(facts *domain.FileFacts) string {
	if facts == nil || !resolve.Knows(facts.Language) && facts.Package == "" && len(facts.Imports) == 0 {
		return ""
	}
	return outlineHash(facts)
}

// plan hands the Go files to the type checker.
func (w *world) plan(files []graph.VersionFile, outlines map[graph.BlobID]*domain.FileFacts) {
	cfg := gotypes.Config{
		GOROOT: w.reader.cfg.GOROOT, Cache: w.reader.declared,
		Read: func(ctx context.Context, paths []string) (map[string][]byte, error) {
			return w.texts(ctx, paths)
		},
	}
	for _, f := range files {
		facts := outlines[f.Blob]
		switch {
		case facts == nil || facts.Package == "":
		case manifest.Kind(f.Path) == manifest.GoMod:
			cfg.Modules = append(cfg.Modules, gotypes.Module{Dir: strings.TrimSuffix(path.Dir(f.Path), "."), Path: facts.Package})
		case f.Language == "go" && !w.reader.cfg.NamesOnly && !ignoredByGo(f.Path):
			cfg.Sources = append(cfg.Sources, goSource(f.Path, facts))
		}
	}
	w.program = gotypes.New(cfg)
	for _, pkg := range w.program.Packages() {
		for _, file := range pkg.Files {
			w.units[file] = pkg
		}
	}
}

// ignoredByGo reports whether Go's own tools pass over a file: below testdata, and below
// folders whose names begin with a dot or an underscore.
func ignoredByGo(name string) bool {
	dir := path.Dir(name)
	for part := range strings.SplitSeq(dir, "/") {
		if part == "testdata" || part != "." && (strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_")) {
			return true
		}
	}
	return false
}

func goSource(name string, facts *domain.FileFacts) gotypes.Source {
	s := gotypes.Source{Path: name, Package: facts.Package, Surface: facts.Surface}
	_, s.Constraint, _ = strings.Cut(facts.Surface, " ")
	for _, im := range facts.Imports {
		s.Imports = append(s.Imports, im.Target)
	}
	return s
}
