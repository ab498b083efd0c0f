package shellpolicy

import (
	"regexp"
	"strings"
)

// textPrograms show and change texts on their way, and write nothing but their output.
var textPrograms = map[string]program{
	"cat":       prints("-AbeEnstTuv --number --show-all --squeeze-blank --number-nonblank --show-ends --show-tabs"),
	"tac":       prints("-b -s: --separator:"),
	"nl":        prints("-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering: --number-width:"),
	"head":      prints("-qvz -# -n: -c: --lines: --bytes: --quiet --silent --verbose"),
	"tail":      prints("-qvfFz -# -n: -c: -s: --lines: --bytes: --follow? --retry --pid: --quiet --silent --verbose --sleep-interval:"),
	"wc":        prints("-clmwL --bytes --chars --lines --words --max-line-length"),
	"rev":       prints(""),
	"cut":       prints("-nsz -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --complement --only-delimited --output-delimiter:"),
	"tr":        prints("-cCdst --complement --delete --squeeze-repeats --truncate-set1"),
	"paste":     prints("-sz -d: --delimiters: --serial"),
	"column":    prints("-txenJ -s: -o: -c: -N: -R: -H: --table --separator: --output-separator:"),
	"fold":      prints("-bs -w: --width:"),
	"fmt":       prints("-cstu -w: -p: --width:"),
	"expand":    prints("-i -t: --tabs:"),
	"unexpand":  prints("-a -t: --tabs:"),
	"comm":      prints("-123z --check-order --nocheck-order --total --output-delimiter:"),
	"join":      prints("-iz -1: -2: -a: -e: -j: -o: -t: -v: --header --check-order --nocheck-order"),
	"cmp":       prints("-bls -i: -n: --print-bytes --verbose --silent --quiet"),
	"diff":      {options: known("-qsrNaBbdEeinptTuwyZ -u? -U: -C: -W: -x: --brief --unified? --context? --recursive --new-file --side-by-side --suppress-common-lines --ignore-all-space --ignore-case --ignore-space-change --ignore-blank-lines --color? --width: --exclude:"), words: notRoot},
	"sort":      reads("-bcCdfghiMnRrsuVmz -k: -t: -S: --reverse --numeric-sort --unique --human-numeric-sort --version-sort --key: --field-separator: --check? --stable --ignore-case --general-numeric-sort --month-sort"),
	"uniq":      some(1, "-cdDiuz -f: -s: -w: --count --repeated --unique --ignore-case --skip-fields: --skip-chars: --check-chars:"),
	"seq":       prints("-w -f: -s: --equal-width --separator: --format: -#"),
	"od":        prints("-abcdfiloxsv -A: -j: -N: -t: -w? --address-radix: --skip-bytes: --read-bytes: --format:"),
	"hexdump":   prints("-bcCdovx -n: -s: -e:"),
	"xxd":       some(1, "-abeiupE -c: -g: -l: -s: -o:"),
	"strings":   prints("-afwo -# -n: -t: -e: --all --bytes: --radix:"),
	"base64":    prints("-di -w: --decode --wrap:"),
	"base32":    prints("-di -w: --decode --wrap:"),
	"md5sum":    prints("-bctwz --check --quiet --status --tag --warn --ignore-missing"),
	"sha1sum":   prints("-bctwz --check --quiet --status --tag --warn --ignore-missing"),
	"sha256sum": prints("-bctwz --check --quiet --status --tag --warn --ignore-missing"),
	"sha512sum": prints("-bctwz --check --quiet --status --tag --warn --ignore-missing"),
	"b2sum":     prints("-bctwz --check --quiet --status --tag --warn --ignore-missing"),
	"cksum":     prints(""),
	"zcat":      reads("-f"),
	"bzcat":     reads(""),
	"xzcat":     reads(""),
	"grep":      {options: known(grepOptions), globs: true, words: notRoot},
	"egrep":     {options: known(grepOptions), globs: true, words: notRoot},
	"fgrep":     {options: known(grepOptions), globs: true, words: notRoot},
	"rg":        {options: known("-nilcvwxoFSsNHIuULPaq. -# -A: -B: -C: -e: -g: -t: -T: -m: -M: --hidden --no-ignore --files --count --line-number --ignore-case --files-with-matches --no-heading --heading --glob: --type: --fixed-strings --word-regexp --max-count: --max-depth: --context: --sort: --color:"), words: notRoot},
	"jq":        {options: known("-rncsSCMajeR --raw-output --compact-output --slurp --sort-keys --null-input --arg --tab --indent: --exit-status --raw-input --color-output --monochrome-output --join-output"), words: anyOf},
	"awk":       {judge: awk},
	"gawk":      {judge: awk},
	"mawk":      {judge: awk},
	"sed":       {judge: sed},
	"echo":      {judge: anything, names: true},
	"true":      {judge: anything},
	"false":     {judge: anything},
}

