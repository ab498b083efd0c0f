package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// Half of a character would be stored, and run on machines, as another one.
func TestHalvesOfCharactersAreRefused(t *testing.T) {
	t.Parallel()
	f := start(t)
	for text, whole := range map[string]bool{
		`a`: true, `\u00e9`: true, `\ud83d\ude00`: true, `\\ud800`: true, `\"\\\ud83d\ude00\"`: true, `\uD83D\uDE00`: true, "😀": true,
		`\ud800`: false, `\udc00`: false, `\ud800\ud800`: false, `\ud83dx`: false, `\ud83d\n`: false, `\ude00\ud83d`: false, `\\\ud800`: false, `\u0041\ud83d`: false,
	} {
		resp, answer := f.call(t, "POST", "/conversations", `{"title":"`+text+`"}`)
		if whole != (resp.StatusCode == http.StatusCreated) || !whole && !strings.Contains(answer, "half of a character at byte ") {
			t.Errorf("%s: %d %s", text, resp.StatusCode, answer)
		}
	}
}

func TestWrongMethodsAreToldTheRightOnes(t *testing.T) {
	t.Parallel()
	f := start(t)
	resp, text := f.call(t, "POST", "/projects/p1/agents", "{}")
	if resp.StatusCode != http.StatusMethodNotAllowed || !strings.Contains(text, "it takes GET") || resp.Header.Get("Allow") != "GET" {
		t.Errorf("%d %s %v", resp.StatusCode, text, resp.Header)
	}
}
