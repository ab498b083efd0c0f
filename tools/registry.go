package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Registry is the set of tools that a turn may use.
type Registry struct {
	tools  []Tool
	byName map[string]Tool
}

// NewRegistry holds tools in the order given; it is the order in which models see them.
// It panics where two share a name, which is a mistake of the program.
func NewRegistry(tools ...Tool) *Registry {
	r := &Registry{tools: tools, byName: make(map[string]Tool, len(tools))}
	for _, t := range tools {
		name := t.Spec().Name
		if r.byName[name] != nil {
			panic("two tools are named " + name)
		}
		r.byName[name] = t
	}
	return r
}

// All gives every tool that reads code, those beside them, and ask_user. With cypher set,
// run_cypher as well.
func All(code Code, cypher Cypher, beside ...Tool) *Registry {
	list := []Tool{
		listRepositories{code}, repositoryOutline{code},
		searchSymbols{code}, getFileSymbols{code}, getSymbolSource{code}, readFile{code}, searchText{code},
		findCallers{code}, findCallees{code}, findReferences{code}, findPath{code},
		getImports{code}, compareSymbol{code},
	}
	if cypher != nil {
		list = append(list, runCypher{cypher})
	}
	list = append(list, beside...)
	return NewRegistry(append(list, AskUser{})...)
}

// Specs lists the tools in order.
func (r *Registry) Specs() []Spec {
	specs := make([]Spec, len(r.tools))
	for i, t := range r.tools {
		specs[i] = t.Spec()
	}
	return specs
}

// Names lists the names of the tools in order.
func (r *Registry) Names() []string {
	names := make([]string, len(r.tools))
	for i, t := range r.tools {
		names[i] = t.Spec().Name
	}
	return names
}

// Lookup gives the specification of a tool by name.
func (r *Registry) Lookup(name string) (Spec, bool) {
	t, ok := r.byName[name]
	if !ok {
		return Spec{}, false
	}
	return t.Spec(), true
}

// judgeLimit bounds how long a tool may think about whether an input asks.
const judgeLimit = 5 * time.Second

// Asks reports whether a call must wait for a person's approval. What can't be told asks.
func (r *Registry) Asks(ctx context.Context, scope domain.Scope, name string, input json.RawMessage) bool {
	tool, ok := r.byName[name]
	if !ok {
		return false // it is answered without being run
	}
	if tool.Spec().Project && scope.ProjectID == "" {
		return false // its answer says why it can't be run
	}
	switch tool.Spec().Policy {
	case domain.PolicyNever:
		return false
	case domain.PolicyInput:
		judge, ok := tool.(Judge)
		if !ok {
			return true
		}
		ctx, cancel := context.WithTimeout(ctx, judgeLimit)
		defer cancel()
		asks, err := judge.Asks(ctx, scope, input)
		return asks || err != nil
	}
	return true
}

// unexplained stands where a tool can't tell what a call is about.
var unexplained = []domain.Detail{{Name: "unknown", Value: "what the input stands for could not be looked up"}}

// Explain tells the person who decides a call what it is about; nothing where the tool knows
// no more than its input says.
func (r *Registry) Explain(ctx context.Context, scope domain.Scope, name string, input json.RawMessage) []domain.Detail {
	tool, ok := r.byName[name].(Explainer)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, judgeLimit)
	defer cancel()
	about, err := tool.Explain(ctx, scope, input)
	if err != nil {
		return unexplained
	}
	return about
}

// Pin gives the input of a call that asks as it is to be approved and run: with ids in the place
// of names. A tool does not run what could not be pinned.
func (r *Registry) Pin(ctx context.Context, scope domain.Scope, name string, input json.RawMessage) json.RawMessage {
	tool, ok := r.byName[name].(Pinner)
	if !ok {
		return input
	}
	ctx, cancel := context.WithTimeout(ctx, judgeLimit)
	defer cancel()
	pinned, err := tool.Pin(ctx, scope, input)
	if err != nil {
		return input
	}
	return pinned
}

// Hostname names the machine that a call is about; "" for none.
func (r *Registry) Hostname(ctx context.Context, scope domain.Scope, name string, input json.RawMessage) string {
	tool, ok := r.byName[name].(Placed)
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, judgeLimit)
	defer cancel()
	return tool.Hostname(ctx, scope, input)
}

