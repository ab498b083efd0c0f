// Package tools holds what a model can do in a turn: each tool has a specification, which
// is data, and a Run method, which knows nothing of Temporal or HTTP.
package tools

import (
	"context"
	"encoding/json"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// Tool is something a model can call.
type Tool interface {
	Spec() Spec
	// Run answers a call. Domain errors that the model can act on (invalid, not_found,
	// forbidden, too_large, unprocessable) become error results; see Registry.Run.
	Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error)
}

// Judge is a tool whose policy is PolicyInput: it says of each input whether it asks. Such a
// tool that is no Judge, or can't tell, always asks.
type Judge interface {
	Asks(ctx context.Context, scope domain.Scope, input json.RawMessage) (bool, error)
}

// Explainer is a tool that asks, and knows what its input stands for.
type Explainer interface {
	// Explain tells the person who decides a call what it is about. Texts are given as they
	// are: who shows them escapes them.
	Explain(ctx context.Context, scope domain.Scope, input json.RawMessage) ([]domain.Detail, error)
}

// Placed is a tool whose calls are about a machine.
type Placed interface {
	// Hostname names the machine of a call; "" where there is none.
	Hostname(ctx context.Context, scope domain.Scope, input json.RawMessage) string
}

// Pinner is a tool that takes names of things, which may come to mean others.
type Pinner interface {
	// Pin gives the input of a call that asks with the ids of what its names mean now, so that
	// what is approved is what runs.
	Pin(ctx context.Context, scope domain.Scope, input json.RawMessage) (json.RawMessage, error)
}

// Spec is all that is known of a tool without running it.
type Spec struct {
	domain.ToolSpec
	Policy    domain.Policy
	Local     bool          // short and on our own database, and read-only unless it asks: may run inside a workflow task
	Timeout   time.Duration // the limit of one run
	MaxResult int           // bytes of result text given to the model
	Phase     string        // what people see while it runs: "Searching codebase"
	// Activity describes a call to people. {field} stands for the input's field; a part in
	// brackets is left out where a field in it is empty, elsewhere such a field is shown as "…".
	Activity string
	// Project says that the tool works on what a project owns: it is offered in the turns of
	// projects alone.
	Project bool
	// Resumable says that a run finds what an earlier run of the same call or action began, by
	// Scope, and goes on with it: a run that was cut off is followed by another one, and is not
	// unknown. What it can't tell itself it gives as an Unknown result.
	Resumable bool
	// SecretEnv names the field of the input, an object of environment variable → text, in which
	// handles of secrets are replaced: by what Environment gives. A call with one always asks.
	SecretEnv string
}

// The phase labels of the contract.
const (
	PhaseSearch = "Searching codebase"
	PhaseRead   = "Reading source"
	PhaseTrace  = "Tracing relationships"
	PhaseAsk    = "Asking you"
	PhaseSkill  = "Reading playbooks"
	PhaseWrite  = "Writing it down"
	PhaseRun    = "Running commands"
)

const (
	localTimeout    = 2 * time.Second // the limit of a local activity
	normalTimeout   = 30 * time.Second
	defaultResult   = 24 << 10
	longResult      = 48 << 10
	maxPreviewBytes = 160
)

// Sources is the part of graph.Sources that tools read.
type Sources interface {
	Repositories(ctx context.Context) ([]domain.Repository, error)
	ReadFile(ctx context.Context, at graph.FileRef, from, to int) (text string, lines int, err error)
	Files(ctx context.Context, repo, version, glob string, limit int) ([]graph.VersionFile, error)
	SearchText(ctx context.Context, q graph.TextQuery) (graph.TextPage, error)
}

// Code is what the graph tools share.
type Code struct {
	Sources Sources
	Graph   graph.Reader
	// Local says that the graph answers from an index in the store beside the worker, so that
	// short reads may run as local activities.
	Local bool
	// OtherGraph says that Graph is not the one in Postgres.
	OtherGraph bool
}

// spec fills the defaults of a graph tool.
func (c Code) spec(s Spec) Spec {
	s.Policy = domain.PolicyNever
	s.Local = s.Local && c.Local
	if s.Timeout == 0 {
		s.Timeout = normalTimeout
		if s.Local {
			s.Timeout = localTimeout
		}
	}
	if s.MaxResult == 0 {
		s.MaxResult = defaultResult
	}
	return s
}
