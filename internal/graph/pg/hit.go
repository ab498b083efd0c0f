package pg

import (
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// hitColumns are the columns of symbols s and source_files f that make a graph.Hit.
const hitColumns = `s.name, s.receiver, s.kind, s.signature, s.doc, s.start_line, s.end_line, s.exported, s.dup, f.path`

// hitRow scans hitColumns.
type hitRow struct {
	graph.Hit
	kind int16
	dup  bool
}

func (h *hitRow) targets() []any {
	return []any{&h.Name, &h.Receiver, &h.kind, &h.Signature, &h.Doc, &h.StartLine, &h.EndLine, &h.Exported, &h.dup, &h.Path}
}

// hit completes the scanned symbol.
func (h *hitRow) hit(repo, version string) graph.Hit {
	h.Repo, h.Version = repo, version
	h.Symbol.Kind = decoded(symbolKinds, h.kind)
	h.Local = h.QualifiedName()
	if h.dup {
		h.Local += "@" + strconv.Itoa(h.StartLine)
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

// kindFilter is the SQL condition on symbols s of a kind as a query names it.
func kindFilter(kind string) (string, error) {
	switch kind {
	case "", "any":
		return "true", nil
	case "function":
		return "s.kind in (" + kindNumber(domain.KindFunction) + ", " + kindNumber(domain.KindMethod) + ")", nil
	case "class":
		return "s.class", nil
	}
	if code := kindCode(domain.SymbolKind(kind)); code != 0 {
		return "s.kind = " + strconv.Itoa(int(code)), nil
	}
	return "", domain.Invalid("kind", "%q is no kind of symbol; use function, class, any, or one of %v", kind, symbolKinds[1:])
}

func kindNumber(kind domain.SymbolKind) string { return strconv.Itoa(int(kindCode(kind))) }
