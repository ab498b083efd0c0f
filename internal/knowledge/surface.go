package knowledge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// readGo fills in what a Go source says without its functions' bodies: what a type checker
// sees of it from another file. The surface is a hash, and after a blank the expression of
// the go:build line. Of a source that does not parse it is a hash of the whole.
func readGo(src []byte, facts *domain.FileFacts) {
	h := sha256.New()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		_, _ = h.Write(src)
		facts.Surface = short(h)
		if file == nil || file.Name == nil {
			return
		}
	} else {
		facts.Surface = surfaceOf(h, set, file, src)
	}
	if expr := buildLine(file); expr != "" {
		facts.Surface += " " + expr
	}
	if facts.Package == "" {
		facts.Package = file.Name.Name
	}
}

func surfaceOf(h hash.Hash, set *token.FileSet, file *ast.File, src []byte) string {
	tokens := set.File(file.Pos())
	_, _ = h.Write(src[:tokens.Offset(file.Name.End())])
	for _, decl := range file.Decls {
		end := decl.End()
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			end = f.Body.Pos()
		}
		_, _ = h.Write(src[tokens.Offset(decl.Pos()):tokens.Offset(end)])
		_, _ = io.WriteString(h, "\x00")
	}
	return short(h)
}

// buildLine gives the expression of a file's go:build line.
func buildLine(file *ast.File) string {
	for _, group := range file.Comments {
		if group.Pos() > file.Package {
			break
		}
		for _, c := range group.List {
			if expr, ok := strings.CutPrefix(c.Text, "//go:build "); ok {
				return strings.TrimSpace(expr)
			}
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
	return short(h)
}

// worldHash hashes what a version's files show to each other.
func worldHash(files []graph.VersionFile, hashes map[graph.BlobID]string) string {
	lines := make([]string, 0, len(files))
	for _, f := range files {
		if hash, ok := hashes[f.Blob]; ok {
			lines = append(lines, f.Path+"\x00"+hash)
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}
