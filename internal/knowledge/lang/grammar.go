package lang

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/harvest-engine/harvest/internal/knowledge/lang/syntax"
)

// handler reads node n and what is below it.
type handler func(w *walker, n int)

// rules are what the walker must know of a language.
type rules struct {
	grammar  func() unsafe.Pointer
	on       map[string]handler  // by node kind; others are walked through
	comments []string            // kinds of comments
	builtins string              // names of types and functions, separated by blanks, that are no references
	enter    handler             // runs before the root's children are walked, with the root
	leave    func(w *walker)     // runs after the walk
	doc      func(string) string // cleans a documentation comment further; may be nil
	shared   bool                // the table serves several grammars: kinds that this one lacks are left out
}

// grammar is a language ready for walking.
type grammar struct {
	name     string
	lang     *syntax.Language
	table    []handler // by syntax.Kind
	builtins map[string]bool
	rules    rules
}

// grammars holds the languages that can be parsed, by the name that Detect gives. Each is
// set up on first use: loading the names of all takes longer than reading a small file.
var grammars = map[string]func() *grammar{}

func register(name string, load func() rules) {
	grammars[name] = sync.OnceValue(func() *grammar { return newGrammar(name, load()) })
}

func newGrammar(name string, r rules) *grammar {
	g := &grammar{name: name, lang: syntax.NewLanguage(r.grammar()), rules: r, builtins: words(r.builtins)}
	g.table = make([]handler, g.lang.KindCount())
	for _, kind := range r.comments {
		g.handle(kind, noteComment)
	}
	for kind, h := range r.on {
		g.handle(kind, h)
	}
	return g
}

// handle sets a handler; a kind that the grammar does not have is a mistake of ours that
// any test of the language finds.
func (g *grammar) handle(kind string, h handler) {
	kinds := g.lang.Kinds(kind)
	if len(kinds) == 0 && !g.rules.shared {
		panic(fmt.Sprintf("the grammar of %s has no node kind %q", g.name, kind))
	}
	for _, k := range kinds {
		g.table[k] = h
	}
}