// errUnapproved is the answer to a call that was not made an action.
var errUnapproved = domain.Errorf(domain.CodeForbidden, "nobody has approved this call, and it was not run")

// Run runs a call within the tool's limits of time and result. Whatever the model can act
// on, its own mistakes included, is an error result without an error. A fault of the tool,
// a panic included, is an error result together with the error, for the log. An error with
// a zero result means that the same call may succeed later: a dependency is away, or ctx
// has ended. A tool that always asks is run for an approved action alone.
func (r *Registry) Run(ctx context.Context, scope domain.Scope, name string, input json.RawMessage) (domain.ToolResult, error) {
	tool, ok := r.byName[name]
	if !ok {
		return refusal(ctx, domain.NotFound("there is no tool %q", name)), nil
	}
	spec := tool.Spec()
	if spec.Project && scope.ProjectID == "" {
		return refusal(ctx, errNoProject), nil
	}
	if spec.Policy == domain.PolicyAlways && scope.ActionID == "" {
		return refusal(ctx, errUnapproved), nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, spec.Timeout,
		domain.Errorf(domain.CodeTimeout, "%s took longer than %s; ask for less", name, spec.Timeout))
	defer cancel()
	res, err := guarded(limited, tool, scope, input)
	switch {
	case err == nil:
		return bound(scrubbed(ctx, res), spec.MaxResult), nil
	case ctx.Err() != nil:
		return domain.ToolResult{}, context.Cause(ctx)
	case limited.Err() != nil:
		return unknown(ctx, context.Cause(limited)), nil
	case domain.CodeOf(err) == domain.CodeUnavailable:
		return domain.ToolResult{}, err
	case domain.CodeOf(err) == domain.CodeInternal:
		return unknown(ctx, err), fmt.Errorf("run tool %s: %w", name, err)
	}
	return refusal(ctx, err), nil
}

// panicked is a tool's panic. Its stack is for the log.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

func guarded(ctx context.Context, tool Tool, scope domain.Scope, input json.RawMessage) (res domain.ToolResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return tool.Run(ctx, scope, input)
}

// refusal is an error result, as a model reads it.
func refusal(ctx context.Context, err error) domain.ToolResult {
	return bound(scrubbed(ctx, domain.ToolResult{Text: "Error: " + ErrorText(err), Error: true}), defaultResult)
}

// ErrorText gives what a model is told of an error: its public message, and the field that is
// wrong.
func ErrorText(err error) string {
	var e *domain.Error
	if errors.As(err, &e) && e.Field != "" {
		return e.Field + " " + e.Message
	}
	return domain.PublicMessage(err)
}

// unknown is the failure of a run that was cut off.
func unknown(ctx context.Context, err error) domain.ToolResult {
	result := refusal(ctx, err)
	result.Unknown = true
	return result
}

var (
	optionalPart = regexp.MustCompile(`\[[^\[\]]*\]`)
	placeholder  = regexp.MustCompile(`\{(\w+)\}`)
)

// Describe renders a call in one line for people.
func (r *Registry) Describe(name string, input json.RawMessage) string {
	spec, ok := r.Lookup(name)
	if !ok || spec.Activity == "" {
		return clip("Running "+strings.ReplaceAll(name, "_", " "), maxPreviewBytes)
	}
	var fields map[string]any
	_ = json.Unmarshal(input, &fields) // a call that can't be read has no fields
	value := func(name string) string {
		v, ok := fields[name]
		if !ok || v == nil || v == "" {
			return ""
		}
		return strings.Join(strings.Fields(fmt.Sprint(v)), " ")
	}
	text := optionalPart.ReplaceAllStringFunc(spec.Activity, func(part string) string {
		for _, m := range placeholder.FindAllStringSubmatch(part, -1) {
			if value(m[1]) == "" {
				return ""
			}
		}
		return part[1 : len(part)-1]
	})
	text = placeholder.ReplaceAllStringFunc(text, func(p string) string {
		if found := value(p[1 : len(p)-1]); found != "" {
			return clip(found, 80)
		}
		return "…" // the call lacks it, and is refused for that
	})
	return clip(strings.Join(strings.Fields(text), " "), maxPreviewBytes)
}
