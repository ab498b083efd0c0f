package knowledge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/parser"
	"go/token"
	"hash"
	"strconv"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/gotypes"
)

// readGo fills in the surface of a Go source: a hash of it without comments and bodies, which
// is what a type checker sees of it from another file, and after a blank the expression of
// its go:build line.
func readGo(src []byte, facts *domain.FileFacts) {
	stripped := gotypes.Strip(src)
	seen := make([]byte, 0, len(stripped))
	for line := range bytes.Lines(stripped) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			seen = append(append(seen, line...), '\n')
		}
	}
	sum := sha256.Sum256(seen)
	facts.Surface = hex.EncodeToString(sum[:16])
	if expr := buildLine(src); expr != "" {
		facts.Surface += " " + expr
	}
}

// buildLine gives the expression of a file's go:build line, which stands before the package
// clause.
func buildLine(src []byte) string {
	for line := range bytes.Lines(src) {
		if expr, ok := bytes.CutPrefix(line, []byte("//go:build ")); ok {
			return string(bytes.TrimSpace(expr))
		}
		if bytes.HasPrefix(line, []byte("package ")) {
			break
		}
	}
	return ""
}

// generatedGo gives the facts of a generated Go source: it has no symbols in the graph, but
// the types of other files depend on it.
func generatedGo(src []byte, facts *domain.FileFacts) {
	readGo(src, facts)
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.ImportsOnly)
	if err != nil {
		return
	}
	facts.Package = file.Name.Name
	for _, im := range file.Imports {
		if target, err := strconv.Unquote(im.Path.Value); err == nil {
			facts.Imports = append(facts.Imports, domain.Import{Target: target})
		}
	}
}

func short(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:16]) }

// outlineHash hashes all of an outline that resolution may look at from another file. Lines
// are left out: a change inside a body moves what stands below it.
func outlineHash(facts *domain.FileFacts) string {
	h := sha256.New()
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(h, format, args...) }
	line("%s\x00%s\x00%s\n", facts.Language, facts.Package, facts.Surface)
	locals := domain.LocalNames(facts.Symbols)
	for i, s := range facts.Symbols {
		line("s %s\x00%s\x00%s\x00%t\n", locals[i], s.Kind, s.Type, s.Exported)
		if s.Kind.Function() || s.Kind.Class() { // whose parameters count
			line("p %s\n", s.Signature)
		}
		for _, b := range s.Bases {
			line("b %s\x00%s\n", b.Name, b.Kind)
		}
		for _, f := range s.Fields {
			line("f %s\x00%s\n", f.Name, f.Type)
		}
	}
	for _, im := range facts.Imports {
		line("i %s\x00%s\x00%s\n", im.Target, im.Name, im.Alias)
	}
	for _, c := range facts.Conformances {
		line("c %s\x00%s\x00%s\n", c.Type, c.Base.Name, c.Base.Kind)
	}
	for _, e := range facts.Exports {
		line("e %s\x00%s\n", e.Name, e.As)
	}
	for _, g := range facts.Givens {
		line("g %s\x00%s\x00%s\n", g.Owner, g.Name, g.Value)
	}
	return short(h)
}
