package shellpolicy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is an argument as the program gets it, as far as that can be told.
type word struct {
	text   string // where it is not fixed: as it is written, which its beginning still is
	fixed  bool   // text is all of it, to the byte
	glob   bool   // names of files take its place, any number of them
	shaped bool   // a variable that is no path stands in it: only for what takes any text
	quoted bool   // some of it stands in quotes or behind a backslash
}

// option reports whether the word can be taken for an option.
func (w word) option() bool { return strings.HasPrefix(w.text, "-") && w.text != "-" }

// begun reports whether the word's first character is sure to be its own.
func (w word) begun() bool {
	return w.text != "" && !w.shaped && (w.fixed || !w.glob || !strings.ContainsRune("*?[", rune(w.text[0])))
}

// paths are variables whose values are absolute paths; texts are others that may be shown.
var (
	paths = map[string]bool{"HOME": true, "PWD": true}
	texts = map[string]bool{
		"USER": true, "LOGNAME": true, "HOSTNAME": true, "SHELL": true, "PATH": true, "LANG": true, "TERM": true,
		"UID": true, "EUID": true, "PPID": true, "OLDPWD": true, "BASH_VERSION": true, "?": true, "$": true, "#": true,
	}
)

// pathMark stands in a word's text for the value of a variable that is a path.
const pathMark = "/~"

// read gives a word, or why it can't be told what the program would get.
func read(w *syntax.Word) (word, string) {
	out := word{fixed: true}
	if w.Lit() == "[" { // the command; a pattern needs its other bracket
		return word{text: "[", fixed: true}, ""
	}
	for i, part := range w.Parts {
		var reason string
		switch p := part.(type) {
		case *syntax.Lit:
			reason = out.literal(p.Value, i == 0, len(w.Parts) == i+1)
		case *syntax.SglQuoted:
			if p.Dollar {
				return out, "it holds a text with escapes ($'…')"
			}
			out.text += p.Value
			out.quoted = true
		case *syntax.DblQuoted:
			reason = out.doubleQuoted(p)
		case *syntax.ParamExp:
			reason = out.expansion(p, false)
		default:
			reason = substitution(part)
		}
		if reason != "" {
			return out, reason
		}
	}
	return out, ""
}

// substitution says what a part of a word is that commands may hide in.
func substitution(part syntax.WordPart) string {
	switch part.(type) {
	case *syntax.CmdSubst:
		return "it puts a command's output in the place of words"
	case *syntax.ProcSubst:
		return "it puts a command in the place of a file"
	case *syntax.ArithmExp:
		return "it holds arithmetic"
	case *syntax.ExtGlob:
		return "it holds an extended pattern"
	}
	return "it holds a construct of the shell"
}

// literal adds an unquoted text. A backslash is taken before punctuation alone, and before a
// blank inside of a word: a line must not mean another thing by a blank or a comment behind it.
func (w *word) literal(text string, first, last bool) string {
	if first && strings.HasPrefix(text, "~") {
		return w.tilde(text, last)
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= 0x80:
			return "it has letters beyond ASCII that are not quoted"
		case c == '\\':
			if i++; i == len(text) {
				return "it ends with a backslash"
			}
			if !w.escaped(text[i], text[i+1:], last) {
				return "it has a backslash where none is needed"
			}
			w.quoted = true
			w.text += text[i : i+1]
			continue
		case c == '{' || c == '}':
			return "it holds braces, which may become several words"
		case c == '*' || c == '?' || c == '[':
			w.glob, w.fixed = true, false
		case c == '`' || c == '$':
			return "it holds a lone $ or backquote"
		}
		w.text += text[i : i+1]
	}
	return ""
}

func (w *word) escaped(c byte, rest string, last bool) bool {
	if c == ' ' {
		return w.text != "" && !(rest == "" && last) && !strings.HasPrefix(rest, "#") && !strings.HasPrefix(rest, `\`)
	}
	return strings.IndexByte(`()!;*?[].+|$^&<>'"{}/=:,@%~-`, c) >= 0 || c == '\\' && rest != ""
}

// tilde adds a text that begins with the home of somebody.
func (w *word) tilde(text string, last bool) string {
	name, rest, slash := strings.Cut(text[1:], "/")
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' && name[0] > '9' || c == '_') {
			return "it begins with an unusual ~"
		}
	}
	if !slash && !last {
		return "it begins with an unusual ~"
	}
	w.text, w.fixed = pathMark, false
	if !slash {
		return ""
	}
	return w.literal("/"+rest, false, last)
}

func (w *word) doubleQuoted(q *syntax.DblQuoted) string {
	if q.Dollar {
		return `it holds a text to be translated ($"…")`
	}
	w.quoted = true
	for _, part := range q.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text, ok := unescape(p.Value)
			if !ok {
				return "it has a backslash beside letters beyond ASCII"
			}
			w.text += text
		case *syntax.ParamExp:
			if reason := w.expansion(p, true); reason != "" {
				return reason
			}
		default:
			return substitution(part)
		}
	}
	return ""
}

// unescape gives a text in double quotes as the shell passes it on. In some encodings a
// backslash is the second half of a letter: beside letters beyond ASCII it is not taken.
func unescape(text string) (string, bool) {
	var out strings.Builder
	ascii := true
	for i := 0; i < len(text); i++ {
		c := text[i]
		ascii = ascii && c < 0x80
		if c == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\", text[i+1]) >= 0 {
			i++
			c = text[i]
		}
		out.WriteByte(c)
	}
	return out.String(), ascii || !strings.Contains(text, `\`)
}

// expansion adds the value of a variable. Unquoted it may become several words.
func (w *word) expansion(p *syntax.ParamExp, quoted bool) string {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.IsSet || p.Flags != nil || p.NestedParam != nil || p.Index != nil ||
		len(p.Modifiers) > 0 || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil {
		return "it does more with a variable than to read it"
	}
	name := p.Param.Value
	w.fixed, w.quoted = false, true
	switch {
	case paths[name] && quoted:
		w.text += pathMark
	case paths[name] || texts[name]:
		w.text += "$" + name
		w.shaped = true
	default:
		return "it reads a variable whose value is not known: " + name
	}
	return ""
}
