// Package providers builds the model providers that a configuration names.
package providers

import (
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/anthropic"
	"github.com/harvest-engine/harvest/internal/llm/gemini"
	"github.com/harvest-engine/harvest/internal/llm/offline"
	"github.com/harvest-engine/harvest/internal/llm/openai"
	"github.com/harvest-engine/harvest/internal/llm/scripted"
)

// New builds the provider of one [[llm]] block. An unknown kind and an unreadable script
// are invalid errors.
func New(config llm.Config) (llm.Provider, error) {
	switch config.Kind {
	case llm.KindAnthropic:
		return anthropic.New(config), nil
	case llm.KindGemini:
		return gemini.New(config)
	case llm.KindOpenAI:
		return openai.New(config), nil
	case llm.KindOffline:
		return offline.New(config.Identity()), nil
	case llm.KindScripted:
		script, err := scripted.Load(config.Script)
		if err != nil {
			return nil, err
		}
		return scripted.New(config.Identity(), script), nil
	}
	return nil, domain.Invalid("llm.provider", "there is no kind of provider %q", config.Kind)
}
