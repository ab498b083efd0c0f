package wire

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Media says how an attachment can be given to a model.
type Media int

// The ways to give an attachment to a model.
const (
	Unsupported Media = iota
	Image             // a picture in a format that all services read
	PDF
	Text // anything that is text
)

// MediaOf tells how a media block can be given.
func MediaOf(b domain.Block) Media {
	kind, _, _ := strings.Cut(strings.ToLower(b.MimeType), ";")
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return Image
	case "application/pdf":
		return PDF
	}
	if strings.HasPrefix(kind, "text/") || utf8.Valid(b.Data) {
		return Text
	}
	return Unsupported
}

// AttachedText renders a text attachment with its name.
func AttachedText(b domain.Block) string {
	text := strings.ToValidUTF8(string(b.Data), "\uFFFD")
	if b.Name == "" {
		return text
	}
	return "Attached file " + b.Name + ":\n" + text
}

// UnsupportedMedia reports an attachment that no service reads.
func UnsupportedMedia(b domain.Block) error {
	return domain.Invalid("attachments", "%q is %s, which models do not read; attach text, PDF, PNG, JPEG, GIF or WebP", b.Name, b.MimeType)
}

// Schema gives a tool's input schema, or that of an empty object.
func Schema(schema json.RawMessage) json.RawMessage {
	if len(schema) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return schema
}

// Input gives the recorded input of a call as the JSON object that services insist on.
func Input(input json.RawMessage) json.RawMessage { return object(string(input)) }
