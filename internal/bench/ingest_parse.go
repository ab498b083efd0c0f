package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	grammargo "github.com/tree-sitter/tree-sitter-go/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/knowledge/lang"
	"github.com/harvest-engine/harvest/internal/knowledge/lang/syntax"
)

// parseChunk is how many files are read by one way before it is the other's turn.
const parseChunk = 50

// parsing is what it takes to parse files, and to extract their facts as well.
type parsing struct {
	megabytes             float64
	bareTime, extractTime time.Duration // CPU
}

// bare and extract are in megabytes a CPU second.
func (p parsing) bare() float64    { return p.megabytes / p.bareTime.Seconds() }
func (p parsing) extract() float64 { return p.megabytes / p.extractTime.Seconds() }

// goFiles gives the paths of those Go files of a version that were parsed.
func goFiles(files []graph.VersionFile) []string {
	var paths []string
	for _, f := range files {
		if f.Language == "go" && f.Skipped == "" {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// source is a file in memory.
type source struct {
	path string
	text []byte
}

// compareParsing parses files and extracts their facts in turns, chunk by chunk, each way
// first every other time. The first chunk is read once before: it pays for warming up.
func compareParsing(ctx context.Context, dir string, paths []string) (p parsing, err error) {
	language := syntax.NewLanguage(grammargo.Language())
	ways := []way{
		{&p.bareTime, func(s source) error { return language.Bare(ctx, s.text) }},
		{&p.extractTime, func(s source) error { _, err := lang.Extract(ctx, s.path, s.text); return err }},
	}
	for i, chunk := range slices.Collect(slices.Chunk(paths, parseChunk)) {
		sources, err := readSources(dir, chunk)
		if err != nil {
			return p, err
		}
		if i == 0 {
			for _, w := range ways {
				if _, err := w.timed(sources); err != nil {
					return p, err
				}
			}
		}
		for _, s := range sources {
			p.megabytes += float64(len(s.text)) / 1e6
		}
		for _, w := range ways {
			took, err := w.timed(sources)
			if err != nil {
				return p, err
			}
			*w.sum += took
		}
		slices.Reverse(ways)
	}
	if p.bareTime <= 0 || p.extractTime <= 0 {
		return p, fmt.Errorf("%d files are too few to measure", len(paths))
	}
	return p, nil
}

// way is a way to read files, and the CPU time that it took so far.
type way struct {
	sum *time.Duration
	do  func(source) error
}

// timed reads sources. A text that takes the parser too much work ends both ways alike.
func (w way) timed(sources []source) (time.Duration, error) {
	return meter{}.measure(func() error {
		for _, s := range sources {
			if err := w.do(s); err != nil && domain.CodeOf(err) != domain.CodeUnprocessable {
				return fmt.Errorf("read %s: %w", s.path, err)
			}
		}
		return nil
	})
}

func readSources(dir string, paths []string) ([]source, error) {
	sources := make([]source, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return nil, err
		}
		sources[i] = source{path, text}
	}
	return sources, nil
}
