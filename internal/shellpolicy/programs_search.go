package shellpolicy

import (
	"path"
	"regexp"
	"strings"
)

var (
	grepOptions = known("-abcEFGhHiIlLnoPqrRsTvVwxyzZ -# -A: -B: -C: -d: -e: -f: -m: --after-context: --before-context: --context: --regexp: --file: --max-count: " +
		"--color? --colour? --include: --exclude: --exclude-dir: --exclude-from: --count --extended-regexp --fixed-strings --perl-regexp --ignore-case --no-ignore-case " +
		"--invert-match --word-regexp --line-regexp --files-with-matches --files-without-match --line-number --no-filename --with-filename --only-matching --quiet --silent " +
		"--recursive --dereference-recursive --no-messages --text --byte-offset --null --null-data --line-buffered --binary-files: --directories: --label:")
	rgOptions = known("-nilcvwxoFSsNHIuULPaq. -# -A: -B: -C: -e: -g: -t: -T: -m: -M: --hidden --no-ignore --files --count --line-number --ignore-case --files-with-matches " +
		"--no-heading --heading --glob: --type: --fixed-strings --word-regexp --max-count: --max-depth: --context: --sort: --color:")
	diffOptions = known("-qsrNaBbdEeinptTuwyZ -u? -U: -C: -W: -x: --brief --unified? --context? --recursive --new-file --side-by-side --suppress-common-lines " +
		"--ignore-all-space --ignore-case --ignore-space-change --ignore-blank-lines --color? --width: --exclude:")
)

// The options by which grep and diff look into folders, and those by which grep is given its
// pattern, also among others in one word.
var (
	grepDescends  = regexp.MustCompile(`^(?:-[a-zA-Z]*[rRd]|--recursive|--dereference-recursive|--directories)`)
	diffDescends  = regexp.MustCompile(`^(?:-[a-zA-Z]*r|--recursive)`)
	givesPatterns = regexp.MustCompile(`^(?:-[a-zA-Z]*[ef]|--regexp|--file|--files$)`)
)

func grep(words []word) string {
	rest, reason := grepOptions.scan("", words, true)
	if reason == "" && optioned(words, grepDescends) {
		reason = searched(rest, optioned(words, givesPatterns))
	}
	return reason
}

func rg(words []word) string {
	rest, reason := rgOptions.scan("", words, false)
	if reason == "" {
		reason = searched(rest, optioned(words, givesPatterns))
	}
	return reason
}

func diff(words []word) string {
	rest, reason := diffOptions.scan("", words, false)
	if reason == "" && optioned(words, diffDescends) {
		reason = searched(rest, true)
	}
	return reason
}

// optioned reports whether one of the words is such an option.
func optioned(words []word, option *regexp.Regexp) bool {
	for _, w := range words {
		if option.MatchString(w.text) {
			return true
		}
	}
	return false
}

// searched judges the words of a search through folders. All are folders, or all but the first.
func searched(words []word, all bool) string {
	if len(words) > 0 && !all {
		words = words[1:]
	}
	for _, w := range words {
		if reason := root(w); reason != "" {
			return reason
		}
	}
	return ""
}

// root keeps a search through all folders below one from opening those of the kernel, which the
// machine's own root has. The home, where a command begins, is often right below it.
func root(w word) string {
	switch at := path.Clean(w.text); {
	case at == "/", strings.HasPrefix(at, "/") && w.glob && strings.ContainsAny(first(at), "*?["):
		return "it would open every file of the machine, those of the kernel too"
	case climbs(w.text): // of a pattern that may, it was asked before
		return "it can't be told which folders " + w.text + " has, maybe those of the kernel too"
	}
	return ""
}

// first gives the first element of a path from the root.
func first(path string) string {
	element, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return element
}
