// Package llm talks to models: one interface, the providers behind it, and the choice
// among them.
package llm

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Provider is a configured model service.
type Provider interface {
	// Info describes the provider, with the models that it was configured with.
	Info() domain.ProviderInfo
	// Stream sends req and calls emit for each piece of the answer, in order, from one
	// goroutine; emit's error ends the call. Errors are domain errors: rate_limited (Wait from
	// retry-after), overloaded, timeout, unavailable, upstream, invalid, too_large.
	Stream(ctx context.Context, req domain.ModelRequest, emit func(domain.ModelDelta) error) (domain.ModelResponse, error)
	// Models asks the service which models it offers.
	Models(ctx context.Context) ([]domain.ModelInfo, error)
}
