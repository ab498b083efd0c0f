package llm

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The kinds of providers, as configurations and provider_used name them.
const (
	KindAnthropic = "anthropic"
	KindGemini    = "gemini"
	KindOpenAI    = "openai-compatible"
	KindOffline   = "offline"
	KindScripted  = "scripted"
)

// What a configuration has where it says nothing.
const (
	DefaultTimeout    = 120 * time.Second
	DefaultMaxRetries = 3
)

// Config is one [[llm]] block.
type Config struct {
	ID         string // "" for "<kind>-<priority>"
	Kind       string
	Name       string // for people; "" for the id
	Model      string
	APIKey     string
	BaseURL    string // "" for the service's own address
	Script     string // kind scripted: path of the script file
	Priority   int    // lower is tried first; equal ones in the order of the file
	MaxRetries int    // tries after the first, for errors that may pass
	// Timeout bounds the wait for the first byte and each gap in a stream, never the whole
	// stream. 0 for DefaultTimeout.
	Timeout    time.Duration
	ExposeToUI bool     // whether the model picker shows it
	Models     []string // what the picker offers, and all that may be selected; empty: all that the service has
	// FailoverOn names codes beside rate_limited on which the next provider is tried at once.
	FailoverOn []domain.Code

	PriceInput  float64 // per million tokens
	PriceOutput float64 // per million tokens
	// PriceCachedInput is the price of input that the service read from its cache; nil for PriceInput.
	PriceCachedInput *float64
	// PriceCacheWrite is the price of input that the service wrote to its cache; nil for PriceInput.
	PriceCacheWrite *float64

	ContextTokens int // the model's window, input and answer; 0 for the kind's usual one
	MaxTokens     int // the longest answer; 0 for the kind's usual one

	// Images says whether the models see images; nil for the kind's usual: all do, save those
	// behind another address than OpenAI's own, of which nothing is known.
	Images *bool
}

// windows are the context windows that each kind's current models have at the least.
var windows = map[string]int{
	KindAnthropic: 200_000,
	KindGemini:    1_048_576,
	KindOpenAI:    128_000,
}

// answers are the longest answers, in tokens, to ask for.
var answers = map[string]int{
	KindAnthropic: 16_384,
	KindGemini:    32_768,
	KindOpenAI:    16_384,
}

// withDefaults fills what the block left out.
func (c Config) withDefaults() Config {
	c.ID = cmp.Or(c.ID, fmt.Sprintf("%s-%d", c.Kind, c.Priority))
	c.Name = cmp.Or(c.Name, c.ID)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.ContextTokens = cmp.Or(c.ContextTokens, windows[c.Kind])
	if c.PriceCachedInput == nil {
		c.PriceCachedInput = &c.PriceInput
	}
	if c.PriceCacheWrite == nil {
		c.PriceCacheWrite = &c.PriceInput
	}
	return c
}

// Identity gives the id under which the provider of the block is known.
func (c Config) Identity() string { return c.withDefaults().ID }

// AnswerTokens gives the longest answer to ask the provider for.
func (c Config) AnswerTokens() int { return cmp.Or(c.MaxTokens, answers[c.Kind]) }

// within gives the longest answer to ask for where asked is wanted (0: nothing is), which
// the block's own limit shortens; 0 leaves it to the provider.
func (c Config) within(asked int) int {
	if asked == 0 || c.MaxTokens == 0 {
		return cmp.Or(asked, c.MaxTokens)
	}
	return min(asked, c.MaxTokens)
}

// failsOver reports whether the next provider is to be tried after an error of code.
func (c Config) failsOver(code domain.Code) bool {
	return code == domain.CodeRateLimited || slices.Contains(c.FailoverOn, code)
}

// price puts the cost into u, whose input counts what was read from and written to a cache.
func (c Config) price(u domain.Usage) domain.Usage {
	const million = 1e6
	fresh := max(0, u.InputTokens-u.CachedInputTokens-u.CacheWriteTokens)
	u.Cost = (float64(fresh)*c.PriceInput +
		float64(u.CachedInputTokens)**c.PriceCachedInput +
		float64(u.CacheWriteTokens)**c.PriceCacheWrite +
		float64(u.OutputTokens)*c.PriceOutput) / million
	return u
}

// most gives the most that so much input and output may cost: all of the input may be written to the cache.
func (c Config) most(input, output int) domain.Usage {
	u := domain.Usage{InputTokens: input, OutputTokens: output}
	if *c.PriceCacheWrite > c.PriceInput {
		u.CacheWriteTokens = input
	}
	return c.price(u)
}
