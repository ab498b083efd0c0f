package providers_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/providers"
)

func TestNew(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(script, []byte(`{"model": "echo", "rounds": [{"text": "hi"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		config llm.Config
		id     string
		model  string
		code   domain.Code
	}{
		{"anthropic", llm.Config{Kind: llm.KindAnthropic, Model: "m", APIKey: "k"}, "anthropic-0", "m", ""},
		{"gemini", llm.Config{Kind: llm.KindGemini, Model: "m", APIKey: "k", Priority: 1}, "gemini-1", "m", ""},
		{"gemini without a key", llm.Config{Kind: llm.KindGemini, Model: "m"}, "", "", domain.CodeInvalid},
		{"a local service without a key", llm.Config{Kind: llm.KindOpenAI, Model: "m", BaseURL: "http://127.0.0.1:1/v1"}, "openai-compatible-0", "m", ""},
		{"offline", llm.Config{Kind: llm.KindOffline}, "offline-0", "rules", ""},
		{"scripted", llm.Config{Kind: llm.KindScripted, Script: script, ID: "mine"}, "mine", "echo", ""},
		{"a script that is not there", llm.Config{Kind: llm.KindScripted, Script: script + ".gone"}, "", "", domain.CodeInvalid},
		{"no such kind", llm.Config{Kind: "oracle"}, "", "", domain.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := providers.New(c.config)
			if domain.CodeOf(err) != c.code {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				return
			}
			if info := p.Info(); info.ID != c.id || info.DefaultModel != c.model || info.Kind != c.config.Kind {
				t.Errorf("got %+v", info)
			}
		})
	}
}
