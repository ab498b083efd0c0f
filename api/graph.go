package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// graph answers GET /graph/:repo/:version.
func (s *Server) graph(ctx context.Context, r request[none]) (raw, error) {
	p, err := s.picture(ctx, r.path["repo"], r.path["version"])
	if err != nil {
		return raw{}, err
	}
	r.reply.Set("Cache-Control", "private, no-cache") // keep it, but ask whether it still holds
	r.reply.Set("ETag", p.etag)
	if matchesETag(r.header.Get("If-None-Match"), p.etag) {
		return raw{status: http.StatusNotModified}, nil
	}
	return raw{json: p.json}, nil
}

func matchesETag(list, etag string) bool {
	for candidate := range strings.SplitSeq(list, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == etag || candidate == "*" {
			return true
		}
	}
	return false
}

// symbolSource is the body of GET /graph/:repo/:version/source.
type symbolSource struct {
	Name       string      `json:"name"`
	File       string      `json:"file"`
	Kind       string      `json:"kind"` // Function, Class, or Symbol for the others
	SymbolKind string      `json:"symbol_kind"`
	Receiver   string      `json:"receiver,omitempty"`
	StartLine  int         `json:"start_line"`
	EndLine    int         `json:"end_line"`
	Signature  string      `json:"signature"`
	Doc        string      `json:"doc,omitempty"`
	Source     string      `json:"source"`
	Candidates []candidate `json:"candidates,omitempty"` // all that the name may mean, where it is more than one
}

type candidate struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	File       string `json:"file"`
	SymbolKind string `json:"symbol_kind"`
	StartLine  int    `json:"start_line"`
	Signature  string `json:"signature"`
}

// symbolSource answers GET /graph/:repo/:version/source. Of several symbols that the name
// may mean the best is given, and the others are listed beside it.
func (s *Server) symbolSource(ctx context.Context, r request[none]) (symbolSource, error) {
	ref := graph.SymbolRef{Repo: r.path["repo"], Version: r.path["version"], File: r.query.Get("file"), Name: r.query.Get("name")}
	if ref.Name == "" {
		return symbolSource{}, domain.Invalid("name", "must not be empty")
	}
	if text := r.query.Get("line"); text != "" {
		line, err := strconv.Atoi(text)
		if err != nil || line < 1 {
			return symbolSource{}, domain.Invalid("line", "%q is not a line number", text)
		}
		ref.Line = line
	}
	hits, err := s.Graph.FindSymbols(ctx, ref)
	if err != nil {
		return symbolSource{}, err
	}
	if len(hits) == 0 {
		return symbolSource{}, domain.NotFound("there is no symbol %q in %s of %s %s", ref.Name, orAny(ref.File), ref.Repo, ref.Version)
	}
	hit := hits[0]
	text, _, err := s.Sources.ReadFile(ctx, graph.FileRef{Repo: hit.Repo, Version: hit.Version, Path: hit.Path}, hit.StartLine, hit.EndLine)
	if err != nil {
		return symbolSource{}, err
	}
	out := symbolSource{
		Name: hit.Name, File: hit.Path, Kind: label(hit.Kind), SymbolKind: string(hit.Kind), Receiver: hit.Receiver,
		StartLine: hit.StartLine, EndLine: hit.EndLine, Signature: hit.Signature, Doc: hit.Doc, Source: text,
	}
	if len(hits) > 1 {
		for _, h := range hits {
			out.Candidates = append(out.Candidates, candidate{
				ID: h.Path + ":" + h.Local, Name: h.QualifiedName(), File: h.Path,
				SymbolKind: string(h.Kind), StartLine: h.StartLine, Signature: h.Signature,
			})
		}
	}
	return out, nil
}

func orAny(file string) string {
	if file == "" {
		return "any file"
	}
	return file
}

// label gives the contract's name for a kind.
func label(k domain.SymbolKind) string {
	switch {
	case k.Function():
		return "Function"
	case k.Class():
		return "Class"
	}
	return "Symbol"
}

// encodePicture renders a graph as GET /graph gives it.
func encodePicture(p graph.Picture) []byte {
	return encode(struct {
		Nodes      []graph.Node `json:"nodes"`
		Edges      []graph.Link `json:"edges"`
		Truncated  bool         `json:"truncated"`
		TotalNodes int          `json:"total_nodes"`
	}{listed(p.Nodes), listed(p.Edges), p.Truncated, p.TotalNodes})
}
