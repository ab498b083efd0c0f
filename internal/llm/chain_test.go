package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entry builds a scripted provider that says text, after the given faults.
func entry(id string, priority int, text string, faults ...scripted.Fault) llm.Entry {
	return llm.Entry{
		Config: llm.Config{ID: id, Kind: llm.KindScripted, Priority: priority, ExposeToUI: true, Model: id + "-model", MaxRetries: 2},
		Provider: scripted.New(id, scripted.Script{Model: id + "-model", Rounds: []scripted.Round{{
			Text: text, Faults: faults, Usage: scripted.Usage{Input: 1_000_000, Output: 500_000, Cached: 400_000, Written: 100_000},
		}}}),
	}
}

func limited(wait time.Duration) scripted.Fault {
	return scripted.Fault{Code: domain.CodeRateLimited, Wait: scripted.Duration(wait), Times: -1}
}

func fault(code domain.Code) scripted.Fault { return scripted.Fault{Code: code, Times: -1} }

func newChain(t *testing.T, entries ...llm.Entry) *llm.Chain {
	t.Helper()
	chain, err := llm.NewChain(entries)
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

func question() domain.ModelRequest {
	return domain.ModelRequest{Messages: []domain.Message{domain.TextMessage(domain.RoleUser, "hello")}}
}

// outcome is what a call came to, as the tables compare it.
type outcome struct {
	Answer    string
	Used      string // provider/model
	Code      domain.Code
	Wait      time.Duration
	Failovers []string // from>to:reason
}

func call(ctx context.Context, chain *llm.Chain, sel domain.ProviderSelection, req domain.ModelRequest) (outcome, domain.ModelResponse, error) {
	var got outcome
	var text strings.Builder
	response, err := chain.Stream(ctx, sel, req, domain.ModelSink{
		Delta: func(d domain.ModelDelta) error { text.WriteString(d.Text); return nil },
		Failover: func(f domain.ModelFailover) error {
			text.Reset()
			got.Failovers = append(got.Failovers, f.From.ProviderID+">"+f.To.ProviderID+":"+string(f.Reason))
			return nil
		},
	})
	got.Answer, got.Code = text.String(), domain.CodeOf(err)
	if e := new(domain.Error); errors.As(err, &e) {
		got.Wait, got.Answer = e.Wait, ""
	}
	if err == nil {
		got.Used = response.Provider.ProviderID + "/" + response.Provider.Model
	}
	return got, response, err
}

func TestChain(t *testing.T) {
	t.Parallel()
	overloadable := entry("a", 0, "from a", fault(domain.CodeOverloaded))
	overloadable.Config.FailoverOn = []domain.Code{domain.CodeOverloaded}
	partial := limited(0)
	partial.After = 1
	picky := entry("b", 1, "from b")
	picky.Config.Models = []string{"b-large"}
	ruled := entry("rules", 0, "from rules")
	ruled.Config.Kind = llm.KindOffline
	narrow := entry("b", 1, "from b")
	narrow.Config.ContextTokens = 1
	for _, c := range []struct {
		name    string
		entries []llm.Entry
		sel     domain.ProviderSelection
		want    outcome
	}{
		{name: "the lowest priority number answers",
			entries: []llm.Entry{entry("b", 1, "from b"), entry("a", 0, "from a")},
			want:    outcome{Answer: "from a", Used: "a/a-model"}},
		{name: "equal priorities keep the order of the file",
			entries: []llm.Entry{entry("b", 0, "from b"), entry("a", 0, "from a")},
			want:    outcome{Answer: "from b", Used: "b/b-model"}},
		{name: "a selection goes first, with its model",
			entries: []llm.Entry{entry("a", 0, "from a"), entry("b", 1, "from b")},
			sel:     domain.ProviderSelection{ProviderID: "b", Model: "b-large"},
			want:    outcome{Answer: "from b", Used: "b/b-large"}},
		{name: "rules are no model to choose",
			entries: []llm.Entry{ruled},
			sel:     domain.ProviderSelection{ProviderID: "rules", Model: "x"},
			want:    outcome{Answer: "from rules", Used: "rules/rules-model"}},
		{name: "a model alone finds its provider",
			entries: []llm.Entry{entry("a", 0, "from a"), picky},
			sel:     domain.ProviderSelection{Model: "b-large"},
			want:    outcome{Answer: "from b", Used: "b/b-large"}},
		{name: "a model outside of the allow-list is refused",
			entries: []llm.Entry{entry("a", 0, "from a"), picky},
			sel:     domain.ProviderSelection{ProviderID: "b", Model: "b-huge"},
			want:    outcome{Code: domain.CodeInvalid}},
		{name: "an unknown id means the default order",
			entries: []llm.Entry{entry("a", 0, "from a"), entry("b", 1, "from b")},
			sel:     domain.ProviderSelection{ProviderID: "gone", Model: "x"},
			want:    outcome{Answer: "from a", Used: "a/a-model"}},
		{name: "a limited selection falls back to the default order and its models",
			entries: []llm.Entry{entry("a", 0, "from a"), entry("b", 1, "from b", limited(time.Second))},
			sel:     domain.ProviderSelection{ProviderID: "b", Model: "b-large"},
			want:    outcome{Answer: "from a", Used: "a/a-model", Failovers: []string{"b>a:rate_limited"}}},
		{name: "a rate limit in mid-stream drops the text so far",
			entries: []llm.Entry{entry("a", 0, "from a", partial), entry("b", 1, "from b")},
			want:    outcome{Answer: "from b", Used: "b/b-model", Failovers: []string{"a>b:rate_limited"}}},
		{name: "all limited: the smallest wait",
			entries: []llm.Entry{entry("a", 0, "", limited(40*time.Second)), entry("b", 1, "", limited(7*time.Second)), entry("c", 2, "", limited(20*time.Second))},
			want:    outcome{Code: domain.CodeRateLimited, Wait: 7 * time.Second, Failovers: []string{"a>b:rate_limited", "b>c:rate_limited"}}},
		{name: "an overload ends the call where it is not named",
			entries: []llm.Entry{entry("a", 0, "", fault(domain.CodeOverloaded)), entry("b", 1, "from b")},
			want:    outcome{Code: domain.CodeOverloaded}},
		{name: "an overload fails over where it is named",
			entries: []llm.Entry{overloadable, entry("b", 1, "from b")},
			want:    outcome{Answer: "from b", Used: "b/b-model", Failovers: []string{"a>b:overloaded"}}},
		{name: "any other error of the second provider ends the call",
			entries: []llm.Entry{entry("a", 0, "", limited(time.Second)), entry("b", 1, "", fault(domain.CodeUpstream))},
			want:    outcome{Code: domain.CodeUpstream, Failovers: []string{"a>b:rate_limited"}}},
		{name: "a provider with too small a window does not step in",
			entries: []llm.Entry{entry("a", 0, "", limited(time.Second)), narrow, entry("c", 2, "from c")},
			want:    outcome{Answer: "from c", Used: "c/c-model", Failovers: []string{"a>c:rate_limited"}}},
		{name: "a request that does not fit is refused",
			entries: []llm.Entry{narrow, entry("c", 2, "from c")},
			want:    outcome{Code: domain.CodeTooLarge}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := call(t.Context(), newChain(t, c.entries...), c.sel, question())
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestCanceledCallDoesNotFailOver(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	canceling := entry("a", 0, "", fault(domain.CodeRateLimited))
	got, _, _ := call(ctx, newChain(t, canceling, entry("b", 1, "from b")), domain.ProviderSelection{}, question())
	if len(got.Failovers) != 0 || got.Code == "" {
		t.Errorf("got %+v", got)
	}
}

func TestTooLargeNamesModelAndProvider(t *testing.T) {
	t.Parallel()
	small := entry("tiny", 0, "x")
	small.Config.ContextTokens = 100
	req := question()
	req.System = strings.Repeat("word ", 1000)
	_, _, err := call(t.Context(), newChain(t, small), domain.ProviderSelection{}, req)
	text := domain.PublicMessage(err)
	for _, part := range []string{`"tiny"`, "tiny-model", "100"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not name %s", text, part)
		}
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	cached, written := 0.5, 4.0
	for _, c := range []struct {
		name   string
		change func(*llm.Config)
		want   float64
	}{
		{"no prices", func(*llm.Config) {}, 0},
		{"cached input costs as other input", func(c *llm.Config) { c.PriceInput, c.PriceOutput = 3, 15 }, 3 + 7.5},
		{"cached input has its own price", func(c *llm.Config) { c.PriceInput, c.PriceOutput, c.PriceCachedInput = 3, 15, &cached }, 1.8 + 0.2 + 7.5},
		{"what is written to the cache has its own price", func(c *llm.Config) {
			c.PriceInput, c.PriceOutput, c.PriceCachedInput, c.PriceCacheWrite = 3, 15, &cached, &written
		}, 1.5 + 0.2 + 0.4 + 7.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := entry("a", 0, "x")
			c.change(&e.Config)
			_, response, err := call(t.Context(), newChain(t, e), domain.ProviderSelection{}, question())
			if err != nil || response.Usage.Cost < c.want-1e-9 || response.Usage.Cost > c.want+1e-9 {
				t.Errorf("cost %v, want %v (%v)", response.Usage.Cost, c.want, err)
			}
		})
	}
}

func TestQuoteIsTheDearest(t *testing.T) {
	t.Parallel()
	cheap, dear := entry("a", 0, "x"), entry("b", 1, "x")
	cheap.Config.PriceOutput, cheap.Config.MaxTokens = 1, 1000
	dear.Config.PriceOutput, dear.Config.MaxTokens = 10, 500
	quote := newChain(t, cheap, dear).Quote(domain.ProviderSelection{}, question())
	if quote.OutputTokens != 1000 || quote.Cost != 0.005 || quote.InputTokens == 0 {
		t.Errorf("quote %+v", quote)
	}
	short := question()
	short.MaxTokens = 600
	quote = newChain(t, cheap, dear).Quote(domain.ProviderSelection{}, short)
	if quote.OutputTokens != 600 || quote.Cost != 0.005 {
		t.Errorf("quote of a shorter answer %+v", quote)
	}
	written := 100.0 // all of the input may be written to a cache
	cheap.Config.PriceCacheWrite = &written
	if dearer := newChain(t, cheap, dear).Quote(domain.ProviderSelection{}, short); dearer.Cost <= float64(dearer.InputTokens)*written/1e6 {
		t.Errorf("quote where writing to the cache is dear %+v", dearer)
	}
}

func TestSinkErrorsEndTheCall(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	chain := newChain(t, entry("a", 0, "", limited(time.Second)), entry("b", 1, "from b"))
	_, err := chain.Stream(t.Context(), domain.ProviderSelection{}, question(), domain.ModelSink{
		Delta:    func(domain.ModelDelta) error { return nil },
		Failover: func(domain.ModelFailover) error { return gone },
	})
	if !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

func TestNewChainRefuses(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][]llm.Entry{
		"none":        nil,
		"one id":      {entry("a", 0, ""), entry("a", 1, "")},
		"default ids": {{Config: llm.Config{Kind: "gemini"}}, {Config: llm.Config{Kind: "gemini"}}},
	} {
		if _, err := llm.NewChain(entries); domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestRetryDelay(t *testing.T) {
	t.Parallel()
	rateLimit := func(wait time.Duration) error { return &domain.Error{Code: domain.CodeRateLimited, Wait: wait} }
	for _, c := range []struct {
		name     string
		err      error
		failures int
		wait     time.Duration
		retry    bool
	}{
		{"timeout", domain.Errorf(domain.CodeTimeout, ""), 0, 2 * time.Second, true},
		{"timeout, third", domain.Errorf(domain.CodeTimeout, ""), 2, 8 * time.Second, true},
		{"timeout, doubled four times at most", domain.Errorf(domain.CodeTimeout, ""), 9, 32 * time.Second, true},
		{"dropped connection", domain.Errorf(domain.CodeUnavailable, ""), 1, 4 * time.Second, true},
		{"rate limit", rateLimit(0), 0, 30 * time.Second, true},
		{"rate limit, doubled four times at most", rateLimit(0), 7, 480 * time.Second, true},
		{"rate limit with a wait", rateLimit(7 * time.Second), 3, 7 * time.Second, true},
		{"rate limit with a long wait", rateLimit(time.Hour), 0, 5 * time.Minute, true},
		{"overload", domain.Errorf(domain.CodeOverloaded, ""), 3, 5 * time.Second, true},
		{"upstream", domain.Errorf(domain.CodeUpstream, ""), 0, 0, false},
		{"invalid", domain.Errorf(domain.CodeInvalid, ""), 0, 0, false},
		{"canceled", context.Canceled, 0, 0, false},
	} {
		if wait, retry := llm.RetryDelay(c.err, c.failures); wait != c.wait || retry != c.retry {
			t.Errorf("%s: %v %v, want %v %v", c.name, wait, retry, c.wait, c.retry)
		}
	}
}

func TestRetriesAreBounded(t *testing.T) {
	t.Parallel()
	stubborn := entry("b", 1, "x")
	stubborn.Config.MaxRetries = 5
	chain := newChain(t, entry("a", 0, "x"), stubborn)
	timeout := domain.Errorf(domain.CodeTimeout, "")
	for _, c := range []struct {
		provider string
		failures int
		want     bool
	}{{"", 0, true}, {"", 1, true}, {"", 2, false}, {"b", 4, true}, {"b", 5, false}} {
		if _, got := chain.RetryDelay(domain.ProviderSelection{ProviderID: c.provider}, timeout, c.failures); got != c.want {
			t.Errorf("provider %q after %d failures: retry %v", c.provider, c.failures, got)
		}
	}
}

// catalog is a provider whose list of models changes.
type catalog struct {
	llm.Provider
	asked int
	fail  bool
}

func (c *catalog) Models(context.Context) ([]domain.ModelInfo, error) {
	c.asked++
	if c.fail {
		return nil, errors.New("down")
	}
	return []domain.ModelInfo{{ID: "m", DisplayName: strings.Repeat("I", c.asked)}}, nil
}

func TestProviders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hidden, listed, asked := entry("hidden", 0, ""), entry("listed", 1, ""), entry("asked", 2, "")
		hidden.Config.ExposeToUI = false
		listed.Config.Models, listed.Config.Name = []string{"one", "two"}, "Listed ones"
		service := &catalog{Provider: asked.Provider}
		asked.Provider = service
		chain := newChain(t, hidden, listed, asked)
		see := func(refresh bool) string {
			var seen []string
			for _, p := range chain.Providers(t.Context(), refresh) {
				line := p.ID + "=" + p.Name + "/" + p.DefaultModel
				for _, m := range p.Models {
					line += "," + m.ID + m.DisplayName
				}
				seen = append(seen, line)
			}
			return strings.Join(seen, " ")
		}
		prefix := "listed=Listed ones/listed-model,one,two asked=asked/asked-model,"
		steps := []struct {
			name    string
			advance time.Duration
			refresh bool
			fail    bool
			want    string
		}{
			{"the service can't be asked", 0, false, true, "asked-model"},
			{"asked", 0, false, false, "mII"},
			{"kept", 299 * time.Second, false, false, "mII"},
			{"stale", 2 * time.Second, false, false, "mIII"},
			{"refreshed", 0, true, false, "mIIII"},
			{"what was known serves while it can't be asked", time.Hour, false, true, "mIIII"},
		}
		for _, s := range steps {
			time.Sleep(s.advance) // the bubble's clock
			service.fail = s.fail
			if got := see(s.refresh); got != prefix+s.want {
				t.Errorf("%s: got %s, want %s", s.name, got, prefix+s.want)
			}
		}
		if got, _, _ := call(t.Context(), chain, domain.ProviderSelection{Model: "m"}, question()); got.Used != "asked/m" {
			t.Errorf("a discovered model alone was served by %s", got.Used)
		}
	})
}

func TestEstimateTokens(t *testing.T) {
	t.Parallel()
	text := func(s string) domain.ModelRequest { return domain.ModelRequest{System: s} }
	media := func(mime string, size int) domain.ModelRequest {
		return domain.ModelRequest{Messages: []domain.Message{{Blocks: []domain.Block{{Type: domain.BlockMedia, MimeType: mime, Data: make([]byte, size)}}}}}
	}
	for _, c := range []struct {
		name     string
		req      domain.ModelRequest
		min, max int
	}{
		{"empty", domain.ModelRequest{}, 0, 0},
		{"English", text(strings.Repeat("word ", 800)), 900, 1100},
		{"Cyrillic", text(strings.Repeat("слово ", 800)), 1500, 2500},
		{"Chinese", text(strings.Repeat("字", 900)), 500, 900},
		{"an image", media("image/png", 2_000_000), 1000, 2000},
		{"a document of ten pages", media("application/pdf", 500_000), 10_000, 20_000},
		{"a text file", media("text/plain", 4_000), 900, 1100},
	} {
		if got := llm.EstimateTokens(c.req); got < c.min || got > c.max {
			t.Errorf("%s: %d tokens, want %d to %d", c.name, got, c.min, c.max)
		}
	}
}
