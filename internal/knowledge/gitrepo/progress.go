package gitrepo

import (
	"bytes"
	"regexp"
	"strconv"
)

// Progress says how far a fetch is.
type Progress struct {
	Objects, Total int   // objects received, and in all; 0 where not told yet
	Bytes          int64 // received
}

// meter reads git's progress from its standard error, and keeps the rest for error messages.
type meter struct {
	tail
	report func(Progress)
	line   []byte
	last   Progress
}

// longestLine bounds a progress line: what is longer is none.
const longestLine = 1024

func (m *meter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		end := bytes.IndexAny(rest, "\r\n")
		if end < 0 {
			m.line = append(m.line, rest[:min(len(rest), longestLine)]...)
			break
		}
		m.line = append(m.line, rest[:end]...)
		m.end()
		rest = rest[end+1:]
	}
	if len(m.line) > longestLine {
		m.end()
	}
	return len(p), nil
}

// end handles a whole line.
func (m *meter) end() {
	line := string(m.line)
	m.line = m.line[:0]
	got, ok := parseProgress(line)
	if !ok {
		_, _ = m.tail.Write([]byte(line + "\n"))
		return
	}
	if m.report != nil && got != m.last {
		m.last = got
		m.report(got)
	}
}

func (m *meter) String() string { return m.tail.String() + string(m.line) }

var (
	receiving   = regexp.MustCompile(`^(?:remote: )?(?:Receiving|Unpacking) objects:\s+\d+% \((\d+)/(\d+)\)(?:, ([\d.]+) (bytes|KiB|MiB|GiB))?`)
	otherSteps  = regexp.MustCompile(`^(?:remote: )?(?:Enumerating|Counting|Compressing|Resolving|Updating|Checking) [a-z ]+:`)
	progressIEC = map[string]float64{"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
)

// parseProgress reads a line of progress; ok also for steps that carry nothing we report.
func parseProgress(line string) (p Progress, ok bool) {
	f := receiving.FindStringSubmatch(line)
	if f == nil {
		return Progress{}, otherSteps.MatchString(line)
	}
	p.Objects, _ = strconv.Atoi(f[1])
	p.Total, _ = strconv.Atoi(f[2])
	if size, err := strconv.ParseFloat(f[3], 64); err == nil {
		p.Bytes = int64(size * progressIEC[f[4]])
	}
	return p, true
}
