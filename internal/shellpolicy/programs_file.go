package shellpolicy

import (
	"regexp"
	"slices"
	"strings"
)

// filePrograms tell of files, folders and archives.
var filePrograms = map[string]program{
	"ls":       lists("-aAbBcCdfFgGhHiklLmnNopqQrRsStTuUvwxXZ1 -I: -w: --all --almost-all --color? --time: --time-style: --sort: --human-readable --recursive --size --inode --classify? --directory --full-time --group-directories-first --reverse --si --numeric-uid-gid --format: --hide: --ignore:"),
	"stat":     lists("-fLt -c: --format: --printf: --dereference --file-system --terse"),
	"du":       lists("-abcDhHkLlmPsSx0 -d: -t: -B: --all --bytes --total --human-readable --summarize --max-depth: --apparent-size --si --one-file-system --exclude: --time? --threshold: --separate-dirs --inodes --block-size:"),
	"df":       lists("-ahHiklPT -t: -x: -B: --all --human-readable --inodes --local --print-type --si --total --type: --exclude-type: --output? --block-size:"),
	"file":     {options: known("-bhikLnNr0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference --separator:")},
	"tree":     {options: knownApart("-adfilpsughDFqrtvcUCnQxNAS -L: -I: -P: --dirsfirst --noreport --du --charset: --prune --matchdirs --ignore-case --sort:"), names: true},
	"pwd":      {options: known("-LP"), words: atMost(0)},
	"basename": lists("-az -s: --multiple --suffix:"),
	"dirname":  lists("-z --zero"),
	"realpath": lists("-eLmPqsz --canonicalize-existing --canonicalize-missing --relative-to: --relative-base:"),
	"readlink": lists("-femnqsvz --canonicalize"),
	"find":     {judge: find, names: true},
	"tar":      {judge: tar},
	"unzip":    {judge: unzip},
	"zipinfo":  some(1, "-12smlvhtz"),
	"lsattr":   lists("-adlRVv"),
	"getfacl":  lists("-aceEnptR"),
	"getcap":   lists("-rv"),
	"namei":    lists("-lmnovx"),
	"test":     {judge: test, names: true},
	"[":        {judge: bracket, names: true},
	"cd":       {judge: cd},
	"type":     lists("-aftpP"),
	"which":    lists("-as"),
	"whereis":  lists("-bms"),
	"command":  {judge: locate},
	"sleep":    {judge: sleep},
	"git":      {judge: git},
}

// findTests are what find may be told to look at, with how many words are theirs.
var findTests = map[string]int{
	"-maxdepth": 1, "-mindepth": 1, "-name": 1, "-iname": 1, "-path": 1, "-ipath": 1, "-wholename": 1, "-iwholename": 1, "-lname": 1, "-ilname": 1,
	"-regex": 1, "-iregex": 1, "-regextype": 1, "-type": 1, "-xtype": 1, "-size": 1, "-empty": 0, "-mtime": 1, "-mmin": 1, "-atime": 1, "-amin": 1,
	"-ctime": 1, "-cmin": 1, "-daystart": 0, "-newer": 1, "-anewer": 1, "-cnewer": 1, "-newermt": 1, "-newerat": 1, "-newerct": 1, "-user": 1, "-group": 1,
	"-uid": 1, "-gid": 1, "-nouser": 0, "-nogroup": 0, "-perm": 1, "-readable": 0, "-writable": 0, "-executable": 0, "-links": 1, "-inum": 1, "-samefile": 1,
	"-fstype": 1, "-depth": 0, "-mount": 0, "-xdev": 0, "-follow": 0, "-noleaf": 0, "-prune": 0, "-quit": 0, "-true": 0, "-false": 0,
	"-print": 0, "-print0": 0, "-ls": 0, "-printf": 1, "-and": 0, "-a": 0, "-or": 0, "-o": 0, "-not": 0,
}

