package llm_test

import (
	"context"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/scripted"
)

// hearer is a provider that remembers the last request.
type hearer struct {
	llm.Provider
	heard *domain.ModelRequest
}

func (l hearer) Stream(_ context.Context, req domain.ModelRequest, _ func(domain.ModelDelta) error) (domain.ModelResponse, error) {
	*l.heard = req
	return domain.ModelResponse{Message: domain.TextMessage(domain.RoleAssistant, "Yes.")}, nil
}

// Each model gets of an attachment what it can read.
func TestAttachments(t *testing.T) {
	t.Parallel()
	pdf := func(text domain.DocumentText) domain.Block {
		return domain.Block{Type: domain.BlockMedia, Name: "a.pdf", MimeType: domain.PDFType, Data: []byte("%PDF-"), Document: &text}
	}
	picture := func(kind string) domain.Block {
		return domain.Block{Type: domain.BlockMedia, Name: "a.img", MimeType: kind, Data: []byte{0xff}}
	}
	whole := domain.DocumentText{Pages: 2, Text: "[page 1]\nforty-two"}
	const itself = "" // the file is handed on
	no := false
	for name, c := range map[string]struct {
		config llm.Config
		block  domain.Block
		want   string
	}{
		"PDF to Anthropic":           {llm.Config{Kind: llm.KindAnthropic}, pdf(whole), itself},
		"PDF to Gemini":              {llm.Config{Kind: llm.KindGemini}, pdf(whole), itself},
		"PDF to OpenAI":              {llm.Config{Kind: llm.KindOpenAI}, pdf(whole), "forty-two"},
		"long PDF to Anthropic":      {llm.Config{Kind: llm.KindAnthropic}, pdf(domain.DocumentText{Pages: 101, Text: "the long one"}), "the long one"},
		"long PDF to Gemini":         {llm.Config{Kind: llm.KindGemini}, pdf(domain.DocumentText{Pages: 101, Text: "the long one"}), itself},
		"scan to Anthropic":          {llm.Config{Kind: llm.KindAnthropic}, pdf(domain.DocumentText{Pages: 1, Problem: domain.DocumentPictures}), itself},
		"scan to OpenAI":             {llm.Config{Kind: llm.KindOpenAI}, pdf(domain.DocumentText{Pages: 1, Problem: domain.DocumentPictures}), "no text could be read from a.pdf: its pages are pictures"},
		"encrypted PDF to Anthropic": {llm.Config{Kind: llm.KindAnthropic}, pdf(domain.DocumentText{Problem: domain.DocumentEncrypted}), "no text could be read from a.pdf: it is encrypted"},
		"broken PDF to Gemini":       {llm.Config{Kind: llm.KindGemini}, pdf(domain.DocumentText{Problem: domain.DocumentBroken}), "no text could be read from a.pdf: it is damaged"},
		"PDF without its file":       {llm.Config{Kind: llm.KindAnthropic}, domain.Block{Type: domain.BlockMedia, Name: "a.pdf", MimeType: domain.PDFType, Document: &whole}, "forty-two"},
		"PNG to Gemini":              {llm.Config{Kind: llm.KindGemini}, picture("image/png"), itself},
		"GIF to Gemini":              {llm.Config{Kind: llm.KindGemini}, picture("image/gif"), "a.img: [an image, which this model can't see"},
		"GIF to Anthropic":           {llm.Config{Kind: llm.KindAnthropic}, picture("image/gif"), itself},
		"PNG to OpenAI":              {llm.Config{Kind: llm.KindOpenAI}, picture("image/png"), itself},
		"PNG to another's server":    {llm.Config{Kind: llm.KindOpenAI, BaseURL: "http://127.0.0.1:11434/v1"}, picture("image/png"), "left out"},
		"PNG where images are off":   {llm.Config{Kind: llm.KindAnthropic, Images: &no}, picture("image/png"), "left out"},
		"PNG to no model":            {llm.Config{Kind: llm.KindOffline}, picture("image/png"), "left out"},
		"PDF to no model":            {llm.Config{Kind: llm.KindOffline}, pdf(whole), "forty-two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var heard domain.ModelRequest
			c.config.ID = "p"
			chain := newChain(t, llm.Entry{Config: c.config, Provider: hearer{scripted.New("p", scripted.Script{}), &heard}})
			req := question()
			req.Messages[0].Blocks = append(req.Messages[0].Blocks, c.block)
			if _, _, err := call(t.Context(), chain, domain.ProviderSelection{}, req); err != nil {
				t.Fatal(err)
			}
			got := heard.Messages[0].Blocks[1]
			if c.want == itself && (got.Type != domain.BlockMedia || string(got.Data) != string(c.block.Data)) {
				t.Errorf("got %+v, want the file", got)
			}
			if c.want != itself && (got.Type != domain.BlockText || !strings.Contains(got.Text, c.want)) {
				t.Errorf("got %+v, want a text with %q", got, c.want)
			}
		})
	}
}
