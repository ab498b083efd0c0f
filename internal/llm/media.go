package llm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// imageTypes are the formats that each kind's models see.
var imageTypes = map[string][]string{
	KindAnthropic: {"image/png", "image/jpeg", "image/webp", "image/gif"},
	KindGemini:    {"image/png", "image/jpeg", "image/webp"},
	KindOpenAI:    {"image/png", "image/jpeg", "image/webp", "image/gif"},
	KindScripted:  {"image/png", "image/jpeg", "image/webp", "image/gif"},
}

// documentPages are the longest PDF files, in pages, that each kind's models read themselves.
var documentPages = map[string]int{
	KindAnthropic: 100,
	KindGemini:    1000,
}

// sees reports whether the provider's models see images of the type.
func (c Config) sees(mimeType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(mimeType), ";")
	if !slices.Contains(imageTypes[c.Kind], kind) {
		return false
	}
	if c.Images != nil {
		return *c.Images
	}
	return c.Kind != KindOpenAI || c.BaseURL == "" || strings.Contains(c.BaseURL, "//api.openai.com")
}

// readable gives req as the provider's models can read it: what they can't see or open stands
// as its text, or as a note that it was left out.
func (c Config) readable(req domain.ModelRequest) domain.ModelRequest {
	messages := make([]domain.Message, len(req.Messages))
	for i, m := range req.Messages {
		messages[i] = domain.Message{Role: m.Role, Blocks: make([]domain.Block, len(m.Blocks))}
		for j, b := range m.Blocks {
			messages[i].Blocks[j] = c.readableBlock(b)
		}
	}
	req.Messages = messages
	return req
}

func (c Config) readableBlock(b domain.Block) domain.Block {
	switch {
	case b.Type != domain.BlockMedia:
		return b
	case b.MimeType == domain.PDFType:
		return c.readableDocument(b)
	case strings.HasPrefix(strings.ToLower(b.MimeType), "image/") && !c.sees(b.MimeType):
		return noted(b, ": [an image, which this model can't see: it was left out]")
	}
	return b
}

// readableDocument gives a PDF file itself to models that open it, and its text to the others.
func (c Config) readableDocument(b domain.Block) domain.Block {
	longest, opens := documentPages[c.Kind]
	opens = opens && len(b.Data) > 0 // the file is taken out where only its text may be told
	read := b.Document
	if read == nil { // nobody tried
		if opens {
			return b
		}
		read = &domain.DocumentText{Problem: domain.DocumentUnread}
	}
	closed := read.Problem == domain.DocumentEncrypted || read.Problem == domain.DocumentBroken
	switch {
	case opens && !closed && read.Pages <= longest:
		return b
	case read.Problem != "":
		return noted(b, ": ["+read.Problem.Note(b.Name)+"]")
	}
	return noted(b, fmt.Sprintf(", %d pages, as text:\n\n%s", read.Pages, read.Text))
}

// noted is a block that stands for an attachment, apart from what is said before it.
func noted(b domain.Block, text string) domain.Block {
	return domain.Block{Type: domain.BlockText, Text: "\n\nAttached file " + domain.Visible(b.Name) + text}
}
