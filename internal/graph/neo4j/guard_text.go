package neo4j

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// checkText refuses what a plan does not show: functions of extensions, another mode of
// execution, and what stands in a subquery inside of a list comprehension or the like, whose
// steps are no part of the plan.
func checkText(query string) error {
	if strings.Contains(query, `\u`) || strings.Contains(query, `\U`) {
		return forbidden(`no unicode escapes; write the characters themselves`)
	}
	code := withoutLiterals(query)
	if strings.ContainsFunc(code, func(r rune) bool { return unicode.Is(unicode.Cf, r) }) {
		return forbidden("no invisible characters outside of texts")
	}
	switch first := strings.ToUpper(strings.TrimSpace(firstWord.FindString(code))); first {
	case "":
		return domain.Invalid("query", "the query is empty")
	case "EXPLAIN", "PROFILE", "CYPHER":
		return domain.Invalid("query", "leave %s out: the query is to run as it is", first)
	}
	if loadCSV.MatchString(code) {
		return forbidden("it uses LOAD CSV")
	}
	for _, call := range namedCall.FindAllStringSubmatch(code, -1) {
		if name := blanks.ReplaceAllString(call[1], ""); !readProcedures[name] {
			return forbidden("it calls %s", name)
		}
	}
	for _, call := range dottedCall.FindAllStringSubmatch(code, -1) {
		name := strings.ToLower(blanks.ReplaceAllString(call[1], ""))
		namespace := name[:strings.LastIndexByte(name, '.')]
		if !readFunctions[namespace] && !readProcedures[exactProcedure(name)] {
			return forbidden("%s is no function of the list", name)
		}
	}
	return nil
}

// dotted is a name of a namespace, as functions and procedures of extensions have.
const dotted = `([\pL\p{Pc}\p{Sc}][\pL\pN\pM\p{Pc}\p{Sc}]*(?:\s*\.\s*[\pL\p{Pc}\p{Sc}][\pL\pN\pM\p{Pc}\p{Sc}]*)+)`

var (
	firstWord  = regexp.MustCompile(`^\s*[A-Za-z]+`)
	loadCSV    = regexp.MustCompile(`(?i)\bLOAD\s+CSV\b`)
	namedCall  = regexp.MustCompile(`(?i)\bCALL\s+` + dotted)
	dottedCall = regexp.MustCompile(dotted + `\s*\(`)
	blanks     = regexp.MustCompile(`\s+`)
)

// exactProcedure gives the listed name that equals name in lower case.
func exactProcedure(name string) string {
	for listed := range readProcedures {
		if strings.ToLower(listed) == name {
			return listed
		}
	}
	return name
}

// withoutLiterals blanks comments and strings, takes the quotes off quoted names, so that
// `apoc`.`load`.json( is seen for what it is, and makes a blank of whatever the server may take
// for one. A quoted name's odd characters become "_".
func withoutLiterals(query string) string {
	var b strings.Builder
	for i := 0; i < len(query); {
		rest := query[i:]
		switch {
		case strings.HasPrefix(rest, "//"):
			i += through(rest, 2, "\n\r")
		case strings.HasPrefix(rest, "/*"):
			i += commentEnd(rest)
		case rest[0] == '\'' || rest[0] == '"':
			i += stringEnd(rest)
			b.WriteString("''")
			continue
		case rest[0] == '`':
			n := through(rest, 1, "`")
			b.WriteString(oddCharacters.ReplaceAllString(strings.Trim(rest[:n], "`"), "_"))
			i += n
			continue
		default:
			r, n := utf8.DecodeRuneInString(rest)
			i += n
			if !unicode.IsSpace(r) && !unicode.In(r, unicode.Z, unicode.Cc) {
				b.WriteRune(r)
				continue
			}
		}
		b.WriteByte(' ')
	}
	return b.String()
}

var oddCharacters = regexp.MustCompile(`[^\pL\pN_.]`)

// through is the length of text up to and with the next of ends after skip bytes.
func through(text string, skip int, ends string) int {
	at := strings.IndexAny(text[skip:], ends)
	if at < 0 {
		return len(text)
	}
	return skip + at + 1
}

// commentEnd is the length of the comment between stars at the start of text.
func commentEnd(text string) int {
	at := strings.Index(text[2:], "*/")
	if at < 0 {
		return len(text)
	}
	return at + 4
}

// stringEnd is the length of the string literal at the start of text.
func stringEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return len(text)
}
