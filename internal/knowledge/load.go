package knowledge

import (
	"context"
	"fmt"
	"slices"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/knowledge/gotypes"
)

// loadBatch is about how many files are resolved and loaded at once.
const loadBatch = 200

// resolveAll identifies the edges of all files, and loads those that the graph lacks.
func (w *world) resolveAll(ctx context.Context, job *job, loader graph.Loader) error {
	todo, err := w.reuse(ctx, loader)
	if err != nil {
		return err
	}
	job.resolved(len(w.files)-len(todo), 0, 0)
	for _, batch := range w.batches(todo) {
		if err := ctx.Err(); err != nil {
			return err
		}
		loaded, err := w.loadBatch(ctx, batch, loader)
		if err != nil {
			return err
		}
		symbols, edges := 0, 0
		for _, f := range loaded {
			symbols += len(f.Facts.Symbols)
			edges += len(f.Edges)
		}
		job.resolved(len(batch), symbols, edges)
	}
	return nil
}

// reuse takes over the edges of unchanged files from the base, and gives the places of the
// others. Files that the graph lost since are among these.
func (w *world) reuse(ctx context.Context, loader graph.Loader) (todo []int, err error) {
	var ids []graph.ResolvedID
	for i := range w.files {
		f := &w.files[i]
		if known, ok := w.base[f.Path]; ok && known.Blob == f.Blob && known.Skipped == f.Skipped {
			f.Resolved = known.Resolved
			ids = append(ids, f.Resolved)
		}
	}
	missing := map[graph.ResolvedID]bool{}
	if len(ids) > 0 {
		list, err := loader.Missing(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("look for loaded edges: %w", err)
		}
		for _, id := range list {
			missing[id] = true
		}
	}
	for i := range w.files {
		if f := &w.files[i]; f.Resolved == "" || missing[f.Resolved] {
			todo = append(todo, i)
		}
	}
	return todo, nil
}

// batches groups files: those of a Go package together, packages after those that they
// import, so that each is checked once; then the others.
func (w *world) batches(todo []int) [][]int {
	byUnit := map[*gotypes.Package][]int{}
	for _, i := range todo {
		pkg := w.units[w.files[i].Path]
		byUnit[pkg] = append(byUnit[pkg], i)
	}
	var batches [][]int
	var batch []int
	flush := func(least int) {
		if len(batch) >= max(least, 1) {
			batches = append(batches, batch)
			batch = nil
		}
	}
	for _, pkg := range w.program.Packages() {
		batch = append(batch, byUnit[pkg]...)
		flush(loadBatch)
	}
	flush(0)
	for some := range slices.Chunk(byUnit[nil], loadBatch) {
		batches = append(batches, some)
	}
	return batches
}

// resolution is a file whose edges by name are known, and what the type checker may add.
type resolution struct {
	at    int
	facts *domain.FileFacts
	edges []domain.Edge
	unit  *gotypes.Package // nil: the type checker has no say
}

// loadBatch identifies and loads the edges of a few files, and gives what it loaded.
func (w *world) loadBatch(ctx context.Context, batch []int, loader graph.Loader) ([]graph.ResolvedFile, error) {
	all, err := w.byName(ctx, batch)
	if err != nil {
		return nil, err
	}
	ids := make([]graph.ResolvedID, len(all))
	views := map[*gotypes.Package]string{}
	for i, r := range all {
		if _, known := views[r.unit]; !known && r.unit != nil {
			views[r.unit] = w.program.View(r.unit)
		}
		f := &w.files[r.at]
		f.Resolved = w.reader.resolvedID(f.Path, f.Blob, r.edges, views[r.unit])
		ids[i] = f.Resolved
	}
	list, err := loader.Missing(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look for loaded edges: %w", err)
	}
	missing := make(map[graph.ResolvedID]bool, len(list))
	for _, id := range list {
		missing[id] = true
	}
	all = slices.DeleteFunc(all, func(r resolution) bool { return !missing[w.files[r.at].Resolved] })
	resolved, err := w.exact(ctx, all)
	if err != nil || len(resolved) == 0 {
		return nil, err
	}
	if err := loader.Put(ctx, resolved); err != nil {
		return nil, fmt.Errorf("load edges: %w", err)
	}
	return resolved, nil
}

// byName resolves files by the declarations of the repository.
func (w *world) byName(ctx context.Context, batch []int) ([]resolution, error) {
	files := make([]graph.VersionFile, 0, len(batch))
	for _, i := range batch {
		if f := w.files[i]; f.Skipped == "" && w.kept[f.Blob] == nil {
			files = append(files, f)
		}
	}
	facts, err := w.reader.cfg.Sources.Facts(ctx, distinct(files))
	if err != nil {
		return nil, fmt.Errorf("load facts: %w", err)
	}
	all := make([]resolution, 0, len(batch))
	for _, i := range batch {
		f := w.files[i]
		r := resolution{at: i, facts: &domain.FileFacts{Language: f.Language}}
		known := w.kept[f.Blob]
		if known == nil {
			known = facts[f.Blob]
		}
		if known != nil && f.Skipped == "" {
			r.facts = known
			r.edges = w.names.Resolve(f.Path, known)
			r.unit = w.units[f.Path]
		}
		all = append(all, r)
	}
	return all, nil
}

// again gives the edges of files that were loaded for another version, to a graph that can't
// share them.
func (w *world) again(ctx context.Context, ids []graph.ResolvedID) ([]graph.ResolvedFile, error) {
	wanted := make(map[graph.ResolvedID]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	var places []int
	for i := range w.files {
		if wanted[w.files[i].Resolved] {
			places = append(places, i)
		}
	}
	var resolved []graph.ResolvedFile
	for _, batch := range w.batches(places) {
		all, err := w.byName(ctx, batch)
		if err != nil {
			return nil, err
		}
		some, err := w.exact(ctx, all)
		if err != nil {
			return nil, err
		}
		resolved = append(resolved, some...)
	}
	return resolved, nil
}
