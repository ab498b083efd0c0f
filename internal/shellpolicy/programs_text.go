package shellpolicy

import (
	"regexp"
	"slices"
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
	"diff":      {judge: diff},
	"sort":      reads("-bcCdfghiMnRrsuVmz -k: -t: -S: --reverse --numeric-sort --unique --human-numeric-sort --version-sort --key: --field-separator: --check? --stable --ignore-case --general-numeric-sort --month-sort"),
	"uniq":      {judge: uniq},
	"seq":       prints("-w -f: -s: --equal-width --separator: --format: -#"),
	"od":        prints("-abcdfiloxsv -A: -j: -N: -t: -w? --address-radix: --skip-bytes: --read-bytes: --format:"),
	"hexdump":   prints("-bcCdovx -n: -s: -e:"),
	"xxd":       {judge: xxd},
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
	"grep":      {judge: grep},
	"egrep":     {judge: grep},
	"fgrep":     {judge: grep},
	"rg":        {judge: rg},
	"jq":        {judge: jq},
	"awk":       {judge: awk},
	"gawk":      {judge: awk},
	"mawk":      {judge: awk},
	"sed":       {judge: sed},
	"echo":      {judge: anything, names: true},
	"printf":    {judge: printf, names: true},
	"true":      {judge: anything},
	"false":     {judge: anything},
}

// anything says that no words do harm: of what the shell itself prints.
func anything([]word) string { return "" }

// counts is the directive of printf that sets a variable to how much was printed.
var counts = regexp.MustCompile(`%[^A-Za-z%]*[hlLjzt]*n`)

// printf judges a call of printf: by an option, or by a directive, it sets a variable.
func printf(words []word) string {
	switch {
	case len(words) == 0 || !words[0].fixed || words[0].option():
		return "it is known to only print when its format comes first"
	case counts.MatchString(strings.ReplaceAll(words[0].text, "%%", "")):
		return "its format sets a variable"
	}
	return ""
}

var uniqOptions = known("-cdDiuz -f: -s: -w: --count --repeated --unique --ignore-case --skip-fields: --skip-chars: --check-chars:")

// uniq judges a call of uniq: it reads one file at most, as it writes the second. Some take what
// stands behind a file for another one, whatever it looks like.
func uniq(words []word) string {
	rest, reason := uniqOptions.scan("", words, false)
	switch {
	case reason != "":
		return reason
	case len(rest) > 0 && words[len(words)-len(rest)] != rest[0]:
		return "its options must stand before the file"
	}
	return atMost(1)(rest)
}

var (
	xxdOptions = []string{"-a", "-b", "-e", "-i", "-p", "-ps", "-u", "-E"}
	xxdValued  = regexp.MustCompile(`^-[cglos](\+?[0-9]+)?$`)
)

// xxd judges a call of xxd: it writes the second file, and reads of most options the first letter
// alone.
func xxd(words []word) string {
	var rest []word
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case !w.option():
			rest = append(rest, w)
		case !w.fixed || !slices.Contains(xxdOptions, w.text) && !xxdValued.MatchString(w.text):
			return "its option " + w.text + " is not known to only read"
		case len(w.text) == 2 && xxdValued.MatchString(w.text):
			more, reason := value("", w.text, words[i+1:])
			if reason != "" {
				return reason
			}
			i += more
		}
	}
	if len(rest) > 0 && !rest[0].begun() {
		return "it can't be told whether " + rest[0].text + " becomes an option"
	}
	return atMost(1)(rest)
}

var jqOptions = known("-rncsSCMajeR --raw-output --compact-output --slurp --sort-keys --null-input --arg --tab --indent: --exit-status --raw-input --color-output --monochrome-output --join-output")

// jqShows is what a program of jq shows the environment by, or takes other programs in. Before
// 1.7 a blank may stand behind the sign of a variable.
var jqShows = regexp.MustCompile(`(?:^|[^A-Za-z0-9_."$])env(?:$|[^A-Za-z0-9_])|\$\s*(?:ENV|__prog)|(?:import|include)[\s"]|modulemeta`)

// jq judges a call of jq: a program that looks at what it reads, and nothing else.
func jq(words []word) string {
	rest, reason := jqOptions.scan("", words, false)
	for _, w := range rest {
		if reason == "" && jqShows.MatchString(w.text) {
			reason = "its program may show the environment, or take in another"
		}
	}
	return reason
}

// awkDoes are what an awk program writes, runs, connects or takes other programs in by.
var awkDoes = regexp.MustCompile("[>|@`]|system|getline|fflush|close|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|ARG[CV]|/inet")

// awkCompares takes out what an awk program compares by: it looks like what writes.
var awkCompares = strings.NewReplacer("||", " ", ">=", " ")

var awkOptions = known("-F: -v:")

// awk judges a call of awk: one program, whole in its words, that only prints.
func awk(words []word) string {
	rest, reason := awkOptions.scan("", words, false)
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

// sed judges a call of sed: scripts of one plain command, and nothing is edited in its place. Some
// take the first word for the script where options stand behind it; and in some encodings a
// backslash is the second half of a letter.
func sed(words []word) string {
	var scripts, rest []word
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !w.fixed || w.text != "-e" && w.text != "--expression" || i+1 == len(words) {
			rest = append(rest, w)
			continue
		}
		for _, before := range words[:i] {
			if before.text == "--" || !before.option() && len(scripts) == 0 {
				return "it can't be told which script it takes"
			}
		}
		i++
		scripts = append(scripts, words[i])
	}
	rest, reason := sedOptions.scan("", rest, false)
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
		if _, same := unescape(s.text); !same || !s.fixed || !sedScript.MatchString(s.text) {
			return "its script may write, or run something"
		}
	}
	return ""
}
