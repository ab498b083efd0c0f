// Package shellpolicy judges command lines for bash by their syntax: whether a line only reads,
// or is one of those that a project allows, so that it may run without asking a person.
//
// A line passes where every part of it is known: it is one line of simple commands, joined by
// pipes, "&&", "||" and ";", without substitutions, redirections to files, assignments that
// matter and the like, and each command is on the reviewed list with options that are known to
// only read. Whatever can't be told asks. The package knows nothing of the machine: programs are
// taken for what their names say, as a machine's own PATH has them.
package shellpolicy

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxLine is the longest line, in bytes, that passes: nobody reads a longer one as a whole.
const maxLine = 4096

// Verdict is what was found of a line. The zero value asks.
type Verdict struct {
	Passes bool
	// Reason says to people why the line asks; "" where it passes.
	Reason string
}

// Judge gives the verdict on a line by the reviewed list of commands that only read.
func Judge(line string) Verdict { return judge(line, readOnly) }

// rule gives why a simple command asks, or "". Its words are never empty, and the first is
// known in full.
type rule func(words []word) string

// judge never panics: what the parser stumbles over asks.
func judge(line string, allowed rule) (v Verdict) {
	defer func() {
		if recover() != nil {
			v = Verdict{Reason: "the line can't be understood"}
		}
	}()
	reason := illegible(line)
	if reason == "" {
		reason = reasonOf(line, allowed)
	}
	return Verdict{Passes: reason == "", Reason: reason}
}

func reasonOf(line string, allowed rule) string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return "it is not a line that bash can be told to read: " + parseFault(err)
	}
	if len(file.Stmts) == 0 {
		return "there is no command in it"
	}
	for _, s := range file.Stmts {
		if reason := statement(s, allowed); reason != "" {
			return reason
		}
	}
	return ""
}

// parseFault gives the parser's words without the place, which is of little use in one line.
func parseFault(err error) string {
	text := err.Error()
	if _, after, found := strings.Cut(text, ": "); found {
		text = after
	}
	return text
}

// illegible says what keeps a line from being read the same by everybody, or "".
func illegible(line string) string {
	switch {
	case len(line) > maxLine:
		return "it is longer than what is judged"
	case !utf8.ValidString(line):
		return "it holds bytes that are no text"
	case strings.ContainsAny(line, "\n\r"):
		return "it has more than one line"
	}
	for _, r := range line {
		if r != '\t' && !unicode.IsPrint(r) {
			return "it holds characters that can't be seen"
		}
	}
	return ""
}

// statement gives why a command with its redirections asks, or "".
func statement(s *syntax.Stmt, allowed rule) string {
	switch {
	case s.Background || s.Disown:
		return "it leaves a command running in the background"
	case s.Coprocess:
		return "it starts a coprocess"
	case s.Negated:
		return "it negates a command"
	}
	for _, r := range s.Redirs {
		if reason := redirection(r); reason != "" {
			return reason
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return call(c, allowed)
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.AndStmt, syntax.OrStmt, syntax.Pipe, syntax.PipeAll:
		default:
			return "it joins commands in an unusual way"
		}
		if reason := statement(c.X, allowed); reason != "" {
			return reason
		}
		return statement(c.Y, allowed)
	case nil:
		return "it redirects without a command"
	}
	return "it is more than a row of simple commands: " + construct(s.Cmd)
}

// construct names a part of the shell's language for people.
func construct(c syntax.Command) string {
	switch c.(type) {
	case *syntax.FuncDecl:
		return "a function"
	case *syntax.Subshell:
		return "a subshell"
	case *syntax.Block:
		return "a block"
	case *syntax.ForClause, *syntax.WhileClause:
		return "a loop"
	case *syntax.IfClause, *syntax.CaseClause:
		return "a condition"
	case *syntax.DeclClause, *syntax.LetClause, *syntax.ArithmCmd:
		return "a declaration or arithmetic"
	case *syntax.CoprocClause:
		return "a coprocess"
	}
	return "a construct of the shell"
}

// redirection gives why a redirection asks, or "": those between the outputs, and from and to
// /dev/null, do no harm.
func redirection(r *syntax.Redirect) string {
	from := ""
	if r.N != nil {
		from = r.N.Value
	}
	target, plain := "", false
	if r.Word != nil {
		target, plain = r.Word.Lit(), true
	}
	switch {
	case !plain || from != "" && from != "1" && from != "2":
	case r.Op == syntax.DplOut && (target == "1" || target == "2"):
		return ""
	case target != "/dev/null":
	case r.Op == syntax.RdrOut, r.Op == syntax.AppOut, r.Op == syntax.RdrAll, r.Op == syntax.AppAll:
		return ""
	case r.Op == syntax.RdrIn && from == "":
		return ""
	}
	return "it redirects input or output"
}

// harmlessSettings are the assignments before a command that change only how it talks.
var harmlessSettings = map[string][]string{
	"LC_ALL":   {"C", "C.UTF-8", "POSIX"},
	"LANG":     {"C", "C.UTF-8", "POSIX"},
	"TZ":       {"UTC"},
	"NO_COLOR": {"1"},
}

// call gives why a simple command asks, or "".
func call(c *syntax.CallExpr, allowed rule) string {
	for _, a := range c.Assigns {
		if !harmless(a) {
			return "it sets a variable"
		}
	}
	words := make([]word, len(c.Args))
	for i, arg := range c.Args {
		var reason string
		if words[i], reason = read(arg); reason != "" {
			return reason
		}
	}
	if len(words) == 0 {
		return "there is no command in it"
	}
	if !words[0].fixed || words[0].quoted {
		return "the name of a command is not written plainly"
	}
	return allowed(words)
}

func harmless(a *syntax.Assign) bool {
	if a.Append || a.Naked || a.Name == nil || a.Index != nil || a.Array != nil || a.Value == nil {
		return false
	}
	value := a.Value.Lit()
	for _, known := range harmlessSettings[a.Name.Value] {
		if value == known {
			return true
		}
	}
	return false
}
