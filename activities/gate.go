package activities

import (
	"context"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Gate stands between the turns and the models: no value of a project's secrets goes into a
// request, and none comes out of an answer. It is the last that touches a request, whoever
// made it and whatever it was made of: history, files, attachments, memories.
type Gate struct {
	Models
	Secrets Vault
}

// Stream makes a model call, see Models. In an answer the inputs of tool calls stay as the
// model wrote them: see sealer.
func (g Gate) Stream(ctx context.Context, sel domain.ProviderSelection, req domain.ModelRequest, sink domain.ModelSink) (domain.ModelResponse, error) {
	if req.ProjectID == "" {
		return g.Models.Stream(ctx, sel, req, sink)
	}
	s, err := g.Secrets.Scrubber(ctx, req.ProjectID)
	if err != nil {
		return domain.ModelResponse{}, fmt.Errorf("load what is scrubbed: %w", err)
	}
	held := &heldStream{scrub: s, sink: sink}
	resp, err := g.Models.Stream(ctx, sel, g.reveal(ctx, scrubRequest(s.ForModel, req)), domain.ModelSink{Delta: held.delta, Failover: held.failover})
	if err != nil {
		return domain.ModelResponse{}, scrubError(s.Scrub, err)
	}
	if err := held.release(); err != nil {
		return domain.ModelResponse{}, err
	}
	for i, b := range resp.Message.Blocks {
		input := b.Input
		b.Input = nil
		b = scrubBlock(s.Scrub, b)
		b.Input = input
		resp.Message.Blocks[i] = b
	}
	return resp, nil
}

// scrubRequest gives a request without values.
func scrubRequest(scrub scrub, req domain.ModelRequest) domain.ModelRequest {
	req.System = scrub(req.System)
	messages := make([]domain.Message, len(req.Messages))
	for i, m := range req.Messages {
		messages[i] = scrubMessage(scrub, m)
	}
	req.Messages = messages
	specs := make([]domain.ToolSpec, len(req.Tools))
	for i, spec := range req.Tools {
		spec.Description = scrub(spec.Description)
		specs[i] = spec
	}
	req.Tools = specs
	return req
}

// reveal adds to the results of a request the values that they reveal, of secrets whose
// permission still holds and that have not changed since.
func (g Gate) reveal(ctx context.Context, req domain.ModelRequest) domain.ModelRequest {
	for _, m := range req.Messages { // copies of the caller's
		for i, b := range m.Blocks {
			if b.Reveals != "" {
				m.Blocks[i].Text = b.Text + "\n" + g.revealed(ctx, req.ProjectID, b.Reveals)
			}
		}
	}
	return req
}

// noLonger stands for a value that can't be shown any more.
const noLonger = "[the value is no longer shown: get the secret again]"

func (g Gate) revealed(ctx context.Context, projectID, handle string) string {
	ref, err := domain.ParseHandle(handle)
	if err != nil {
		return noLonger
	}
	secret, err := g.Secrets.Get(ctx, projectID, ref.Name)
	if err != nil || !secret.Revealable {
		return noLonger
	}
	value, err := g.Secrets.Open(ctx, projectID, ref)
	if err != nil {
		return noLonger
	}
	return value.Reveal()
}

// heldStream scrubs the deltas of an answer. A value may come in pieces: what may be the
// beginning of one is held back until it is known.
type heldStream struct {
	scrub    domain.Scrubber
	sink     domain.ModelSink
	text     string // held back
	thinking bool   // what text is of
}

func (h *heldStream) delta(d domain.ModelDelta) error {
	if d.Text == "" && d.Thinking == "" {
		if err := h.release(); err != nil {
			return err
		}
		return h.sink.Delta(d)
	}
	if h.thinking != (d.Thinking != "") {
		if err := h.release(); err != nil {
			return err
		}
		h.thinking = d.Thinking != ""
	}
	h.text += d.Text + d.Thinking
	cut := len(h.text) - h.scrub.Held(h.text)
	ready := h.scrub.Scrub(h.text[:cut])
	h.text = h.text[cut:]
	return h.send(ready)
}

// release lets go of what is held: it was no value.
func (h *heldStream) release() error {
	text := h.scrub.Scrub(h.text)
	h.text = ""
	return h.send(text)
}

func (h *heldStream) send(text string) error {
	switch {
	case text == "":
		return nil
	case h.thinking:
		return h.sink.Delta(domain.ModelDelta{Thinking: text})
	}
	return h.sink.Delta(domain.ModelDelta{Text: text})
}

// failover forgets what is held: the provider that said it is left behind.
func (h *heldStream) failover(f domain.ModelFailover) error {
	h.text = ""
	if h.sink.Failover == nil {
		return nil
	}
	return h.sink.Failover(f)
}
