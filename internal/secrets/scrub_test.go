package secrets_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/secrets"
)

// appearances are the ways by which a value may leave, written without the package's help.
func appearances(value string) map[string]string {
	quoted, _ := json.Marshal(value)
	list := map[string]string{
		"raw": value, "hex": hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
		"query": url.QueryEscape(value), "path": url.PathEscape(value), "json": strings.Trim(string(quoted), `"`),
	}
	for _, around := range []string{"", "x", "xy", "xyz"} {
		plain := []byte(around + value + around)
		list["base64 in "+around] = base64.StdEncoding.EncodeToString(plain)
		list["base64url in "+around] = base64.RawURLEncoding.EncodeToString(plain)
	}
	return list
}

// What is left of a text has no eight bytes in a row that an appearance has alone: all of it
// is gone, wherever it stands.
func TestEveryFormIsTakenOut(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"correct horse battery staple", `p<a>&"ss'w\or/d+%?`, "längliche Wörter ✓", "12345678", "tab\tand=equals==",
		"-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nshort\n-----END KEY-----\n",
	} {
		scrub := secrets.NewScrubber(map[string]string{"KEY": value})
		for name, text := range appearances(value) {
			got := scrub.Scrub("before " + text + " after")
			if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") || !strings.Contains(got, "[secret KEY]") {
				t.Errorf("%s of %q: %q", name, value, got)
			}
			if rest := strings.TrimSpace(strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(got, "before "), " after"), "[secret KEY]", "")); len(rest) > 12 {
				t.Errorf("%s of %q leaves %q", name, value, rest)
			}
		}
	}
}

func TestOverlapsAreTakenOutWhole(t *testing.T) {
	t.Parallel()
	scrub := secrets.NewScrubber(map[string]string{"A": "abcdefgh", "B": "abcdefghijkl", "C": "ghijklmnop"})
	for text, want := range map[string]string{
		"abcdefgh!":            "[secret A]!",
		"abcdefghijkl!":        "[secret B]!",
		"abcdefghijklmnop!":    "[secret B]!",
		"abcdefghabcdefghijkl": "[secret A][secret B]",
		"abcdefg":              "abcdefg",
		"xghijklmnop":          "x[secret C]",
		"":                     "",
	} {
		if got := scrub.Scrub(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Whatever stands around values, and however they overlap: none is left, and what has nothing
// of them stays as it is.
func TestScrubbingAnyText(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	word := func(length int) string {
		b := make([]byte, length)
		for i := range b {
			b[i] = "ab"[random.IntN(2)]
		}
		return string(b)
	}
	for range 2000 {
		values := map[string]string{"A": word(8 + random.IntN(4)), "B": word(8 + random.IntN(8)), "C": word(9)}
		scrub := secrets.NewScrubber(values)
		text := word(random.IntN(60))
		got := scrub.Scrub(text)
		found := false
		for _, value := range values {
			found = found || strings.Contains(text, value)
			for part := range strings.SplitSeq(got, "[secret ") {
				if _, rest, cut := strings.Cut(part, "]"); cut {
					part = rest
				}
				if strings.Contains(part, value) {
					t.Fatalf("%q with %v leaves %q", text, values, got)
				}
			}
		}
		if !found && got != text {
			t.Fatalf("%q has none of %v and became %q", text, values, got)
		}
		if again := scrub.Scrub(got); again != got {
			t.Fatalf("scrubbed twice, %q became %q", got, again)
		}
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("correct horse", "the correct horse runs")
	f.Add("p<a>&\"ss'w\\or/d", "x")
	f.Fuzz(func(t *testing.T, value, around string) {
		if len(strings.TrimSpace(value)) < 8 || strings.Contains(value, "secret") {
			return // no value that can be kept, or the mark itself
		}
		got := secrets.NewScrubber(map[string]string{"K": value}).Scrub(around + value + around)
		if strings.Contains(strings.ReplaceAll(got, "[secret K]", "\x00"), strings.TrimSpace(value)) {
			t.Errorf("%q in %q: %q", value, around, got)
		}
	})
}

func BenchmarkScrub(b *testing.B) {
	values := map[string]string{}
	for i := range 100 {
		values["S"+string(rune('A'+i%26))+string(rune('A'+i/26))] = secrets.Generate().Reveal()
	}
	scrub := secrets.NewScrubber(values)
	text := strings.Repeat("func main() { fmt.Println(\"an ordinary line of code\") }\n", 4000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		scrub.Scrub(text)
	}
}
