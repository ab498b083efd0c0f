package pg

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/graph"
)

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

// Outline sums a version up. Those asked for last are kept.
func (s *Store) Outline(ctx context.Context, repo, version string) (graph.Outline, error) {
	v, err := s.Version(ctx, repo, version)
	if err != nil {
		return graph.Outline{}, err
	}
	if cached, ok := s.outlines.Get(v.ID); ok {
		cached.Version = v
		return cached, nil
	}
	var outline graph.Outline
	err = s.reading(ctx, func(tx pgx.Tx) error {
		if v, err = loadGraphed(ctx, tx, repo, version); err != nil {
			return err
		}
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
		sum := graph.NewSummary()
		for _, f := range files {
			sum.File(f.Path, f.Language, f.Symbols)
		}
		outline = sum.Outline(v, central)
		return nil
	})
	if err == nil {
		s.outlines.Put(v.ID, outline)
	}
	return outline, err
}
