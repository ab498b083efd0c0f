package graph

import (
	"regexp"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Glob compiles a path pattern: "*" and "?" stay inside a folder, "**" crosses folders,
// "[a-z]" and "{a,b}" choose. A pattern without "/" applies to the last element, and one that
// names a folder to all below it. A path itself is a pattern that matches it, whatever brackets
// it holds. "" matches everything.
func Glob(pattern string) (*regexp.Regexp, error) {
	pattern = strings.TrimPrefix(pattern, "./")
	if pattern == "" {
		return regexp.MustCompile(""), nil
	}
	if len(pattern) > 1000 {
		return nil, domain.Invalid("path", "the pattern is longer than 1000 bytes")
	}
	var b strings.Builder
	b.WriteString(`(?s)^`)
	if !strings.Contains(pattern, "/") {
		b.WriteString(`(?:.*/)?`)
	}
	body := strings.TrimSuffix(strings.TrimPrefix(pattern, "/"), "/")
	b.WriteString(`(?:` + globBody(body) + `|` + regexp.QuoteMeta(body) + `)(?:/.*)?$`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, domain.Invalid("path", "%q is not a path pattern", pattern)
	}
	return re, nil
}

func globBody(pattern string) string {
	var b strings.Builder
	braces := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			switch {
			case strings.HasPrefix(pattern[i:], "**/"):
				b.WriteString(`(?:.*/)?`)
				i += 2
			case strings.HasPrefix(pattern[i:], "**"):
				b.WriteString(`.*`)
				i++
			default:
				b.WriteString(`[^/]*`)
			}
		case '?':
			b.WriteString(`[^/]`)
		case '[':
			if end := strings.IndexByte(pattern[i:], ']'); end > 1 {
				class := strings.ReplaceAll(pattern[i+1:i+end], `\`, `\\`)
				if class[0] == '!' {
					class = "^" + class[1:]
				}
				b.WriteString("[" + class + "]")
				i += end
				continue
			}
			b.WriteString(`\[`)
		case '{':
			braces++
			b.WriteString(`(?:`)
		case '}':
			if braces == 0 {
				b.WriteString(`\}`)
				continue
			}
			braces--
			b.WriteByte(')')
		case ',':
			if braces > 0 {
				b.WriteByte('|')
				continue
			}
			b.WriteByte(',')
		default:
			b.WriteString(regexp.QuoteMeta(string(pattern[i : i+1])))
		}
	}
	return b.String()
}
