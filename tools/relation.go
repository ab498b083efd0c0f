package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const (
	defaultSites = 50
	maxSites     = 200
	maxDepth     = 5
	pathDepth    = 12
)

// functionField names the symbol whose calls are followed; nameField any symbol.
var (
	functionField = field{name: "function_name", kind: "string", about: "The symbol: \"Serve\", or with its type \"Server.Serve\".", required: true}
	nameField     = field{name: "name", kind: "string", about: "The symbol: \"Serve\", or with its type \"Server.Serve\".", required: true}
)

// relationInput is the input of the tools that follow edges from one symbol. Models mix the
// two names of the symbol up, so each tool takes both.
type relationInput struct {
	place
	File         string
	Name         string
	FunctionName string `json:"function_name"`
	Depth, Limit int
}

func (in relationInput) ref(v domain.VersionDetail) graph.SymbolRef {
	return graph.SymbolRef{Repo: v.Repo, Version: v.Tag, File: filePath(in.File), Name: in.Name}
}

// start decodes the input of a relation tool and makes sure that its symbol exists.
func (c Code) start(ctx context.Context, scope domain.Scope, input json.RawMessage) (relationInput, domain.VersionDetail, error) {
	in, v, err := locate[relationInput](ctx, c, scope, input)
	if err != nil {
		return in, v, err
	}
	if in.Name == "" {
		in.Name = in.FunctionName
	}
	if in.Name == "" {
		return in, v, domain.Invalid("name", "is required")
	}
	hits, err := c.Graph.FindSymbols(ctx, in.ref(v))
	if err != nil {
		return in, v, fmt.Errorf("find %s: %w", in.Name, err)
	}
	if len(hits) == 0 {
		return in, v, unknownSymbol(v, in.File, in.Name)
	}
	return in, v, nil
}

// site writes one end of an edge with the place of the edge itself.
func (r *report) site(repo, version string, s graph.Site, verb string) {
	name := s.QualifiedName()
	if name == "" {
		name = "the top level of " + s.Path
	}
	r.line("%s %s %s (%s, defined at %s:%d)", cite(repo, version, s.File, s.Line), verb, name, s.How, s.Path, max(s.StartLine, 1))
	if s.Signature != "" {
		r.line("    %s", s.Signature)
	}
}

type findCallers struct{ Code }

func (t findCallers) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "find_callers",
			Description: "List the functions that call a function or method, with the line of each call and how surely it was resolved (exact, scoped, name).",
			InputSchema: schema(repoField, versionField, functionField, optional(fileField),
				field{name: "depth", kind: "integer", about: "1 for direct callers (default), up to 5 for their callers as well."},
				field{name: "limit", kind: "integer", about: "Most results, 1 to 200. Default 50."}),
		},
		Local: true, Phase: PhaseTrace, Activity: "Finding who calls {function_name}[ in {repo}]",
	})
}

func (t findCallers) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, v, err := t.start(ctx, scope, input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	depth := limitOf(in.Depth, 1, maxDepth)
	sites, truncated, err := t.Graph.Callers(ctx, in.ref(v), depth, limitOf(in.Limit, defaultSites, maxSites))
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("callers of %s: %w", in.Name, err)
	}
	return listSites(v, sites, truncated, "in", fmt.Sprintf("Nothing in %s %s calls %s as far as the graph knows.", v.Repo, v.Tag, in.Name), "caller"), nil
}

func listSites(v domain.VersionDetail, sites []graph.Site, truncated bool, verb, none, noun string) domain.ToolResult {
	var r report
	for _, s := range sites {
		r.site(v.Repo, v.Tag, s, verb)
	}
	if truncated {
		r.more("name the file, or raise the limit")
	}
	if len(sites) == 0 {
		r.line("%s", none)
	}
	return r.result("%s", count(len(sites), noun, noun+"s"))
}

type findCallees struct{ Code }

func (t findCallees) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "find_callees",
			Description: "List the functions that a function or method calls, with the line of each call.",
			InputSchema: schema(repoField, versionField, optional(fileField), functionField,
				field{name: "limit", kind: "integer", about: "Most results, 1 to 200. Default 50."}),
		},
		Local: true, Phase: PhaseTrace, Activity: "Finding what {function_name} calls[ in {repo}]",
	})
}

