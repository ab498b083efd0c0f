package offline

import (
	"regexp"
	"strings"
)

// kind is what a question wants to know.
type kind int

const (
	kindHow        kind = iota // how does X work; also everything that is no other kind
	kindWhere                  // where is X defined
	kindCallers                // who calls X
	kindCallees                // what does X call
	kindReferences             // what uses, implements or extends X
	kindPath                   // how A reaches B
	kindChanged                // what changed in X between versions
	kindConfigured             // where X is configured
	kindOverview               // what is in this repository
	kindList                   // which repositories there are
	kindImports                // what does a file import
	kindFile                   // what is in a file
)

// kindRules are tried in order; the first that matches the question in lower case wins.
var kindRules = []struct {
	kind    kind
	pattern *regexp.Regexp
	when    func(question) bool
}{
	{kindList, regexp.MustCompile(`\b(which|what|list|show)\b.{0,20}\b(repositor(y|ies)|repos|versions)\b.{0,30}(\bthere\b|\bavailable\b|\bingested\b|\bknown\b|\bloaded\b|\bhave\b|\bexist\b|^[^?]*\?*$)`), func(q question) bool { return len(q.names)+len(q.paths) == 0 && len(q.words) < 2 }},
	{kindChanged, regexp.MustCompile(`\b(chang(e|es|ed)|differ(s|ed|ent|ence|ences)?|diff|compare[ds]?|evolv\w*|modified)\b.*\b(between|since|from|across|versions?|releases?|and)\b|\bwhat('s| is| has| was)? (new|changed)\b|\bdiff(erence)?s? (of|in|between)\b|\bsince (version )?v?\d`), nil},
	{kindChanged, regexp.MustCompile(`\b(chang(e|es|ed)|differ|differs|difference|compare|added|removed|new)\b`), func(q question) bool { return len(q.tags) > 0 }},
	{kindPath, regexp.MustCompile(`\b(reach(es)?|get(s)? to|lead(s)? to|end(s)? up in|arrive(s)? at|path from|chain|call path|route from|connect(s|ed)?|flow(s)? (from|to|into)|go(es)? from|eventually call|come to call|from .+ to)\b`), hasEnds},
	{kindCallees, regexp.MustCompile(`\bwhat (functions? |methods? )?(does|do|is|are) .{0,60}\b(call|invoke|calls|called by it)\b|\bcallees?\b|\b(which|what) (functions?|methods?) does\b.*\bcall\b`), nil},
	{kindReferences, regexp.MustCompile(`\b(implements?|implementations?|implementers?|implementors?|subclass(es)?|inherits?|extends?|embeds?|satisf(y|ies))\b.*`), named},
	{kindCallers, regexp.MustCompile(`\b(who|what|which .{0,20}|where).{0,30}\b(calls?|called|calling|invokes?|invoked|callers?)\b|\bcallers? of\b|\bcalled (by|from)\b|\bcall sites?\b`), nil},
	{kindReferences, regexp.MustCompile(`\b(who|what|which .{0,20}|where)\b.{0,30}\b(uses?|used|references?|referenced|depends? on|consumes?|relies on)\b|\b(usages?|references|users) (of|to)\b`), named},
	{kindImports, regexp.MustCompile(`\bimports?\b`), func(q question) bool { return len(q.paths) > 0 }},
	{kindConfigured, regexp.MustCompile(`\b(configur\w*|settings?|options?|environment variables?|env vars?|flags?|defaults?( value)?|tun(e|ed|able)|adjust\w*|enable[ds]?|disable[ds]?|turn(ed)? (on|off))\b|\bhow (do|can) (i|we|you) (set|change)\b|\bwhere (is|are) .{0,40}\bset\b`), nil},
	{kindOverview, regexp.MustCompile(`\boverview\b|\barchitecture\b|\bwhat (is|does) (this|the) (repo(sitory)?|project|codebase|code|package|library|module|program)( do| for| about)?\b|\b(structure|structured|organi[sz]ed|laid out|layout|main (parts|components|packages|modules))\b|\bwhat is in (this|the) (repo|repository|project)\b|\bsum(marise|marize| up)\b.*\b(repo|repository|project|code)`), func(q question) bool { return len(q.names) == 0 }},
	{kindWhere, regexp.MustCompile(`\b(where|which file|in what file|what file)\b|\bdefinition of\b|\b(find|locate|show|show me|open)\b`), nil},
	{kindFile, regexp.MustCompile(`.`), func(q question) bool { return len(q.paths) > 0 && len(q.names) == 0 }},
}

