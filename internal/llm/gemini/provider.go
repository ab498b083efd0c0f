// Package gemini talks to the Google Gemini API.
package gemini

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/wire"
)

const address = "https://generativelanguage.googleapis.com/"

// Provider is one [[llm]] block of kind gemini. It is safe for concurrent use.
type Provider struct {
	config  llm.Config
	service wire.Service
	http    *http.Client
	client  *genai.Client
}

// New builds a provider. It sends nothing; a missing API key is an invalid error.
func New(config llm.Config) (*Provider, error) {
	config.ID = config.Identity()
	if config.APIKey == "" { // the SDK would look for one in the environment
		return nil, domain.Invalid("llm.api_key", "provider %q needs an API key", config.ID)
	}
	client := wire.NewClient(cmp.Or(config.Timeout, llm.DefaultTimeout))
	service, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey:     config.APIKey,
		Backend:    genai.BackendGeminiAPI,
		HTTPClient: client,
		// Without RetryOptions the SDK does not retry: a retry is durable, and so not the SDK's.
		HTTPOptions: genai.HTTPOptions{BaseURL: cmp.Or(config.BaseURL, address)},
	})
	if err != nil {
		return nil, domain.Wrap(domain.CodeInvalid, err, "provider %q can't be set up: check api_key and base_url in its [[llm]] block", config.ID)
	}
	return &Provider{config: config, service: wire.Service{ID: config.ID, Key: config.APIKey}, http: client, client: service}, nil
}

// Info describes the provider.
func (p *Provider) Info() domain.ProviderInfo {
	return domain.ProviderInfo{ID: p.config.ID, Kind: llm.KindGemini, Name: cmp.Or(p.config.Name, p.config.ID), DefaultModel: p.config.Model}
}

// Close frees idle connections.
func (p *Provider) Close() error {
	p.http.CloseIdleConnections()
	return nil
}

// Models lists what the service offers for conversations.
func (p *Provider) Models(ctx context.Context) ([]domain.ModelInfo, error) {
	var models []domain.ModelInfo
	for m, err := range p.client.Models.All(ctx) {
		if err != nil {
			return nil, p.fail(ctx, "", err)
		}
		if len(m.SupportedActions) == 0 || slices.Contains(m.SupportedActions, "generateContent") {
			models = append(models, domain.ModelInfo{ID: strings.TrimPrefix(m.Name, "models/"), DisplayName: m.DisplayName})
		}
	}
	return models, nil
}

// Stream makes one call. See llm.Provider for its errors.
func (p *Provider) Stream(ctx context.Context, req domain.ModelRequest, emit func(domain.ModelDelta) error) (domain.ModelResponse, error) {
	req.Model = cmp.Or(req.Model, p.config.Model)
	req.MaxTokens = cmp.Or(req.MaxTokens, p.config.AnswerTokens())
	contents, config, err := build(req)
	if err != nil {
		return domain.ModelResponse{}, err
	}
	r := reader{service: p.service, model: req.Model, answer: wire.NewAnswer(emit)}
	for chunk, err := range p.client.Models.GenerateContentStream(ctx, req.Model, contents, config) {
		if err != nil {
			return domain.ModelResponse{}, p.fail(ctx, req.Model, err)
		}
		if err := r.chunk(chunk); err != nil {
			return domain.ModelResponse{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return domain.ModelResponse{}, p.service.Fail(ctx, req.Model, err)
	}
	return r.finish(req)
}