func (t findCallees) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, v, err := t.start(ctx, scope, input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	sites, truncated, err := t.Graph.Callees(ctx, in.ref(v), limitOf(in.Limit, defaultSites, maxSites))
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("callees of %s: %w", in.Name, err)
	}
	return listSites(v, sites, truncated, "calls", fmt.Sprintf("%s calls nothing in the repository as far as the graph knows.", in.Name), "callee"), nil
}

type findReferences struct{ Code }

func (t findReferences) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "find_references",
			Description: "List everything that refers to a symbol: calls, uses of a type, subtypes, implementations, embeddings.",
			InputSchema: schema(repoField, versionField, nameField, optional(fileField),
				field{name: "limit", kind: "integer", about: "Most results, 1 to 200. Default 50."}),
		},
		Local: true, Phase: PhaseTrace, Activity: "Finding references to {name}[ in {repo}]",
	})
}

func (t findReferences) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, v, err := t.start(ctx, scope, input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	sites, truncated, err := t.Graph.References(ctx, in.ref(v), limitOf(in.Limit, defaultSites, maxSites))
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("references to %s: %w", in.Name, err)
	}
	var r report
	for _, s := range sites {
		r.site(v.Repo, v.Tag, s, string(s.Kind)+" from")
	}
	if truncated {
		r.more("name the file, or raise the limit")
	}
	if len(sites) == 0 {
		r.line("Nothing refers to %s as far as the graph knows.", in.Name)
	}
	return r.result("%s", count(len(sites), "reference", "references")), nil
}

type findPath struct{ Code }

func (t findPath) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "find_path",
			Description: "Find how one function reaches another: the shortest chain of calls, with the line of each.",
			InputSchema: schema(repoField, versionField,
				field{name: "from", kind: "string", about: "The function where the chain starts.", required: true},
				field{name: "to", kind: "string", about: "The function that it should reach.", required: true},
				field{name: "from_file", kind: "string", about: "The file of from, where its name is ambiguous."},
				field{name: "to_file", kind: "string", about: "The file of to, where its name is ambiguous."}),
		},
		Phase: PhaseTrace, Activity: "Finding how {from} reaches {to}[ in {repo}]",
	})
}

func (t findPath) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, v, err := locate[struct {
		place
		From     string `json:"from" need:""`
		To       string `json:"to" need:""`
		FromFile string `json:"from_file"`
		ToFile   string `json:"to_file"`
	}](ctx, t.Code, scope, input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	from := graph.SymbolRef{Repo: v.Repo, Version: v.Tag, File: filePath(in.FromFile), Name: in.From}
	to := graph.SymbolRef{Repo: v.Repo, Version: v.Tag, File: filePath(in.ToFile), Name: in.To}
	for _, ref := range []graph.SymbolRef{from, to} {
		hits, err := t.Graph.FindSymbols(ctx, ref)
		if err != nil {
			return domain.ToolResult{}, fmt.Errorf("find %s: %w", ref.Name, err)
		}
		if len(hits) == 0 {
			return domain.ToolResult{}, unknownSymbol(v, ref.File, ref.Name)
		}
	}
	chain, err := t.Graph.Path(ctx, from, to, pathDepth)
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("path from %s to %s: %w", in.From, in.To, err)
	}
	var r report
	if len(chain) == 0 {
		r.line("No chain of at most %d calls leads from %s to %s as far as the graph knows. find_callers of %s tells what does.", pathDepth, in.From, in.To, in.To)
		return r.result("no path"), nil
	}
	for i, s := range chain {
		if i == 0 {
			r.hit(s.Hit)
			continue
		}
		r.site(v.Repo, v.Tag, s, "calls")
	}
	if len(chain) == 1 {
		r.line("Both names mean this symbol. find_callers with a depth tells whether it reaches itself.")
	}
	return r.result("%s", count(len(chain)-1, "call", "calls")), nil
}
