package llm

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Entry is a provider with its configuration.
type Entry struct {
	Config   Config
	Provider Provider
}

// Chain chooses among providers, by a person's selection and by priority, and goes on at
// the next one within a call when one is rate limited. It is safe for concurrent use.
type Chain struct {
	links  []Entry // by priority
	models *discovery
}

// NewChain builds a chain. Two blocks of one id are an error, as is having none.
func NewChain(entries []Entry) (*Chain, error) {
	if len(entries) == 0 {
		return nil, domain.Invalid("llm", "no model provider is configured")
	}
	links := make([]Entry, len(entries))
	seen := map[string]bool{}
	for i, e := range entries {
		e.Config = e.Config.withDefaults()
		if seen[e.Config.ID] {
			return nil, domain.Invalid("llm.id", "two [[llm]] blocks are known as %q: give each its own id", e.Config.ID)
		}
		seen[e.Config.ID] = true
		links[i] = e
	}
	slices.SortStableFunc(links, func(a, b Entry) int { return cmp.Compare(a.Config.Priority, b.Config.Priority) })
	return &Chain{links: links, models: newDiscovery(time.Now)}, nil
}

// Close frees the connections of the providers.
func (c *Chain) Close() error {
	var errs []error
	for _, l := range c.links {
		if closer, ok := l.Provider.(io.Closer); ok {
			errs = append(errs, closer.Close())
		}
	}
	return errors.Join(errs...)
}

// candidate is a provider that may take a call, with the model it is to use.
type candidate struct {
	Entry
	model string
}

func (c candidate) used() domain.ProviderUsed {
	return domain.ProviderUsed{ProviderID: c.Config.ID, Kind: c.Config.Kind, Model: c.model}
}

// order gives the providers in the order in which a call with the selection tries them.
// An unknown id gives the default order.
func (c *Chain) order(sel domain.ProviderSelection) ([]candidate, error) {
	all := make([]candidate, len(c.links))
	for i, l := range c.links {
		all[i] = candidate{Entry: l, model: cmp.Or(l.Config.Model, l.Provider.Info().DefaultModel)}
	}
	first := c.selected(sel)
	if first < 0 {
		return all, nil
	}
	chosen := all[first]
	if chosen.Config.Kind != KindOffline { // which has no models to choose among
		chosen.model = cmp.Or(sel.Model, chosen.model)
	}
	if allowed := chosen.Config.Models; len(allowed) > 0 && chosen.model != chosen.Config.Model && !slices.Contains(allowed, chosen.model) {
		return nil, domain.Invalid("model", "provider %q does not offer %q; it offers %s",
			chosen.Config.ID, chosen.model, strings.Join(allowed, ", "))
	}
	return append([]candidate{chosen}, slices.Delete(all, first, first+1)...), nil
}

// selected gives the index of the provider that the selection means, or -1. A model
// without a provider means the first provider that is known to offer it, or else the first.
func (c *Chain) selected(sel domain.ProviderSelection) int {
	if sel.ProviderID != "" {
		return slices.IndexFunc(c.links, func(e Entry) bool { return e.Config.ID == sel.ProviderID })
	}
	if sel.Model == "" {
		return -1
	}
	known := slices.IndexFunc(c.links, func(e Entry) bool {
		return e.Config.Model == sel.Model || slices.Contains(e.Config.Models, sel.Model) || c.models.offers(e.Config.ID, sel.Model)
	})
	return max(known, 0)
}

// Stream makes one model call. On a rate limit, and on the codes of the provider's
// FailoverOn, the next provider in order is tried at once; what was streamed before must
// be dropped then, which sink.Failover tells. Where every provider is limited, the error
// is that of the one that may be tried again soonest. Every other error ends the call.
func (c *Chain) Stream(ctx context.Context, sel domain.ProviderSelection, req domain.ModelRequest, sink domain.ModelSink) (domain.ModelResponse, error) {
	order, err := c.order(sel)
	if err != nil {
		return domain.ModelResponse{}, err
	}
	var failed error // the failure to report where no provider answers
	var left candidate
	for _, next := range order {
		readable := next.Config.readable(withModel(req, next.model))
		if err := next.Config.fits(readable); err != nil {
			if failed == nil {
				return domain.ModelResponse{}, err
			}
			continue // too small a window to step in
		}
		if failed != nil {
			if err := announce(sink, left, next, failed); err != nil {
				return domain.ModelResponse{}, err
			}
		}
		response, err := next.call(ctx, readable, sink)
		if err == nil {
			return response, nil
		}
		if !next.Config.failsOver(domain.CodeOf(err)) || ctx.Err() != nil {
			return domain.ModelResponse{}, err
		}
		failed, left = soonest(failed, err), next
	}
	return domain.ModelResponse{}, failed
}

// call makes the call at one provider, which can read the request.
func (c candidate) call(ctx context.Context, req domain.ModelRequest, sink domain.ModelSink) (domain.ModelResponse, error) {
	req.Messages = settle(req.Messages)
	req.MaxTokens = c.Config.within(req.MaxTokens)
	response, err := c.Provider.Stream(ctx, req, sink.Delta)
	if err != nil {
		return domain.ModelResponse{}, err
	}
	response.Usage = c.Config.price(response.Usage)
	response.Provider = c.used()
	return response, nil
}

func withModel(req domain.ModelRequest, model string) domain.ModelRequest {
	req.Model = model
	return req
}

func announce(sink domain.ModelSink, from, to candidate, reason error) error {
	if sink.Failover == nil {
		return nil
	}
	return sink.Failover(domain.ModelFailover{
		From: from.used(), To: to.used(), Reason: domain.CodeOf(reason), Wait: waitOf(reason),
	})
}

// soonest gives the one of two failures that may be tried again first.
func soonest(a, b error) error {
	if a == nil {
		return b
	}
	waitA, _ := RetryDelay(a, 0)
	waitB, retryB := RetryDelay(b, 0)
	if retryB && waitB < waitA {
		return b
	}
	return a
}

// RetryDelay is the package's RetryDelay within the retries that are configured for the
// provider that the selection puts first.
func (c *Chain) RetryDelay(sel domain.ProviderSelection, err error, failures int) (wait time.Duration, retry bool) {
	order, orderErr := c.order(sel)
	if orderErr != nil || failures >= order[0].Config.MaxRetries {
		return 0, false
	}
	return RetryDelay(err, failures)
}

// Quote gives the most that a call may take: the estimate of its input, the longest
// answer, and their price at the dearest provider that may answer. A provider that has no
// limit of its own is taken at 16,384 tokens.
func (c *Chain) Quote(sel domain.ProviderSelection, req domain.ModelRequest) domain.Usage {
	quote := domain.Usage{InputTokens: EstimateTokens(req)}
	order, err := c.order(sel)
	if err != nil {
		return quote
	}
	for _, next := range order {
		longest := cmp.Or(next.Config.within(req.MaxTokens), next.Config.AnswerTokens(), answers[KindOpenAI])
		most := next.Config.most(quote.InputTokens, longest)
		quote.OutputTokens = max(quote.OutputTokens, most.OutputTokens)
		quote.Cost = max(quote.Cost, most.Cost)
	}
	return quote
}
