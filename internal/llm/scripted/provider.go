package scripted

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Kind is the provider kind as configurations and provider_used name it.
const Kind = "scripted"

// Provider plays a script. It is safe for concurrent use.
type Provider struct {
	id     string
	script Script

	mu   sync.Mutex
	seen map[attemptKey]int
}

// attemptKey names a round of one conversation, to count its attempts.
type attemptKey struct {
	question string
	round    int
	tools    bool
}

// New builds a provider with the given id ("" for "scripted").
func New(id string, script Script) *Provider {
	script.Model = cmp.Or(script.Model, Kind)
	return &Provider{id: cmp.Or(id, Kind), script: script, seen: map[attemptKey]int{}}
}

// Info describes the provider.
func (p *Provider) Info() domain.ProviderInfo {
	return domain.ProviderInfo{
		ID: p.id, Kind: Kind, Name: "Scripted", DefaultModel: p.script.Model,
		Models: []domain.ModelInfo{{ID: p.script.Model}},
	}
}

// Models gives the one model of the script.
func (p *Provider) Models(context.Context) ([]domain.ModelInfo, error) {
	return []domain.ModelInfo{{ID: p.script.Model}}, nil
}

// Stream plays the round that req asks for. A request beyond the last round is an
// upstream error.
func (p *Provider) Stream(ctx context.Context, req domain.ModelRequest, emit func(domain.ModelDelta) error) (domain.ModelResponse, error) {
	question, round := place(req.Messages)
	rounds := p.script.pick(req, question)
	if round >= len(rounds) {
		return domain.ModelResponse{}, domain.Errorf(domain.CodeUpstream,
			"the script of provider %q has %d rounds for this question, round %d was asked for", p.id, len(rounds), round)
	}
	part := rounds[round]
	play := player{ctx: ctx, round: part, emit: emit, left: -1}
	fault := p.fault(part, attemptKey{question, round, len(req.Tools) > 0})
	if fault != nil {
		play.left = fault.After
	}
	response, err := play.run(round)
	if err != nil {
		return domain.ModelResponse{}, err
	}
	if fault != nil {
		return domain.ModelResponse{}, fault.raise(ctx, p.id)
	}
	response.Usage = part.Usage.count(req, response.Message)
	return response, nil
}

// place finds the person's last message, and how many answers follow it.
func place(messages []domain.Message) (question string, round int) {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == domain.RoleAssistant {
			round++
		} else if !holdsResults(messages[i]) {
			return messages[i].Text(), round
		}
	}
	return "", round
}

func holdsResults(m domain.Message) bool {
	for _, b := range m.Blocks {
		if b.Type == domain.BlockToolResult {
			return true
		}
	}
	return false
}

// fault gives the fault that this attempt at the round meets, or nil.
func (p *Provider) fault(part Round, key attemptKey) *Fault {
	if len(part.Faults) == 0 {
		return nil
	}
	p.mu.Lock()
	attempt := p.seen[key]
	p.seen[key]++
	p.mu.Unlock()
	for i := range part.Faults {
		f := &part.Faults[i]
		times := cmp.Or(f.Times, 1)
		if times < 0 || attempt < times {
			return f
		}
		attempt -= times
	}
	return nil
}

// raise gives the fault's error, at once or when ctx ends.
func (f *Fault) raise(ctx context.Context, provider string) error {
	if f.Hang {
		<-ctx.Done()
		return canceled(ctx)
	}
	text := cmp.Or(f.Message, fmt.Sprintf("provider %q: scripted %s", provider, f.Code))
	return &domain.Error{Code: cmp.Or(f.Code, domain.CodeUpstream), Message: text, Wait: time.Duration(f.Wait)}
}

// count gives u, or an estimate where it is empty.
func (u Usage) count(req domain.ModelRequest, answer domain.Message) domain.Usage {
	if u != (Usage{}) {
		return domain.Usage{InputTokens: u.Input, OutputTokens: u.Output, CachedInputTokens: u.Cached, CacheWriteTokens: u.Written}
	}
	input := len(req.System)
	for _, m := range req.Messages {
		input += size(m)
	}
	return domain.Usage{InputTokens: input/4 + 1, OutputTokens: size(answer)/4 + 1}
}

func size(m domain.Message) int {
	total := 0
	for _, b := range m.Blocks {
		total += len(b.Text) + len(b.Input)
	}
	return total
}

// player sends one round.
type player struct {
	ctx   context.Context
	round Round
	emit  func(domain.ModelDelta) error
	sent  int
	left  int // deltas until the fault; negative where there is none
}

func (p *player) stopped() bool { return p.left == 0 }

func (p *player) run(round int) (domain.ModelResponse, error) {
	var answer domain.Message
	answer.Role = domain.RoleAssistant
	if p.round.Thinking != "" {
		answer.Blocks = append(answer.Blocks, domain.Block{Type: domain.BlockThinking, Text: p.round.Thinking})
	}
	if p.round.Text != "" {
		answer.Blocks = append(answer.Blocks, domain.Block{Type: domain.BlockText, Text: p.round.Text})
	}
	stop := domain.StopEndTurn
	if err := p.texts(); err != nil || p.stopped() {
		return domain.ModelResponse{}, err
	}
	for i, call := range p.round.Calls {
		stop = domain.StopToolUse
		if err := p.send(domain.ModelDelta{ToolName: call.Name}); err != nil || p.stopped() {
			return domain.ModelResponse{}, err
		}
		input := call.Input
		if len(input) == 0 {
			input = json.RawMessage(`{}`)
		}
		answer.Blocks = append(answer.Blocks, domain.Block{
			Type: domain.BlockToolUse, Tool: call.Name, Input: input,
			CallID: cmp.Or(call.ID, fmt.Sprintf("call-%d-%d", round, i)),
		})
	}
	return domain.ModelResponse{Message: answer, Stop: cmp.Or(p.round.Stop, stop)}, nil
}

// texts sends thinking and text in chunks.
func (p *player) texts() error {
	for rest := p.round.Thinking; rest != "" && !p.stopped(); {
		var piece string
		piece, rest = chunk(rest, p.round.Chunk)
		if err := p.send(domain.ModelDelta{Thinking: piece}); err != nil {
			return err
		}
	}
	for rest := p.round.Text; rest != "" && !p.stopped(); {
		var piece string
		piece, rest = chunk(rest, p.round.Chunk)
		if err := p.send(domain.ModelDelta{Text: piece}); err != nil {
			return err
		}
	}
	return nil
}

// send waits as the script says and emits; it does nothing once the fault is due.
func (p *player) send(d domain.ModelDelta) error {
	if p.stopped() {
		return nil
	}
	delay := time.Duration(p.round.Delay)
	if p.sent == 0 {
		delay = time.Duration(p.round.FirstDelay)
	}
	if err := pause(p.ctx, delay); err != nil {
		return err
	}
	p.sent++
	p.left--
	return p.emit(d)
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return canceled(ctx)
	}
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return canceled(ctx)
	}
}

func canceled(ctx context.Context) error {
	return domain.Wrap(domain.CodeCanceled, context.Cause(ctx), "the model call was canceled")
}

// chunk cuts about n bytes off text, between characters.
func chunk(text string, n int) (piece, rest string) {
	if n <= 0 || n >= len(text) {
		return text, ""
	}
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return text[:n], text[n:]
}
