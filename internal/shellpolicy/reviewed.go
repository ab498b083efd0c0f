package shellpolicy

import (
	"maps"
	"slices"
	"strings"
)

// program is what is known of a program that can be run only to read.
type program struct {
	options options
	// globs says that no option of the program does harm, so that file names may stand where
	// they could be taken for options.
	globs bool
	// names says that the program looks at files without opening them: devices are fine.
	names bool
	// words judges what is no option; nil: any words are fine.
	words func(words []word) string
	// subs are its subcommands, the first word; each is judged by what stands behind it.
	subs map[string]program
	// judge, where set, judges all words behind the name instead.
	judge func(words []word) string
}

// reviewed are the programs, by name. Whoever adds one reads its manual for every option that
// writes, runs something, opens a connection or takes a file of settings, and leaves it out.
var reviewed = merged(textPrograms, filePrograms, systemPrograms, servicePrograms, networkPrograms, containerPrograms, versionPrograms())

func merged(tables ...map[string]program) map[string]program {
	all := map[string]program{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}

// systemFolders are where the programs of the system are.
var systemFolders = []string{"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"}

// readOnly is the rule of the reviewed list.
func readOnly(words []word) string {
	name := words[0].text
	for _, folder := range systemFolders {
		if rest, found := strings.CutPrefix(name, folder); found {
			name = rest
			break
		}
	}
	p, found := reviewed[name]
	if !found {
		return words[0].text + " is not on the list of commands that only read"
	}
	for _, w := range words[1:] {
		if reason := touchy(w, p.names); reason != "" {
			return reason
		}
	}
	return p.check(name, words[1:])
}

// check judges the words behind a name.
func (p program) check(name string, words []word) string {
	if p.judge != nil {
		if reason := p.judge(words); reason != "" {
			return name + ": " + reason
		}
		return ""
	}
	if p.subs != nil {
		if len(words) == 0 {
			return ""
		}
		sub, found := p.subs[words[0].text]
		if !found || !words[0].fixed {
			return name + " " + words[0].text + " is not known to only read"
		}
		return sub.check(name+" "+words[0].text, words[1:])
	}
	rest, reason := p.options.scan(name, words, p.globs)
	if reason != "" || p.words == nil {
		return reason
	}
	if reason := p.words(rest); reason != "" {
		return name + ": " + reason
	}
	return ""
}

// reads is a program that reads the files that its words name.
func reads(list string) program { return program{options: known(list)} }

// prints is one of which no option at all does harm.
func prints(list string) program { return program{options: known(list), globs: true} }

// lists is one that looks at files without opening them.
func lists(list string) program { return program{options: known(list), globs: true, names: true} }

// bare is a program that takes nothing but options.
func bare(list string) program {
	return program{options: known(list), words: atMost(0)}
}

// some is a program that takes at most n words.
func some(n int, list string) program { return program{options: known(list), words: atMost(n)} }

// verbs is a program whose first word, anywhere among its options, is one of these.
func verbs(list string, first ...string) program {
	return program{options: known(list), words: func(words []word) string {
		if len(words) == 0 {
			return ""
		}
		if !words[0].fixed || !slices.Contains(first, words[0].text) {
			return words[0].text + " is not known to only read"
		}
		return ""
	}}
}

// exactly is a program that is known in these forms alone, each all that stands behind its name.
func exactly(forms ...string) program {
	return program{judge: func(words []word) string {
		texts := make([]string, len(words))
		for i, w := range words {
			if !w.fixed {
				return "it can't be told what " + w.text + " is"
			}
			texts[i] = w.text
		}
		if !slices.Contains(forms, strings.Join(texts, " ")) {
			return "it is not known to only read when it is called so"
		}
		return ""
	}}
}

// atMost judges words by their number, which patterns of files make unknown.
func atMost(n int) func([]word) string {
	return func(words []word) string {
		for _, w := range words {
			if w.glob {
				return "it can't be told how many files " + w.text + " stands for"
			}
		}
		if len(words) > n {
			return "it does not only read when it is given " + words[n].text
		}
		return ""
	}
}
