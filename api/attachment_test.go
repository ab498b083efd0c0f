package api_test

import (
	"encoding/base64"
	"strings"
	"testing"
)

// What an attachment is follows from its content, whatever the client calls it.
func TestAttachmentsAreTypedByContent(t *testing.T) {
	t.Parallel()
	f := start(t)
	send := func(declared, data string) (int, string) {
		resp, text := f.call(t, "POST", "/projects/p1/query/stream", `{"query":"q","attachments":[{"name":"a","mime_type":"`+declared+`","data":"`+base64.StdEncoding.EncodeToString([]byte(data))+`"}]}`)
		return resp.StatusCode, text
	}
	for _, c := range []struct{ declared, data, want string }{
		{"text/plain", "%PDF-1.7 …", "application/pdf"},
		{"application/pdf", "just text", "text/plain; charset=utf-8"},
		{"image/png", "<svg onload=alert(1)>", "text/plain; charset=utf-8"},
		{"text/x-go", "package a", "text/x-go"},
		{"", "fn main() {}", "text/plain; charset=utf-8"},
		{"application/json", "{}", "application/json"},
		{"text/plain", "\x89PNG\x0D\x0A\x1A\x0A", "image/png"},
	} {
		status, text := send(c.declared, c.data)
		if status != 200 {
			t.Errorf("%q as %s: %d %s", c.data, c.declared, status, text)
			continue
		}
		if got := f.engine.requests[len(f.engine.requests)-1].Attachments[0].MimeType; got != c.want {
			t.Errorf("%q as %s is %s, want %s", c.data, c.declared, got, c.want)
		}
	}
	if status, text := send("text/plain", "a\x00b"); status != 400 || !strings.Contains(text, "attachments[0].data: is neither") {
		t.Errorf("bytes: %d %s", status, text)
	}
	if status, text := send("text/plain", strings.Repeat("x", 10<<20+1)); status != 413 || !strings.Contains(text, "attachments[0].data: holds more than") {
		t.Errorf("a large one: %d %.200s", status, text)
	}
}
