package api

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// maxAttachment bounds one attachment, in decoded bytes.
const maxAttachment = 10 << 20

// typeOf tells what a file is by its content; what the client calls it decides only between
// kinds of text. The error is invalid for what is neither text nor an image nor PDF.
func typeOf(declared string, data []byte) (string, error) {
	if bytes.HasPrefix(data, []byte("%PDF-")) {
		return "application/pdf", nil
	}
	switch found, _, _ := strings.Cut(http.DetectContentType(data), ";"); found {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return found, nil
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", domain.Invalid("data", "is neither text in UTF-8 nor a PNG, JPEG, GIF or WebP image nor PDF")
	}
	kind, _, err := mime.ParseMediaType(declared)
	if err == nil && (strings.HasPrefix(kind, "text/") || textual[kind]) {
		return declared, nil
	}
	return "text/plain; charset=utf-8", nil
}

// textual are types of text that are not called so.
var textual = map[string]bool{
	"application/json": true, "application/xml": true, "application/yaml": true, "application/x-yaml": true, "application/toml": true,
}