// find judges a call of find: it may test and print, and nothing else.
func find(words []word) string {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case !w.begun():
			return "it can't be told whether " + w.text + " becomes an action"
		case !w.option(), i == 0 && (w.text == "-H" || w.text == "-L" || w.text == "-P"):
			continue
		case !w.fixed:
			return "it can't be told which action " + w.text + " is"
		}
		more, found := findTests[w.text]
		if !found {
			return "its action " + w.text + " is not known to only read"
		}
		for range more {
			if i++; i == len(words) || !words[i].fixed && (!words[i].begun() || words[i].option()) {
				return "it can't be told what belongs to " + w.text
			}
		}
	}
	return ""
}

var tarList = regexp.MustCompile(`^-?[vzjJ]*t[vzjJ]*f$`)

// tar judges a call of tar: it may list an archive of this machine. A colon in the name of one
// means another machine.
func tar(words []word) string {
	if len(words) < 2 || !words[0].fixed || !tarList.MatchString(words[0].text) {
		return "it is known to only read when it lists an archive, such as tar -tzf FILE"
	}
	for i, w := range words[1:] {
		if !w.begun() || w.option() || i == 0 && (strings.Contains(w.text, ":") || w.glob) {
			return "it can't be told what " + w.text + " is"
		}
	}
	return ""
}

func unzip(words []word) string {
	if len(words) == 2 && words[0].fixed && words[0].text == "-l" && words[1].begun() && !words[1].option() && !words[1].glob {
		return ""
	}
	return "it is known to only read as unzip -l FILE"
}

var fileTests = []string{"-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-S", "-p", "-b", "-c"}

// test judges one question about a file. Others may evaluate what they are given.
func test(words []word) string {
	if len(words) == 2 && words[0].fixed && slices.Contains(fileTests, words[0].text) && words[1].begun() && !words[1].glob {
		return ""
	}
	return "it is known to only read when it asks about one file"
}

func bracket(words []word) string {
	if len(words) != 3 || !words[2].fixed || words[2].text != "]" {
		return "it is known to only read when it asks about one file"
	}
	return test(words[:2])
}

// cd judges where the commands behind it read: not among devices, where any name may be one.
func cd(words []word) string {
	if len(words) == 0 {
		return ""
	}
	w := words[0]
	switch {
	case len(words) > 1 || w.glob || !w.begun() || w.option() || w.text == "-":
		return "it can't be told where it leads"
	}
	if root(w) != "" {
		return "what is behind it would read anywhere"
	}
	for _, element := range strings.Split(w.text, "/") {
		if element == "dev" || element == "proc" || element == "sys" {
			return "reading files of " + w.text + " can do something"
		}
	}
	return ""
}

// locate judges the question where a command is; as a prefix it would run one.
func locate(words []word) string {
	if len(words) < 2 || !words[0].fixed || words[0].text != "-v" && words[0].text != "-V" {
		return "it runs what is behind it"
	}
	return ""
}

var seconds = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]+)?s?$`)

func sleep(words []word) string {
	if len(words) == 1 && words[0].fixed && seconds.MatchString(words[0].text) {
		return ""
	}
	return "it is known as sleep SECONDS"
}

// gitQuestions are what git answers without reading objects or looking at files: all else may
// run programs that the settings of the repository name (its filters, hooks, signatures and
// remotes), and a folder that somebody got from elsewhere may hold such settings.
var gitQuestions = []string{
	"--version", "version", "rev-parse --show-toplevel", "rev-parse --git-dir", "rev-parse --is-inside-work-tree", "rev-parse --abbrev-ref HEAD",
	"rev-parse HEAD", "branch --show-current", "remote", "remote -v", "remote get-url origin", "config --list", "config -l",
	"config --get remote.origin.url", "config --get user.name", "config --get user.email",
}

func git(words []word) string {
	if len(words) > 2 && words[0].fixed && words[0].text == "-C" && words[1].begun() && !words[1].glob && !words[1].option() {
		words = words[2:]
	}
	texts := make([]string, len(words))
	for i, w := range words {
		if !w.fixed {
			return "it can't be told what " + w.text + " is"
		}
		texts[i] = w.text
	}
	if line := strings.Join(texts, " "); slices.Contains(gitQuestions, line) {
		return ""
	}
	return "it may run programs that the settings of the repository name"
}
