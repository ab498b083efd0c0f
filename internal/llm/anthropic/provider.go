// Package anthropic talks to the Anthropic Messages API, and to services that speak it.
package anthropic

import (
	"cmp"
	"context"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/wire"
)

const address = "https://api.anthropic.com/"

// Provider is one [[llm]] block of kind anthropic. It is safe for concurrent use.
type Provider struct {
	config  llm.Config
	service wire.Service
	http    *http.Client
	client  sdk.Client
}

// New builds a provider. It reads no environment and sends nothing.
func New(config llm.Config) *Provider {
	config.ID = config.Identity()
	client := wire.NewClient(cmp.Or(config.Timeout, llm.DefaultTimeout))
	return &Provider{
		config:  config,
		service: wire.Service{ID: config.ID, Key: config.APIKey},
		http:    client,
		client: sdk.NewClient(
			option.WithoutEnvironmentDefaults(),
			option.WithBaseURL(cmp.Or(config.BaseURL, address)),
			option.WithAPIKey(config.APIKey),
			option.WithHTTPClient(client),
			option.WithMaxRetries(0), // a retry is durable, and so not the SDK's
		),
	}
}

// Info describes the provider.
func (p *Provider) Info() domain.ProviderInfo {
	return domain.ProviderInfo{ID: p.config.ID, Kind: llm.KindAnthropic, Name: cmp.Or(p.config.Name, p.config.ID), DefaultModel: p.config.Model}
}

// Close frees idle connections.
func (p *Provider) Close() error {
	p.http.CloseIdleConnections()
	return nil
}

// Models lists what the service offers.
func (p *Provider) Models(ctx context.Context) ([]domain.ModelInfo, error) {
	var models []domain.ModelInfo
	pager := p.client.Models.ListAutoPaging(ctx, sdk.ModelListParams{})
	for pager.Next() {
		m := pager.Current()
		models = append(models, domain.ModelInfo{ID: m.ID, DisplayName: m.DisplayName})
	}
	if err := pager.Err(); err != nil {
		return nil, p.service.Fail(ctx, "", err)
	}
	return models, nil
}

// Stream makes one call. See llm.Provider for its errors.
func (p *Provider) Stream(ctx context.Context, req domain.ModelRequest, emit func(domain.ModelDelta) error) (domain.ModelResponse, error) {
	req.Model = cmp.Or(req.Model, p.config.Model)
	req.MaxTokens = cmp.Or(req.MaxTokens, p.config.AnswerTokens())
	params, err := build(req)
	if err != nil {
		return domain.ModelResponse{}, err
	}
	stream := p.client.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	r := reader{service: p.service, model: req.Model, answer: wire.NewAnswer(emit), parts: map[int64]*wire.Part{}}
	for stream.Next() {
		if err := r.event(stream.Current()); err != nil {
			return domain.ModelResponse{}, err
		}
	}
	if err := stream.Err(); err != nil {
		return domain.ModelResponse{}, p.fail(ctx, req.Model, err)
	}
	if err := ctx.Err(); err != nil {
		return domain.ModelResponse{}, p.service.Fail(ctx, req.Model, err)
	}
	return r.finish(req)
}
