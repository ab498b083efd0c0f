package pg

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/graph"
)

var symbolColumns = []string{"key_id", "file_id", "ord", "start_line", "end_line", "repo_id", "kind", "rank",
	"class", "exported", "dup", "nth", "name", "receiver", "folded", "words", "signature", "doc"}

// copySymbols streams the symbols of new files.
func (l *loader) copySymbols(ctx context.Context, tx pgx.Tx, batch []*staged) error {
	at, ord := 0, 0
	copied, err := copyRows(ctx, tx, "symbols", symbolColumns, func(r *rows) error {
		for at < len(batch) && (!batch[at].isNew || ord >= len(batch[at].Facts.Symbols)) {
			at, ord = at+1, 0
		}
		if at == len(batch) {
			return io.EOF
		}
		writeSymbol(r, l.repo, batch[at], ord)
		ord++
		return nil
	})
	l.written.graph += copied
	return err
}

func writeSymbol(r *rows, repo int32, f *staged, ord int) {
	s, local := f.Facts.Symbols[ord], f.locals[ord]
	name := clean(s.Name)
	r.begin()
	r.bigint(keyOf(repo, f.path, clean(local)))
	r.integer(f.fileID)
	r.integer(int32(ord))
	r.integer(int32(s.StartLine))
	r.integer(int32(s.EndLine))
	r.integer(repo)
	r.smallint(kindCode(s.Kind))
	r.smallint(int16(graph.Rank(f.path, s)))
	r.boolean(s.Kind.Class())
	r.boolean(s.Exported)
	r.boolean(local != s.QualifiedName())
	r.smallint(int16(graph.SymbolRef{Name: local}.Nth()))
	r.text(name)
	r.text(clean(s.Receiver))
	r.text(graph.Fold(name))
	r.text(" " + strings.Join(graph.Words(name), " "))
	r.text(clean(s.Signature))
	r.text(clean(s.Doc))
}

var edgeColumns = []string{"src_key", "dst_key", "resolved_id", "file_id", "src_ord", "line", "kind", "how"}

// copyEdges streams the edges of new resolutions.
func (l *loader) copyEdges(ctx context.Context, tx pgx.Tx, batch []*staged) error {
	at, n := 0, 0
	var keys []int64 // of the symbols of batch[at]
	copied, err := copyRows(ctx, tx, "edges", edgeColumns, func(r *rows) error {
		for at < len(batch) && (!batch[at].resolves || n >= len(batch[at].Edges)) {
			at, n, keys = at+1, 0, nil
		}
		if at == len(batch) {
			return io.EOF
		}
		f := batch[at]
		if keys == nil {
			keys = sourceKeys(l.repo, f)
		}
		e := &f.Edges[n]
		if e.From < -1 || e.From >= len(f.locals) {
			return fmt.Errorf("edge %d of %s starts at symbol %d of %d", n, f.Path, e.From, len(f.locals))
		}
		n++
		r.begin()
		r.bigint(keys[e.From+1])
		r.bigint(keyOf(l.repo, clean(e.To.Path), clean(e.To.Local)))
		r.integer(f.id)
		r.integer(f.fileID)
		r.integer(int32(e.From))
		r.integer(int32(e.Line))
		r.smallint(edgeCode(e.Kind))
		r.smallint(howCode(e.How))
		return nil
	})
	l.written.graph += copied
	return err
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
