package main

import (
	"context"
	"fmt"

	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/providers"
)

// newChain builds the model providers of the configuration.
func newChain(blocks []config.LLM) (*llm.Chain, error) {
	entries := make([]llm.Entry, 0, len(blocks))
	for _, block := range blocks {
		c := modelConfig(block)
		provider, err := providers.New(c)
		if err != nil {
			return nil, fmt.Errorf("model provider %s: %w", c.Identity(), err)
		}
		entries = append(entries, llm.Entry{Config: c, Provider: provider})
	}
	return llm.NewChain(entries)
}

func modelConfig(b config.LLM) llm.Config {
	c := llm.Config{
		ID: b.ID, Kind: b.Provider, Name: b.Name, Model: b.Model, APIKey: b.APIKey.Reveal(), BaseURL: b.BaseURL.Reveal(),
		Script: b.Script, Priority: b.Priority, MaxRetries: b.MaxRetries, Timeout: b.Timeout(), ExposeToUI: b.ExposeToUI,
		Models: b.Models, PriceInput: b.PriceInput, PriceOutput: b.PriceOutput,
		PriceCachedInput: b.PriceCachedInput, PriceCacheWrite: b.PriceCacheWrite,
		ContextTokens: b.ContextWindow, MaxTokens: b.MaxTokens, Images: b.Images,
	}
	for _, code := range b.FailoverOn {
		c.FailoverOn = append(c.FailoverOn, domain.Code(code))
	}
	return c
}

// picker lists the providers for the API, which keeps the list itself.
type picker struct{ chain *llm.Chain }

func (p picker) Providers(ctx context.Context) ([]domain.ProviderInfo, error) {
	return p.chain.Providers(ctx, true), nil
}
