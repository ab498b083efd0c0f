package offline

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// question is what a person asked, taken apart.
type question struct {
	text  string
	kind  kind
	names []string // identifiers as written, the likeliest first
	paths []string // file paths
	words []string // content words in lower case, without those of names
	tags  []string // what looks like a version
	raw   []string // every word in lower case
}

// empty reports whether there is nothing to look for.
func (q question) empty() bool {
	return len(q.names)+len(q.paths)+len(q.words) == 0 && q.kind != kindOverview && q.kind != kindList && q.kind != kindChanged
}

// testing reports whether the question is about tests, which otherwise come last.
func (q question) testing() bool {
	return slices.ContainsFunc(q.raw, func(w string) bool { return strings.HasPrefix(w, "test") || w == "benchmark" || w == "fixture" })
}

var (
	quoted      = regexp.MustCompile("`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|‘([^’\n]+)’|(?:^|\\s)'([^'\n]+)'")
	versionTag  = regexp.MustCompile(`^v?\d+(?:\.\d+)+(?:[-+.][0-9A-Za-z.-]+)?$|^v\d+$`)
	sourceFile  = regexp.MustCompile(`^[\w./@+-]+\.(?:go|py|pyi|ts|tsx|js|jsx|mjs|rs|java|kt|kts|scala|c|h|cc|cpp|hpp|cs|rb|php|sh|bash|lua|zig|tf|hcl|md|rst|txt|toml|ya?ml|json|ini|env|mod|sum|sql|proto|html|css|xml)$`)
	nameLike    = regexp.MustCompile(`^[\pL_$@][\pL\pN_$]*(?:(?:\.|::|->|#|-)[\pL_$][\pL\pN_$]*)*$`)
	pronounLike = regexp.MustCompile(`(?i)\b(it|its|this|that|they|them|these|those|there)\b`)
)

// analyze takes the last question apart. One that only points back ("and who calls it?")
// takes its names from the question before, or from the answer.
func analyze(t talk) question {
	q := parse(t.question)
	if len(q.names)+len(q.paths) > 0 || len(q.words) > 1 || len(t.earlier) == 0 || !pronounLike.MatchString(t.question) {
		return q
	}
	before := parse(t.earlier[len(t.earlier)-1])
	q.names, q.paths = before.names, before.paths
	q.words = append(q.words, before.words...)
	if m := quoted.FindStringSubmatch(t.answered); len(q.names) == 0 && m != nil && nameLike.MatchString(m[1]) {
		q.names = []string{m[1]}
	}
	return q
}

// questionWindow bounds what is read of each end of a message, in bytes: people ask before or
// after what they paste, and every word of a question is weighed against the others.
const questionWindow = 4 << 10

// bothEnds gives a long text's beginning and end.
func bothEnds(text string) string {
	if len(text) <= 2*questionWindow {
		return text
	}
	return strings.ToValidUTF8(text[:questionWindow]+"\n"+text[len(text)-questionWindow:], "")
}

func parse(text string) question {
	text = bothEnds(text)
	q := question{text: text}
	rest := text
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		q.quotedPart(strings.TrimSpace(strings.Join(m[1:], "")))
		rest = strings.Replace(rest, m[0], " ", 1)
	}
	for i, token := range strings.Fields(rest) {
		q.token(strip(token), i == 0)
	}
	for _, token := range strings.Fields(text) {
		q.raw = append(q.raw, strings.ToLower(strip(token)))
	}
	q.names = unique(q.names)
	q.words = unique(q.words)
	q.kind = kindOf(q)
	if from, to, ok := endsOf(text); ok && q.kind == kindPath {
		q.names = unique(append([]string{from, to}, q.names...))
	}
	if word := operandOf(text); word != "" && q.empty() {
		q.names = []string{word}
	}
	if len(q.names)+len(q.paths) == 0 && len(q.words) == 1 && len(q.words[0]) <= shortName { // no word of English says so little
		q.names, q.words = q.words, nil
	}
	return q
}

// quotedPart reads what stood in quotes: the person points at exactly that.
func (q *question) quotedPart(part string) {
	part = strings.TrimSuffix(part, "()")
	switch {
	case part == "":
	case sourceFile.MatchString(part):
		q.paths = append(q.paths, part)
	case versionTag.MatchString(part):
		q.tags = append(q.tags, part)
	case nameLike.MatchString(part):
		q.names = append(q.names, part)
	default:
		for _, w := range split(part) {
			q.word(w)
		}
	}
}

// strip takes the punctuation of the sentence off a word, and the call of a name.
func strip(token string) string {
	token = strings.Trim(token, ".,;:!?()[]{}<>\"'“”‘’*&")
	for _, ending := range []string{"'s", "’s"} {
		token = strings.TrimSuffix(token, ending)
	}
	if open := strings.IndexByte(token, '('); open > 0 {
		token = token[:open]
	}
	return token
}

// token reads a word of the sentence. first says that it begins the sentence, where a
// capital letter means nothing.
func (q *question) token(token string, first bool) {
	lower := strings.ToLower(token)
	switch {
	case token == "":
	case versionTag.MatchString(token):
		q.tags = append(q.tags, token)
	case sourceFile.MatchString(token):
		q.paths = append(q.paths, token)
	case strings.Contains(token, "/"):
		q.slashed(token)
	case !first && letterName(token):
		q.names = append(q.names, token)
	case stopWords[lower]:
	case identifier(token):
		q.names = append(q.names, token)
	case !first && nameLike.MatchString(token) && capitalized(token):
		q.names = append(q.names, token)
		q.word(lower)
	default:
		for _, w := range split(token) {
			q.word(w)
		}
	}
}

// slashed reads a word with slashes: a path, or words put side by side.
func (q *question) slashed(token string) {
	if strings.Count(token, "/") > 1 || strings.Contains(path.Base(token), ".") {
		q.paths = append(q.paths, token)
		return
	}
	for _, part := range strings.Split(token, "/") {
		q.token(part, false)
	}
}

func (q *question) word(w string) {
	if len(w) > 1 && !stopWords[w] {
		q.words = append(q.words, w)
	}
}

// identifier reports whether a word can only come from code: a change of case inside of
// it, an underscore, a dot, a dash between words, or capitals alone.
func identifier(token string) bool {
	if !nameLike.MatchString(token) {
		return false
	}
	if strings.ContainsAny(token, "_.:#$") || strings.Contains(token, "->") {
		return true
	}
	runes := []rune(token)
	for i := 1; i < len(runes); i++ {
		if unicode.IsUpper(runes[i]) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			return true
		}
	}
	return false
}

// letterName reports whether a word inside of a sentence is a name of one capital letter.
func letterName(token string) bool {
	runes := []rune(token)
	return len(runes) == 1 && unicode.IsUpper(runes[0]) && token != "I"
}

// capitalized reports whether a word is written like a name. Capitals alone are more often
// an abbreviation: API, HTTP.
func capitalized(token string) bool {
	runes := []rune(token)
	return len(runes) > 1 && unicode.IsUpper(runes[0]) && strings.ToUpper(token) != token
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
