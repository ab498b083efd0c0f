package domain_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestShortInputIsShownAsItIs(t *testing.T) {
	t.Parallel()
	input := json.RawMessage(`{"b": 1e400, "a": "x"}`)
	if shown, cut := domain.ShownInput(input); cut || string(shown) != string(input) {
		t.Errorf("got %s, cut %v", shown, cut)
	}
}

func TestLongInputIsShownInPart(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 200 {
		files[strings.Repeat("d", i%7+1)+string(rune('a'+i%26))+".tf"] = strings.Repeat("é", 5000)
	}
	bundle, err := json.Marshal(map[string]any{"title": "net", "n": json.Number("12345678901234567890"), "content": files})
	if err != nil {
		t.Fatal(err)
	}
	many, err := json.Marshal(map[string]any{"list": make([]int, 20_000)})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		input string
		wants []string
	}{
		"a long text":      {`{"title":"Plan","content":"` + strings.Repeat("a", 50_000) + `"}`, []string{`"title":"Plan"`, "aaa… [cut: 50000 bytes in all]"}},
		"a bundle":         {string(bundle), []string{`"title":"net"`, "12345678901234567890", "[cut: 10000 bytes in all]"}},
		"too many parts":   {string(many), []string{"bytes, in too many parts to be shown"}},
		"no JSON":          {`{"content":"` + strings.Repeat("a", 50_000), []string{"this input has 50012 bytes"}},
		"a text with HTML": {`{"content":"<b>` + strings.Repeat("a", 50_000) + `"}`, []string{"<b>"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown, cut := domain.ShownInput(json.RawMessage(tt.input))
			if !cut || len(shown) > 16<<10 || !json.Valid(shown) || !utf8.Valid(shown) {
				t.Errorf("cut %v, %d bytes, valid %v", cut, len(shown), json.Valid(shown))
			}
			for _, want := range tt.wants {
				if !strings.Contains(string(shown), want) {
					t.Errorf("%.300s lacks %q", shown, want)
				}
			}
		})
	}
}
