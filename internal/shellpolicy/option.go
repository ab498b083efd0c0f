package shellpolicy

import (
	"strings"
)

// arity says what follows an option.
type arity int

const (
	alone    arity = iota + 1 // nothing
	attached                  // maybe a value, in the same word
	valued                    // a value, in the same word or the next
)

// options are those of a program that are known to only read.
type options struct {
	short  map[byte]arity
	long   map[string]arity
	digits bool // -20 is a number
	// apart says that a value is always the next word: what stands behind the letter in the same
	// word is another option.
	apart bool
}

// known reads a list of options: "-abc" are letters that stand alone, "-n:" one with a value,
// "-n?" one with a value in the same word or none, "-#" a number, "--all" a word that stands
// alone, "--since:" and "--color?" words with values.
func known(list string) options {
	o := options{short: map[byte]arity{}, long: map[string]arity{}}
	for _, entry := range strings.Fields(list) {
		kind := alone
		name := entry
		switch {
		case strings.HasSuffix(entry, ":"):
			kind, name = valued, entry[:len(entry)-1]
		case strings.HasSuffix(entry, "?") && entry != "-?":
			kind, name = attached, entry[:len(entry)-1]
		}
		switch {
		case name == "-#":
			o.digits = true
		case strings.HasPrefix(name, "--"):
			o.long[name[2:]] = kind
		case kind != alone && len(name) > 2:
			panic("the options " + entry + " take one value")
		default:
			for i := 1; i < len(name); i++ {
				o.short[name[i]] = kind
			}
		}
	}
	return o
}

// knownApart is known for programs that take a value from the next word alone.
func knownApart(list string) options {
	o := known(list)
	o.apart = true
	return o
}

// of puts a program's name before what is said of it; "" where the caller does.
func of(program, reason string) string {
	if program == "" {
		return reason
	}
	return program + ": " + reason
}

// scan reads the words behind a program's name as getopt does, and gives those that are no
// options, or why it asks. Where globs is set no option of the program does harm, so that it
// doesn't matter what the names of files look like.
func (o options) scan(program string, words []word, globs bool) (rest []word, reason string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.fixed && w.text == "--":
			return append(rest, words[i+1:]...), ""
		case !w.fixed && !w.begun() && !(globs && w.glob && !w.shaped):
			return nil, of(program, "it can't be told whether "+w.text+" becomes an option")
		case !w.option():
			rest = append(rest, w)
			continue
		case !w.fixed && !w.named():
			return nil, of(program, "it can't be told which option "+w.text+" is")
		}
		more, reason := o.option(program, w.text, words[i+1:])
		if reason != "" {
			return nil, reason
		}
		i += more
	}
	return rest, ""
}

// named reports whether a word that is not known in full is sure to be one long option, or several
// times that one: its name stands before what is not known.
func (w word) named() bool {
	name, _, assigned := strings.Cut(w.text, "=")
	return assigned && strings.HasPrefix(name, "--") && !strings.ContainsAny(name, "*?[/~")
}

// option judges one word of options, and gives how many words behind it are its value.
func (o options) option(program, text string, next []word) (more int, reason string) {
	unknown := func(option string) (int, string) {
		return 0, of(program, "its option "+option+" is not known to only read")
	}
	if name, isLong := strings.CutPrefix(text, "--"); isLong {
		name, _, assigned := strings.Cut(name, "=")
		switch kind := o.long[name]; {
		case kind == 0, kind == alone && assigned:
			return unknown("--" + name)
		case kind == valued && !assigned:
			return value(program, "--"+name, next)
		}
		return 0, ""
	}
	if o.digits && number(text[1:]) {
		return 0, ""
	}
	for i := 1; i < len(text); i++ {
		switch o.short[text[i]] {
		case alone:
		case attached:
			return 0, ""
		case valued:
			if i+1 < len(text) && o.apart {
				return unknown(text)
			}
			if i+1 < len(text) {
				return 0, ""
			}
			return value(program, "-"+text[i:i+1], next)
		default:
			return unknown("-" + text[i:i+1])
		}
	}
	return 0, ""
}

// value judges the word that is an option's value. One that looks like an option asks: where
// the list is wrong about the value it would be one.
func value(program, option string, next []word) (more int, reason string) {
	if len(next) == 0 {
		return 0, of(program, "its option "+option+" has no value")
	}
	w := next[0]
	if !w.begun() && !(w.fixed && w.text == "") || w.option() && !number(w.text[1:]) {
		return 0, of(program, "it can't be told what the value of its option "+option+" is")
	}
	return 1, ""
}

func number(text string) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}
