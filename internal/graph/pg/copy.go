package pg

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/graph"
)

var symbolColumns = []string{"key_id", "file_id", "ord", "start_line", "end_line", "repo_id", "kind", "rank",
	"class", "exported", "dup", "nth", "name", "receiver", "folded", "words", "signature", "doc"}

// copySymbols streams the symbols of new files.
func (l *loader) copySymbols(ctx context.Context, tx pgx.Tx, batch []*staged) error {
	at, ord := 0, 0
	next := func() ([]any, error) {
		for at < len(batch) && (!batch[at].isNew || ord >= len(batch[at].Facts.Symbols)) {
			at, ord = at+1, 0
		}
		if at == len(batch) {
			return nil, nil
		}
		row := symbolRow(l.repo, batch[at], ord)
		ord++
		return row, nil
	}
	n, err := tx.CopyFrom(ctx, pgx.Identifier{"symbols"}, symbolColumns, pgx.CopyFromFunc(next))
	if err != nil {
		return fmt.Errorf("copy symbols: %w", err)
	}
	l.written.graph += n
	return nil
}

func symbolRow(repo int32, f *staged, ord int) []any {
	s, local := f.Facts.Symbols[ord], f.locals[ord]
	name := clean(s.Name)
	words := graph.Words(name)
	return []any{
		keyOf(repo, f.path, clean(local)), f.fileID, int32(ord), int32(s.StartLine), int32(s.EndLine), repo,
		kindCode(s.Kind), int16(graph.Rank(f.path, s)), s.Kind.Class(), s.Exported, local != s.QualifiedName(), int16(graph.SymbolRef{Name: local}.Nth()),
		name, clean(s.Receiver), graph.Fold(name), " " + strings.Join(words, " "), clean(s.Signature), clean(s.Doc),
	}
}

var edgeColumns = []string{"src_key", "dst_key", "resolved_id", "file_id", "src_ord", "line", "kind", "how"}

// copyEdges streams the edges of new resolutions.
func (l *loader) copyEdges(ctx context.Context, tx pgx.Tx, batch []*staged) error {
	at, n := 0, 0
	var keys []int64 // of the symbols of batch[at]
	next := func() ([]any, error) {
		for at < len(batch) && (!batch[at].resolves || n >= len(batch[at].Edges)) {
			at, n, keys = at+1, 0, nil
		}
		if at == len(batch) {
			return nil, nil
		}
		f := batch[at]
		if keys == nil {
			keys = sourceKeys(l.repo, f)
		}
		e := f.Edges[n]
		if e.From < -1 || e.From >= len(f.locals) {
			return nil, fmt.Errorf("edge %d of %s starts at symbol %d of %d", n, f.Path, e.From, len(f.locals))
		}
		n++
		return []any{keys[e.From+1], keyOf(l.repo, clean(e.To.Path), clean(e.To.Local)), f.id, f.fileID,
			int32(e.From), int32(e.Line), edgeCode(e.Kind), howCode(e.How)}, nil
	}
	copied, err := tx.CopyFrom(ctx, pgx.Identifier{"edges"}, edgeColumns, pgx.CopyFromFunc(next))
	if err != nil {
		return fmt.Errorf("copy edges: %w", err)
	}
	l.written.graph += copied
	return nil
}

// sourceKeys gives the key of the file itself, then those of its symbols.
func sourceKeys(repo int32, f *staged) []int64 {
	keys := make([]int64, 1, len(f.locals)+1)
	keys[0] = keyOf(repo, f.path, "")
	for _, local := range f.locals {
		keys = append(keys, keyOf(repo, f.path, clean(local)))
	}
	return keys
}
