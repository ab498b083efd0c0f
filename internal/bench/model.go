package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
)

// The queries of the benchmark are of the form "Where is KEY in N rounds?": the model asks
// for a tool in each of the N rounds and then answers.
func query(key string, rounds int) string {
	return fmt.Sprintf("Where is %s in %d rounds?", key, rounds)
}

// answerText is what the model says at last; a paragraph, as answers are.
var answerText = strings.Repeat("The handler is registered in the router and calls the store. ", 8)

// gatedModel takes no time, unless a gate was set for a key: then it waits until the gate
// opens. It records when it is called and when its first byte leaves.
type gatedModel struct {
	mu    sync.Mutex
	gates map[string]*gate
}

// gate is what is known of the model calls of one key.
type gate struct {
	called chan time.Time // told of the first call
	open   chan struct{}  // nil: never closed
	rest   chan struct{}  // nil, or holds the model up after its first byte
	first  time.Time      // when the first byte left; read it after an event has arrived
}

func newGatedModel() *gatedModel { return &gatedModel{gates: map[string]*gate{}} }

// watch sets a gate for a key; closed says that it holds the model up until it is opened.
func (m *gatedModel) watch(key string, closed bool) *gate {
	g := &gate{called: make(chan time.Time, 1)}
	if closed {
		g.open = make(chan struct{})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gates[key] = g
	return g
}

func (m *gatedModel) gate(key string) *gate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gates[key]
}

// Info implements llm.Provider.
func (m *gatedModel) Info() domain.ProviderInfo {
	return domain.ProviderInfo{ID: "bench", Kind: "scripted", Name: "Bench", DefaultModel: "bench"}
}

// Models implements llm.Provider.
func (m *gatedModel) Models(context.Context) ([]domain.ModelInfo, error) {
	return []domain.ModelInfo{{ID: "bench"}}, nil
}

// Stream implements llm.Provider.
func (m *gatedModel) Stream(ctx context.Context, req domain.ModelRequest, emit func(domain.ModelDelta) error) (domain.ModelResponse, error) {
	now := time.Now()
	key, rounds, round, err := place(req.Messages)
	if err != nil {
		return domain.ModelResponse{}, err
	}
	if g := m.gate(key); g != nil {
		select {
		case g.called <- now:
		default:
		}
	}
	message := domain.Message{Role: domain.RoleAssistant}
	stop, text := domain.StopEndTurn, answerText
	if round < rounds {
		stop, text = domain.StopToolUse, "Looking further. "
		message.Blocks = []domain.Block{{Type: domain.BlockToolUse, CallID: "call-" + strconv.Itoa(round), Tool: "peek", Input: json.RawMessage(`{"query":"handler"}`)}}
	}
	if err := m.say(ctx, key, text, emit); err != nil {
		return domain.ModelResponse{}, err
	}
	message.Blocks = append([]domain.Block{{Type: domain.BlockText, Text: text}}, message.Blocks...)
	return domain.ModelResponse{Message: message, Stop: stop, Usage: domain.Usage{InputTokens: 100, OutputTokens: 20}}, nil
}

// say streams a text, held up as the key's gate says.
func (m *gatedModel) say(ctx context.Context, key, text string, emit func(domain.ModelDelta) error) error {
	g := m.gate(key)
	if g == nil || g.open == nil {
		return emit(domain.ModelDelta{Text: text})
	}
	wait := func(held chan struct{}) error {
		select {
		case <-held:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := wait(g.open); err != nil {
		return err
	}
	g.first = time.Now()
	if err := emit(domain.ModelDelta{Text: text[:20]}); err != nil {
		return err
	}
	if g.rest != nil {
		if err := wait(g.rest); err != nil {
			return err
		}
	}
	return emit(domain.ModelDelta{Text: text[20:]})
}

// place reads the query out of a dialogue, and how many rounds are over.
func place(messages []domain.Message) (key string, rounds, round int, err error) {
	for _, m := range messages {
		if m.Role == domain.RoleAssistant {
			round++
			continue
		}
		if _, scanErr := fmt.Sscanf(m.Text(), "Where is %s in %d rounds?", &key, &rounds); scanErr != nil && key == "" {
			err = domain.Invalid("query", "%q is not a query of the benchmark", m.Text())
		}
	}
	if key != "" {
		err = nil
	}
	return key, rounds, round, err
}

// benchTools offers one tool: local, read-only, and done at once.
func benchTools() *tools.Registry { return tools.NewRegistry(peek{}, tools.AskUser{}) }

type peek struct{}

// Spec implements tools.Tool.
func (peek) Spec() tools.Spec {
	return tools.Spec{
		ToolSpec: domain.ToolSpec{Name: "peek", Description: "Gives a page of source.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Policy:   domain.PolicyNever, Local: true, Timeout: time.Second, MaxResult: 24 << 10, Phase: tools.PhaseSearch,
	}
}

var peekText = strings.Repeat("func (s *Server) handle(w http.ResponseWriter, r *http.Request) {\n", 30)

// Run implements tools.Tool.
func (peek) Run(context.Context, domain.Scope, json.RawMessage) (domain.ToolResult, error) {
	return domain.ToolResult{Text: peekText, Preview: "1 page"}, nil
}
