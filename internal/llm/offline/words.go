package offline

import (
	"slices"
	"strings"
	"unicode"
)

// split gives the words of a name in lower case: "parseHTTPHeader2" gives parse, http,
// header, 2.
func split(name string) []string {
	var words []string
	runes := []rune(name)
	start := 0
	cut := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(string(runes[start:end])))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			cut(i)
			start = i + 1
		case i > start && boundary(runes, i):
			cut(i)
		}
	}
	cut(len(runes))
	return words
}

// boundary reports whether a new word begins at i inside of a run of letters and digits.
func boundary(runes []rune, i int) bool {
	before, here := runes[i-1], runes[i]
	if unicode.IsDigit(before) != unicode.IsDigit(here) {
		return true
	}
	if !unicode.IsUpper(here) {
		return false
	}
	return !unicode.IsUpper(before) || i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

// stopWords carry no content in a question about code.
var stopWords = wordSet(`a about after again all also an and any anything anywhere are as at be been before being between both but by
can code codebase come comes could defined definition did do does doing done down each else ever every everything exactly explain file files find
first for from function functions gets get give given go goes had happen happens has have having he her here him his how i if implemented implementation
implementations in inside into is it its itself just kind know let like line lines list located location look made make makes many may me
method methods might more most much must my name named need needs new no not now of off on once one only or other our out over own part parts
please point project repo repository same see she should show since so some someone something source still such symbol take tell than that the their them then
there these they thing things this those through to too type types under until up use used uses using version versions very via want was way ways we
well were what when where whether which while who whole whom whose why will with within without work works working would you your
class classes struct interface interfaces variable constant package module mean means meant describe description find declared declaration
called calls calling call caller callers callee callees invoke invokes invoked reach reaches reached path chain lead leads end ends
written place places responsible handled handle handles happening actually currently exist exists`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// synonyms are words that code uses for the same thing. Each group stands for all of its
// words.
var synonyms = [][]string{
	{"config", "configuration", "configure", "setting", "option"},
	{"error", "err", "failure", "fault"},
	{"delete", "remove", "drop"},
	{"create", "new", "make"},
	{"start", "run", "serve", "boot", "launch"},
	{"stop", "shutdown", "close"},
	{"database", "db", "sql", "store", "storage"},
	{"authenticate", "authentication", "auth", "login"},
	{"authorization", "authorize", "permission", "access"},
	{"request", "req"},
	{"response", "resp", "res"},
	{"parameter", "param", "argument", "arg"},
	{"environment", "env"},
	{"directory", "dir", "folder"},
	{"message", "msg"},
	{"initialize", "init", "setup"},
	{"parse", "decode", "unmarshal"},
	{"serialize", "encode", "marshal"},
	{"print", "write", "output"},
	{"log", "logger", "logging"},
	{"retry", "backoff", "retries"},
	{"cache", "memoize"},
	{"help", "usage"},
	{"suggest", "suggestion", "similar"},
	{"check", "validate", "validation", "verify"},
	{"command", "cmd"},
	{"context", "ctx"},
	{"receive", "recv"},
	{"time", "timestamp", "duration"},
	{"route", "router", "routing"},
	{"index", "idx"},
	{"limit", "max", "maximum"},
	{"default", "fallback"},
}

// stem takes off endings, so that "retries", "retrying" and "retry" meet.
func stem(word string) string {
	for _, rule := range []struct{ end, put string }{
		{"ations", "at"}, {"ation", "at"}, {"ities", "ity"}, {"ingly", ""}, {"ies", "y"}, {"sses", "ss"}, {"ings", ""}, {"ing", ""}, {"ions", ""}, {"ion", ""},
		{"ers", ""}, {"er", ""}, {"ors", ""}, {"or", ""}, {"ed", ""}, {"es", ""}, {"s", ""}, {"e", ""},
	} {
		if base, ok := strings.CutSuffix(word, rule.end); ok && len(base)+len(rule.put) >= 3 && !strings.HasSuffix(word, "ss") {
			base += rule.put
			if n := len(base); n > 3 && base[n-1] == base[n-2] && !strings.ContainsRune("aeiousl", rune(base[n-1])) {
				base = base[:n-1] // "mapp" of "mapping"
			}
			return strings.TrimSuffix(base, "e")
		}
	}
	return word
}

// word is a word with what comparing it takes.
type word struct {
	text, stem string
	meanings   uint64 // a bit for each group of synonyms that holds it
}

// meanings gives the groups of synonyms by the stems of their words.
var meanings = func() map[string]uint64 {
	of := map[string]uint64{}
	for i, group := range synonyms {
		for _, w := range group {
			of[stem(w)] |= 1 << i
		}
	}
	return of
}()

func wordOf(text string) word {
	s := stem(text)
	return word{text, s, meanings[s]}
}

func wordsOf(list []string) []word {
	words := make([]word, len(list))
	for i, w := range list {
		words[i] = wordOf(w)
	}
	return words
}

// alike says how well a word of code answers a word of a question: 1 for the same word in
// any form, less for a word of the same meaning or a longer one that begins with it, else 0.
func alike(asked, found word) float64 {
	switch {
	case asked.stem == found.stem:
		return 1
	case asked.meanings&found.meanings != 0:
		return 0.6
	case len(asked.text) >= 4 && len(found.text) >= 4 && (strings.HasPrefix(found.text, asked.stem) || strings.HasPrefix(asked.text, found.text)):
		return 0.5
	}
	return 0
}

// best gives how well any of the words answers the one asked for.
func best(asked word, words []word) float64 {
	top := 0.0
	for _, w := range words {
		top = max(top, alike(asked, w))
	}
	return top
}

// among reports whether a word is one of list in any form.
func among(text string, list []string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return stem(w) == stem(text) })
}