// ends are the ways to name both ends of a chain of calls.
var ends = []*regexp.Regexp{
	regexp.MustCompile("(?i)\\bfrom\\s+(?:the\\s+)?[`\"]?([\\w$.:*]+(?:\\(\\))?)[`\"]?\\s+(?:\\w+\\s+){0,3}?(?:to|into|reach(?:es)?)\\s+(?:the\\s+)?[`\"]?([\\w$.:*]+)"),
	regexp.MustCompile("(?i)\\bhow\\s+(?:does|do|can|is|will)\\s+(?:a\\s+|an\\s+|the\\s+)?[`\"]?([\\w$.:*]+(?:\\(\\))?)[`\"]?\\s+(?:\\w+\\s+){0,3}?(?:reach|call|invoke|get\\s+to|lead\\s+to|end\\s+up\\s+in|arrive\\s+at|come\\s+to\\s+call|connect(?:ed)?\\s+to|flow\\s+(?:to|into))\\s+(?:a\\s+|an\\s+|the\\s+)?[`\"]?([\\w$.:*]+)"),
	regexp.MustCompile("(?i)\\b(?:path|chain|connection|route)\\b.{0,30}?\\bbetween\\s+[`\"]?([\\w$.:*]+(?:\\(\\))?)[`\"]?\\s+and\\s+[`\"]?([\\w$.:*]+)"),
}

// pointing are words that name nothing by themselves.
var pointing = wordSet("a an the it its this that they them these those there here i we you he she one each all any what which who")

// operand is the word that a question about one symbol is about.
var operand = regexp.MustCompile(`(?i)\b(?:calls?|called by|callers? of|callees? of|uses?|usages? of|references? to|definition of|where (?:is|are)|does|do)\s+(?:(?:the|a|an|function|method|type|struct|class|interface)\s+)*([A-Za-z_$][\w$]*)`)

// operandOf gives the word that the question is about where all of its words are common
// ones: "who calls handle?"
func operandOf(text string) string {
	for _, m := range operand.FindAllStringSubmatch(text, -1) {
		if w := strings.ToLower(m[1]); !pointing[w] && w != "defined" && w != "work" && w != "works" {
			return m[1]
		}
	}
	return ""
}

// endsOf gives the two names of a chain of calls that a question asks for.
func endsOf(text string) (from, to string, ok bool) {
	for _, pattern := range ends {
		if m := pattern.FindStringSubmatch(text); m != nil {
			from, to = strip(m[1]), strip(m[2])
			if !pointing[strings.ToLower(from)] && !pointing[strings.ToLower(to)] && !versionTag.MatchString(from) {
				return from, to, true
			}
		}
	}
	return "", "", false
}

func hasEnds(q question) bool {
	_, _, ok := endsOf(q.text)
	return ok || len(q.names) >= 2
}

func named(q question) bool { return len(q.names) > 0 }

// kindOf tells what a question wants to know.
func kindOf(q question) kind {
	lower := strings.ToLower(strings.Join(strings.Fields(q.text), " "))
	for _, rule := range kindRules {
		if (rule.when == nil || rule.when(q)) && rule.pattern.MatchString(lower) {
			return rule.kind
		}
	}
	return kindHow
}
