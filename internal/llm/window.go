package llm

import (
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	mediaTokens   = 1_500 // an image, or a page of a document
	pageBytes     = 50_000
	messageTokens = 4 // roles and separators
)

// EstimateTokens gives about how many input tokens req takes. Tokenizers differ: the
// estimate is for budgets and for telling beforehand that a request can't fit, where the
// provider's own count is the truth.
func EstimateTokens(req domain.ModelRequest) int {
	total := textTokens(req.System)
	for _, tool := range req.Tools {
		total += messageTokens + textTokens(tool.Name) + textTokens(tool.Description) + textTokens(string(tool.InputSchema))
	}
	for _, m := range req.Messages {
		total += messageTokens
		for _, b := range m.Blocks {
			total += textTokens(b.Text) + textTokens(string(b.Input))
			if b.Type == domain.BlockMedia {
				total += mediaSize(b)
			}
		}
	}
	return total
}

// textTokens counts four bytes of plain text a token, and one and a half characters of
// any other script.
func textTokens(text string) int {
	runes := utf8.RuneCountInString(text)
	wide := (len(text) - runes) / 2 // about the characters beyond ASCII
	return (runes-min(wide, runes)+3)/4 + wide*2/3
}

func mediaSize(b domain.Block) int {
	if strings.HasPrefix(b.MimeType, "text/") {
		return textTokens(string(b.Data))
	}
	if b.MimeType != domain.PDFType {
		return mediaTokens
	}
	if b.Document == nil || b.Document.Pages == 0 {
		return mediaTokens * (1 + len(b.Data)/pageBytes)
	}
	return mediaTokens*b.Document.Pages + textTokens(b.Document.Text) // services read pages as both
}

// fits reports, by name, that req is too large for the provider of c.
func (c Config) fits(req domain.ModelRequest) error {
	if c.ContextTokens == 0 {
		return nil
	}
	if tokens := EstimateTokens(req); tokens > c.ContextTokens {
		return domain.Errorf(domain.CodeTooLarge,
			"the conversation takes about %d tokens, and %s of provider %q takes %d: start a new conversation, attach less, or choose a model with a larger window",
			tokens, model(c, req), c.ID, c.ContextTokens)
	}
	return nil
}

func model(c Config, req domain.ModelRequest) string {
	if req.Model != "" {
		return req.Model
	}
	return c.Model
}
