package domain

import (
	"regexp"
	"strconv"
	"strings"
)

// Citation is a claim's evidence as a model wrote it: [repo:version:file:line] or
// [repo:version:file:line-line].
type Citation struct {
	Repo    string
	Version string
	File    string
	Line    int // from 1
	EndLine int // Line where no range was given
}

// CitedPath is the part of a regular expression that matches a file inside of a citation:
// anything but line breaks, with brackets in pairs, as in app/[[...slug]]/page.tsx.
const CitedPath = `(?:[^\[\]\n]|\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\])+?`

// Repositories and versions may hold "/" and "@" but no ":" or brackets.
var citationPattern = regexp.MustCompile(`\[([^\[\]:\s]+):([^\[\]:\s]+):(` + CitedPath + `):L?(\d{1,9})(?:[-–]L?(\d{1,9}))?\]`)

// lineInPath is what several places in one pair of brackets, or a column behind the line,
// leave in the part that should be a file.
var lineInPath = regexp.MustCompile(`:L?\d+(?:[-–]L?\d+)?(?:[,; ]|$)`)

// ParseCitations finds the citations of text in their order, each once.
func ParseCitations(text string) []Citation {
	var found []Citation
	seen := map[Citation]bool{}
	for _, m := range citationPattern.FindAllStringSubmatch(text, -1) {
		line, _ := strconv.Atoi(m[4])
		end := line
		if m[5] != "" {
			end, _ = strconv.Atoi(m[5])
		}
		c := Citation{Repo: m[1], Version: m[2], File: strings.TrimSpace(m[3]), Line: line, EndLine: max(line, end)}
		if line < 1 || c.File == "" || lineInPath.MatchString(c.File) || seen[c] {
			continue
		}
		seen[c] = true
		found = append(found, c)
	}
	return found
}
