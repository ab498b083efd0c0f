package pg

import (
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// hitColumns are the columns of symbols s and source_files f that make a graph.Hit.
const hitColumns = `s.name, s.receiver, s.kind, s.signature, s.doc, s.start_line, s.end_line, s.exported, s.dup, s.nth, f.path`

// hitRow scans hitColumns.
type hitRow struct {
	graph.Hit
	kind int16
	dup  bool
	nth  int16
}

func (h *hitRow) targets() []any {
	return []any{&h.Name, &h.Receiver, &h.kind, &h.Signature, &h.Doc, &h.StartLine, &h.EndLine, &h.Exported, &h.dup, &h.nth, &h.Path}
}

// hit completes the scanned symbol.
func (h *hitRow) hit(repo, version string) graph.Hit {
	h.Repo, h.Version = repo, version
	h.Symbol.Kind = decoded(symbolKinds, h.kind)
	h.Local = h.QualifiedName()
	if h.dup {
		h.Local += "@" + strconv.Itoa(h.StartLine)
	}
	if h.nth > 0 {
		h.Local += "." + strconv.Itoa(int(h.nth))
	}
	return h.Hit
}

// hitOf scans rows of hitColumns alone, all of one version.
func hitOf(repo, version string) pgx.RowToFunc[graph.Hit] {
	return func(row pgx.CollectableRow) (graph.Hit, error) {
		var h hitRow
		err := row.Scan(h.targets()...)
		return h.hit(repo, version), err
	}
}

// kindFilter is the SQL condition on symbols s of kinds; nil is any.
func kindFilter(kinds []domain.SymbolKind) string {
	if kinds == nil {
		return "true"
	}
	codes := make([]string, len(kinds))
	for i, kind := range kinds {
		codes[i] = strconv.Itoa(int(kindCode(kind)))
	}
	return "s.kind in (" + strings.Join(codes, ", ") + ")"
}
