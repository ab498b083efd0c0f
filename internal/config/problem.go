package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one fault of a configuration file.
type Problem struct {
	File string
	Line int    // from 1; 0 where the fault is not in the file
	Key  string // "llm[0].model"; "" for a fault of the file as a whole
	Text string
}

// Error renders file, line, key and fault on one line.
func (p Problem) Error() string {
	text := p.File
	if p.Line > 0 {
		text += fmt.Sprintf(":%d", p.Line)
	}
	if p.Key != "" {
		text += ": " + p.Key
	}
	return text + ": " + p.Text
}

// Problems are all faults of a file, in the order of their lines.
type Problems []Problem

// Error renders one fault a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Key, b.Key))
	})
	return ps
}

// Notice is a remark on the configuration that stops nothing.
type Notice struct {
	File string
	Line int
	Key  string
	Text string
}

// String renders file, line, key and remark on one line.
func (n Notice) String() string { return Problem(n).Error() }
