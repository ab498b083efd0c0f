package offline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// place is where something stands, as citations name it.
type place struct {
	repo, version, file string
	line                int
}

// cite renders the place as a citation.
func (p place) cite() string {
	return fmt.Sprintf("[%s:%s:%s:%d]", p.repo, p.version, p.file, p.line)
}

// span renders a range of lines that begins at the place.
func (p place) span(end int) string {
	if end <= p.line {
		return p.cite()
	}
	return fmt.Sprintf("[%s:%s:%s:%d-%d]", p.repo, p.version, p.file, p.line, end)
}

// numbered is a line of source.
type numbered struct {
	n    int
	text string
}

// finding is one entry of a tool's result.
type finding struct {
	place
	end       int    // last line of a symbol or a range; 0 where it is one line
	kind      string // of a symbol: function, struct …; "" for all else
	name      string // of the symbol, qualified
	signature string
	doc       string
	relation  string // of an edge: "in", "calls", "uses from" …; name is then the other end
	how       string // of an edge: exact, scoped or name
	home      place  // of an edge: where the other end is defined
	text      string // of a text match: the line
	source    []numbered
	score     float64
}

var (
	citedLine  = regexp.MustCompile(`^\[([^\[\]:\s]+):([^\[\]:\s]+):(` + domain.CitedPath + `):(\d+)\] ?(.*)$`)
	symbolLine = regexp.MustCompile(`^([a-z]+) (\S.*) \(lines (\d+)-(\d+)\)$`)
	edgeLine   = regexp.MustCompile(`^([a-z]+ from|in|calls) (.+) \((exact|scoped|name), defined at (.+):(\d+)\)$`)
	rangeLine  = regexp.MustCompile(`^lines (\d+) to (\d+) of \d+$`)
	sourceLine = regexp.MustCompile(`^ *(\d+)  (.*)$`)
)

// parseFindings reads the text of a tool's result.
func parseFindings(text string) []finding {
	var found []finding
	var before []numbered // lines of context that belong to the next match
	for _, line := range strings.Split(text, "\n") {
		if m := citedLine.FindStringSubmatch(line); m != nil {
			f := parseCited(m)
			if f.text != "" {
				f.source = append(contextBefore(before, f.line), numbered{f.line, f.text})
				f.text = strings.TrimSpace(f.text) // alone it needs no place among its neighbours
			}
			before = nil
			found = append(found, f)
			continue
		}
		if len(found) == 0 {
			before = appendSource(before, line)
			continue
		}
		if last := &found[len(found)-1]; !last.take(line) {
			before = appendSource(before, line)
		}
	}
	return found
}

// parseCited reads an entry's first line, which begins with its citation.
func parseCited(m []string) finding {
	line, _ := strconv.Atoi(m[4])
	f := finding{place: place{m[1], m[2], m[3], line}}
	rest := m[5]
	if s := symbolLine.FindStringSubmatch(rest); s != nil {
		f.kind, f.name = s[1], s[2]
		f.end, _ = strconv.Atoi(s[4])
		return f
	}
	if e := edgeLine.FindStringSubmatch(rest); e != nil {
		f.relation, f.name, f.how = e[1], e[2], e[3]
		f.home = place{f.repo, f.version, e[4], 0}
		f.home.line, _ = strconv.Atoi(e[5])
		return f
	}
	if r := rangeLine.FindStringSubmatch(rest); r != nil {
		f.end, _ = strconv.Atoi(r[2])
		return f
	}
	f.text = rest
	return f
}

// take adds a line that follows an entry to it; false says that it belongs elsewhere.
func (f *finding) take(line string) bool {
	if f.text != "" { // a text match takes the lines that directly follow it
		m := sourceLine.FindStringSubmatch(line)
		if m == nil {
			return strings.TrimSpace(line) == ""
		}
		n, _ := strconv.Atoi(m[1])
		if n != f.source[len(f.source)-1].n+1 {
			return false
		}
		f.source = append(f.source, numbered{n, m[2]})
		return true
	}
	if body, ok := strings.CutPrefix(line, "    "); ok && len(f.source) == 0 && !f.isSource(line) {
		if doc, ok := strings.CutPrefix(body, "// "); ok {
			f.doc = doc
		} else if f.signature == "" {
			f.signature = body
		}
		return true
	}
	if f.isSource(line) {
		m := sourceLine.FindStringSubmatch(line)
		n, _ := strconv.Atoi(m[1])
		f.source = append(f.source, numbered{n, m[2]})
	}
	return true
}

// isSource reports whether a line is the next line of the entry's source.
func (f *finding) isSource(line string) bool {
	m := sourceLine.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	n, _ := strconv.Atoi(m[1])
	return n == f.line+len(f.source)
}

func appendSource(lines []numbered, line string) []numbered {
	m := sourceLine.FindStringSubmatch(line)
	if m == nil {
		return lines
	}
	n, _ := strconv.Atoi(m[1])
	return append(lines, numbered{n, m[2]})
}

// contextBefore gives those of lines that directly precede line.
func contextBefore(lines []numbered, line int) []numbered {
	start := len(lines)
	for start > 0 && lines[start-1].n == line-(len(lines)-start)-1 {
		start--
	}
	return append([]numbered(nil), lines[start:]...)
}

// repo is a repository with its versions, the newest first.
type repo struct {
	name     string
	versions []string
}

var versionLine = regexp.MustCompile(`^  (\S+?)(?: at [0-9a-f]+)?, `)

// parseRepos reads the text of list_repositories.
func parseRepos(text string) []repo {
	var repos []repo
	for _, line := range strings.Split(text, "\n") {
		if m := versionLine.FindStringSubmatch(line); m != nil && len(repos) > 0 {
			last := &repos[len(repos)-1]
			last.versions = append(last.versions, m[1])
		} else if name, _, _ := strings.Cut(line, " — "); name != "" && !strings.Contains(name, " ") {
			repos = append(repos, repo{name: name})
		}
	}
	return repos
}