const grepOptions = "-abcEFGhHiIlLnoPqrRsTvVwxyzZ -# -A: -B: -C: -d: -e: -f: -m: --after-context: --before-context: --context: --regexp: --file: --max-count: " +
	"--color? --colour? --include: --exclude: --exclude-dir: --exclude-from: --count --extended-regexp --fixed-strings --perl-regexp --ignore-case --no-ignore-case " +
	"--invert-match --word-regexp --line-regexp --files-with-matches --files-without-match --line-number --no-filename --with-filename --only-matching --quiet --silent " +
	"--recursive --dereference-recursive --no-messages --text --byte-offset --null --null-data --line-buffered --binary-files: --directories: --label:"

// anything says that no words do harm: of what the shell itself prints.
func anything([]word) string { return "" }

// anyOf says the same of what is no option.
func anyOf([]word) string { return "" }

// notRoot keeps a search through all folders of the machine from opening those of the kernel.
func notRoot(words []word) string {
	for _, w := range words {
		if strings.Trim(w.text, "/.") == "" && strings.HasPrefix(w.text, "/") {
			return "it would open every file of the machine, those of the kernel too"
		}
	}
	return ""
}

// awkDoes are what an awk program writes, runs, connects or takes other programs in by.
var awkDoes = regexp.MustCompile("[>|@`]|system|getline|fflush|close|ENVIRON|PROCINFO|ARG[CV]|/inet")

// awkCompares takes out what an awk program compares by: it looks like what writes.
var awkCompares = strings.NewReplacer("||", " ", ">=", " ")

var awkOptions = known("-F: -v:")

// awk judges a call of awk: one program, whole in its words, that only prints.
func awk(words []word) string {
	rest, reason := awkOptions.scan("awk", words, false)
	switch {
	case reason != "":
		return reason
	case len(rest) == 0:
		return "it has no program"
	case !rest[0].fixed:
		return "its program is not known in full"
	case awkDoes.MatchString(awkCompares.Replace(rest[0].text)):
		return "its program may write, or run something"
	}
	for _, w := range append(rest[1:], words...) {
		if strings.Contains(w.text, "/inet") {
			return w.text + " may be a connection"
		}
	}
	return ""
}

// The scripts of sed that pass: commands that print, delete, quit or replace, for some lines.
// Flags of s that write or run are not among them. A delimiter between brackets, of which some
// seds take no notice and others do, ends no part here: such a script asks.
var (
	sedAddress = `(?:[0-9]+|\$|[0-9]+~[0-9]+|/` + sedPart("/") + `/I?)`
	sedLines   = `(?:` + sedAddress + `(?:,(?:` + sedAddress + `|[+~][0-9]+))?)?!?`
	sedCommand = sedLines + `(?:[pdlD=]|[qQ][0-9]*|s(?:` + sedReplace("/") + `|` + sedReplace("|") + `|` + sedReplace("#") + `|` + sedReplace(",") + `)[gpiI0-9]*)`
	sedScript  = regexp.MustCompile(`^` + sedCommand + `(?:; *` + sedCommand + `)*$`)
)

// sedPart is a pattern or a replacement before the delimiter.
func sedPart(by string) string {
	return `(?:[^\\\[` + by + `]|\\.|\[\^?(?:\[:[a-z]+:\]|[^\]\\\[` + by + `])+\])*`
}

func sedReplace(by string) string {
	by = regexp.QuoteMeta(by)
	return by + sedPart(by) + by + sedPart(by) + by
}

var sedOptions = known("-nErsuz --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --sandbox")

// sed judges a call of sed: scripts of one plain command, and nothing is edited in its place.
func sed(words []word) string {
	var scripts, rest []word
	for i := 0; i < len(words); i++ {
		if w := words[i]; w.fixed && (w.text == "-e" || w.text == "--expression") && i+1 < len(words) {
			i++
			scripts = append(scripts, words[i])
			continue
		}
		rest = append(rest, words[i])
	}
	rest, reason := sedOptions.scan("sed", rest, false)
	if reason != "" {
		return reason
	}
	if len(scripts) == 0 {
		if len(rest) == 0 {
			return "it has no script"
		}
		scripts = rest[:1]
	}
	for _, s := range scripts {
		if !s.fixed || !sedScript.MatchString(s.text) {
			return "its script may write, or run something"
		}
	}
	return ""
}
