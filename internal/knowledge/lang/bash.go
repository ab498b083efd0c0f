package lang

import (
	"strings"

	grammarbash "github.com/tree-sitter/tree-sitter-bash/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("bash", bashRules) }

func bashRules() rules {
	return rules{
		grammar:  grammarbash.Language,
		comments: []string{"comment"},
		builtins: `echo printf cd pwd exit return test true false read set unset shift eval exec export local declare readonly typeset let wait kill
			cat cp mv rm mkdir rmdir ls ln touch chmod chown grep sed awk sort uniq head tail cut tr wc find xargs tee date sleep basename dirname env
			command type hash pushd popd break continue umask ulimit getopts trap alias source . jobs bg fg : [ seq mktemp which uname id`,
		on: map[string]handler{
			"function_definition": bashFunction,
			"variable_assignment": bashAssignment,
			"command":             bashCommand,
		},
	}
}

func bashFunction(w *walker, n int) {
	name, body := w.Content(w.Field(n, "name")), w.Field(n, "body")
	symbol := w.define(definition{
		kind: domain.KindFunction, name: name, owner: w.owner, node: n, body: body, exported: !strings.HasPrefix(name, "_"),
	})
	w.within(symbol, func() {
		w.belonging(dotted(w.owner, name), func() { w.visit(body) })
	})
}

// bashAssignment notes the first assignment of each variable of the script.
func bashAssignment(w *walker, n int) {
	name := w.Field(n, "name")
	if w.symbol >= 0 || w.Kind(name) != "variable_name" || w.Kind(w.Parent(n)) == "command" || w.seen[w.Content(name)] {
		w.inside(n)
		return
	}
	w.seen[w.Content(name)] = true
	d := definition{kind: domain.KindConstant, name: w.Content(name), node: n}
	if up := w.Parent(n); w.Kind(up) == "declaration_command" {
		d.node = up
		d.exported = strings.HasPrefix(w.Content(up), "export")
	}
	w.within(w.define(d), func() { w.inside(n) })
}

func bashCommand(w *walker, n int) {
	word := w.First(w.Field(n, "name"))
	name := w.Content(word)
	first := w.Field(n, "argument")
	switch {
	case w.Kind(word) != "word":
	case name == "source" || name == ".":
		w.importing(n, unquote(w.Content(first)), "", "")
		return
	case name == "alias":
		alias, _, ok := strings.Cut(w.Content(first), "=")
		if ok {
			w.define(definition{kind: domain.KindFunction, name: alias, node: n})
		}
	case name == "trap" && w.Kind(first) == "word":
		w.calls(call{node: first, name: w.Content(first), receiver: none, kind: domain.EdgeUses})
	case !w.g.builtins[name] && !strings.ContainsAny(name, "/$="):
		args := 0
		for c := range w.Children(n) {
			if w.FieldName(c) == "argument" {
				args++
			}
		}
		w.calls(call{node: n, name: name, receiver: none, args: args})
	}
	w.inside(n)
}
