// Package filter chooses among lines.
package filter

import (
	"regexp"
	"sort"
	"strings"
)

// Func says whether a line passes.
type Func func(line string) bool

// Pass asks the function itself.
func (f Func) Pass(line string) bool { return f(line) } //~ f -

// And passes what both pass.
func (f Func) And(g Func) Func {
	return func(line string) bool { return f(line) && g.Pass(line) } //~ f -; Pass filter.go:Func.Pass
}

// Passer is anything that chooses.
type Passer interface {
	Pass(line string) bool
}

// Named is a Passer with a name.
type Named interface {
	Passer
	Name() string
}

type pattern struct{ *regexp.Regexp }

func (p pattern) Pass(line string) bool { return p.MatchString(line) } //~ MatchString -

func (p pattern) Name() string { return p.String() } //~ String -

var builtin = map[string]func(string) Func{
	"prefix": prefix,
	"long":   func(string) Func { return long },
}

var order = []func(string, string) bool{byLength, byText}

// normalize is a variable so that tests can replace it.
var normalize = strings.ToLower

var fallback Func = long

var compile = mustCompile

func prefix(p string) Func {
	p = normalize(p)                                                    //~ normalize -
	return func(line string) bool { return strings.HasPrefix(line, p) } //~ HasPrefix -
}

func long(line string) bool { return len(line) > 80 }

func mustCompile(text string) Named { return pattern{regexp.MustCompile(text)} } //~ MustCompile -

func byLength(a, b string) bool { return len(a) < len(b) }

func byText(a, b string) bool { return a < b }

// Parse reads a filter as people write it.
func Parse(text string) Passer {
	kind, arg, ok := strings.Cut(text, ":") //~ Cut -
	if !ok {
		return compile(text) //~ compile filter.go:mustCompile
	}
	if kind == "" {
		return fallback.And(Func(long)) //~ And filter.go:Func.And
	}
	return builtin[kind](arg) //~ builtin filter.go:prefix
}

// Each calls visit for the lines that pass.
func Each(lines []string, p Passer, visit func(string)) {
	for _, line := range lines {
		if p.Pass(line) && fallback(line) { //~ Pass filter.go:Passer.Pass; fallback filter.go:long
			visit(line) //~ visit -
		}
	}
}

// Sorted sorts by all orders in turn.
func Sorted(lines []string) []string {
	for _, less := range order {
		sort.SliceStable(lines, func(i, j int) bool { return less(lines[i], lines[j]) }) //~ SliceStable -; less filter.go:byLength, filter.go:byText
	}
	return lines
}
