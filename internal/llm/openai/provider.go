// Package openai talks to the OpenAI Chat Completions API, and to the many services that
// speak it.
package openai

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/wire"
)

const address = "https://api.openai.com/v1/"

// Provider is one [[llm]] block of kind openai-compatible. It is safe for concurrent use.
type Provider struct {
	config  llm.Config
	service wire.Service
	http    *http.Client
	chat    sdk.ChatCompletionService
	models  sdk.ModelService
	native  bool // OpenAI's own service, which renamed max_tokens
}

// New builds a provider. It reads no environment and sends nothing. The API key may be
// empty, as local services want none.
func New(config llm.Config) *Provider {
	config.ID = config.Identity()
	base := cmp.Or(config.BaseURL, address)
	client := wire.NewClient(cmp.Or(config.Timeout, llm.DefaultTimeout))
	options := []option.RequestOption{
		option.WithBaseURL(base),
		option.WithHTTPClient(client),
		option.WithMaxRetries(0), // a retry is durable, and so not the SDK's
	}
	if config.APIKey != "" {
		options = append(options, option.WithAPIKey(config.APIKey))
	}
	return &Provider{
		config:  config,
		service: wire.Service{ID: config.ID, Key: config.APIKey},
		http:    client,
		chat:    sdk.NewChatCompletionService(options...),
		models:  sdk.NewModelService(options...),
		native:  strings.Contains(base, "//api.openai.com"),
	}
}

// Info describes the provider.
func (p *Provider) Info() domain.ProviderInfo {
	return domain.ProviderInfo{ID: p.config.ID, Kind: llm.KindOpenAI, Name: cmp.Or(p.config.Name, p.config.ID), DefaultModel: p.config.Model}
}

// Close frees idle connections.
func (p *Provider) Close() error {
	p.http.CloseIdleConnections()
	return nil
}

// Models lists what the service offers.
func (p *Provider) Models(ctx context.Context) ([]domain.ModelInfo, error) {
	var models []domain.ModelInfo
	pager := p.models.ListAutoPaging(ctx)
	for pager.Next() {
		models = append(models, domain.ModelInfo{ID: pager.Current().ID})
	}
	if err := pager.Err(); err != nil {
		return nil, p.service.Fail(ctx, "", err)
	}
	return models, nil
}

// Stream makes one call. See llm.Provider for its errors.
func (p *Provider) Stream(ctx context.Context, req domain.ModelRequest, emit func(domain.ModelDelta) error) (domain.ModelResponse, error) {
	req.Model = cmp.Or(req.Model, p.config.Model)
	req.MaxTokens = cmp.Or(req.MaxTokens, p.config.MaxTokens)
	params, err := build(req, p.native)
	if err != nil {
		return domain.ModelResponse{}, err
	}
	stream := p.chat.NewStreaming(ctx, params)
	defer stream.Close()
	r := reader{service: p.service, answer: wire.NewAnswer(emit), calls: map[int64]*wire.Part{}}
	for stream.Next() {
		if err := r.chunk(stream.Current()); err != nil {
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

// fail maps an SDK's error; one that came inside of the stream holds the service's report.
func (p *Provider) fail(ctx context.Context, model string, err error) error {
	var reported *ssestream.StreamError
	if ctx.Err() == nil && errors.As(err, &reported) {
		return p.service.Report(model, reported.Event.Data)
	}
	return p.service.Fail(ctx, model, err)
}
