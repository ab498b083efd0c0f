package offline

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
)

// How much each kind of evidence for a symbol counts.
const (
	inName      = 10.0 // a word of the question in the symbol's name
	inDoc       = 5.0
	inPath      = 3.0
	inSignature = 2.0
	covered     = 12.0 // all words of the question are answered somewhere
	surplus     = 0.8  // taken off for each word of the name that was not asked for
	voted       = 5.0  // a text match inside of the symbol
	rightKind   = 8.0  // the question says "function" and it is one

	testFactor = 0.3 // of tests, unless the question is about them
	sideFactor = 0.6 // of examples, fakes, generated and foreign code
)

// symbols gives those of found that are symbols, each once, with the best of their data.
func symbols(found []finding) []finding {
	var out []finding
	at := map[place]int{}
	for _, f := range found {
		if f.kind == "" {
			continue
		}
		if i, ok := at[f.place]; ok {
			if len(f.source) > len(out[i].source) {
				out[i].source = f.source
			}
			out[i].score = max(out[i].score, f.score)
			continue
		}
		at[f.place] = len(out)
		out = append(out, f)
	}
	return out
}

// candidate is a symbol with its words.
type candidate struct {
	finding
	name, path, signature, doc []word
}

// rank sorts symbols by how well they answer the question, the best first. matches are
// lines of text that hold the question's words.
func rank(q question, found, matches []finding) []finding {
	pool := symbols(found)
	candidates := make([]candidate, len(pool))
	for i, f := range pool {
		candidates[i] = candidate{f, wordsOf(split(f.name)), wordsOf(split(f.file)), wordsOf(split(f.signature)), wordsOf(split(f.doc))}
	}
	asked := wordsOf(q.words)
	weights := rarity(asked, candidates)
	for i, c := range candidates {
		pool[i].score = score(q, c, asked, weights) + votes(c.finding, matches)
		pool[i].score *= factor(q, c.file)
	}
	slices.SortStableFunc(pool, func(a, b finding) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return pool
}

// plainWords say little about which code is meant.
var plainWords = wordSet("two three several multiple string strings number numbers value values text data object result results name names default simple based given current different")

// rarity weighs each word of the question: one that half of the names hold tells little.
func rarity(asked []word, pool []candidate) []float64 {
	weights := make([]float64, len(asked))
	for i, w := range asked {
		holders := 0
		for _, c := range pool {
			if best(w, c.name) == 1 {
				holders++
			}
		}
		weights[i] = 1 / math.Sqrt(1+float64(holders)/4)
		if plainWords[w.text] {
			weights[i] *= 0.4
		}
	}
	return weights
}

func score(q question, c candidate, asked []word, weights []float64) float64 {
	total := nameScore(q, c.finding)
	answered, all := 0.0, 0.0
	for i, w := range asked {
		n, p, s, d := best(w, c.name), best(w, c.path), best(w, c.signature), best(w, c.doc)
		total += weights[i] * (n*inName + p*inPath + s*inSignature + d*inDoc)
		answered += weights[i] * max(n, 0.7*p, 0.7*s, 0.7*d)
		all += weights[i]
	}
	if all > 0 {
		total += covered * answered / all
		for _, part := range c.name {
			if !slices.ContainsFunc(asked, func(w word) bool { return alike(w, part) > 0 }) {
				total -= surplus
			}
		}
	}
	return total + kindScore(q, c.finding)
}

// nameScore compares the symbol with the names that the question holds; the first counts
// the most.
func nameScore(q question, f finding) float64 {
	top := 0.0
	for i, n := range q.names {
		top = max(top, exactness(n, f)*(1-0.08*float64(i)))
	}
	if len(q.names) == 0 && len(q.words) <= 2 { // a plain word may be a whole name: "who calls main?"
		for _, w := range q.words {
			if strings.EqualFold(last(f.name), w) {
				top = max(top, 12)
			}
		}
	}
	return top
}

// exactness says how much a name of the question is the symbol's: 100 and more where it is.
func exactness(asked string, f finding) float64 {
	asked = flatten(asked)
	short, qualifier := last(asked), strings.TrimSuffix(strings.TrimSuffix(asked, last(asked)), ".")
	switch {
	case f.name == asked:
		return 120
	case last(f.name) == short && qualifier == "":
		return 105 - 3*float64(strings.Count(f.name, "."))
	case last(f.name) == short && holdsQualifier(f, qualifier):
		return 115
	case strings.EqualFold(last(f.name), short) && (qualifier == "" || holdsQualifier(f, qualifier)):
		return 75
	case fold(last(f.name)) == fold(short):
		return 65
	case last(f.name) == short:
		return 40 // of another type or package than the one named
	case qualifier != "" && f.name == last(qualifier):
		return 35 // the type itself, whose member is not a symbol of its own
	case strings.Contains(fold(f.name), fold(short)):
		return 15
	}
	return 0
}

// holdsQualifier reports whether what stood before a name is the symbol's type, package,
// folder or file.
func holdsQualifier(f finding, qualifier string) bool {
	qualifier = strings.ToLower(last(qualifier))
	if strings.HasSuffix(strings.ToLower(strings.TrimSuffix(f.name, "."+last(f.name))), qualifier) && strings.Contains(f.name, ".") {
		return true
	}
	folder, file := path.Split(strings.ToLower(f.file))
	stem, _, _ := strings.Cut(file, ".")
	return stem == qualifier || path.Base(folder) == qualifier || strings.EqualFold(base(f.repo), qualifier)
}

var flattener = strings.NewReplacer("::", ".", "->", ".", "#", ".", "(*", "", "(", "", ")", "", "*", "")

// flatten writes a name with points between its parts.
func flatten(name string) string { return flattener.Replace(name) }

func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func fold(name string) string { return strings.Join(split(name), "") }

// kindScore prefers the kind of symbol that the question names.
func kindScore(q question, f finding) float64 {
	kinds := map[string][]string{
		"function": {"function", "method"}, "functions": {"function", "method"}, "func": {"function", "method"}, "method": {"method"}, "methods": {"method"},
		"type": {"struct", "interface", "type", "class", "enum", "trait"}, "struct": {"struct"}, "class": {"class", "struct"}, "interface": {"interface", "trait"},
		"trait": {"trait"}, "enum": {"enum"}, "constant": {"constant"}, "variable": {"constant"}, "const": {"constant"},
	}
	for _, w := range q.raw {
		if slices.Contains(kinds[w], f.kind) {
			return rightKind
		}
	}
	return 0
}

// commentLines is how far above a symbol its doc comment is looked for.
const commentLines = 5

// votes counts the text matches inside of a symbol and in the comment above it, each
// further one less.
func votes(f finding, matches []finding) float64 {
	total, weight := 0.0, voted
	for _, m := range matches {
		if m.repo == f.repo && m.file == f.file && m.line >= f.line-commentLines && m.line <= f.end {
			total += weight
			weight /= 2
		}
	}
	return total
}

// factor lowers what is rarely meant.
func factor(q question, file string) float64 {
	switch {
	case isTest(file) && !q.testing():
		return testFactor
	case isSide(file):
		return sideFactor
	}
	return 1
}

func isTest(file string) bool {
	lower := strings.ToLower(file)
	name := base(lower)
	stem, _, _ := strings.Cut(name, ".")
	if strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_spec") ||
		strings.Contains(name, ".test.") || strings.Contains(name, ".spec.") {
		return true
	}
	return slices.ContainsFunc(strings.Split(path.Dir(lower), "/"), func(folder string) bool {
		return slices.Contains([]string{"test", "tests", "testdata", "__tests__", "spec", "fixtures", "testutil", "testkit"}, folder)
	})
}

func isSide(file string) bool {
	lower := strings.ToLower(file)
	if strings.HasSuffix(lower, ".pb.go") || strings.HasSuffix(lower, ".d.ts") || strings.Contains(lower, "generated") {
		return true
	}
	return slices.ContainsFunc(strings.Split(path.Dir(lower), "/"), func(folder string) bool {
		return slices.Contains([]string{"vendor", "third_party", "node_modules", "example", "examples", "_examples", "mock", "mocks", "fake", "fakes", "site", "benchmarks"}, folder)
	})
}
