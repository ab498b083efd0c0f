package activities

import (
	"context"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// maxCitations bounds the citations of one answer that are looked up; those beyond stay
// unverified.
const maxCitations = 200

// The notes of an answer whose claims about code nothing supports.
const (
	noteUncited    = "\n\n*No evidence: this answer cites no source in the code that was read.*"
	noteUnverified = "\n\n*No evidence: none of the cited places could be found in the code that was read.*"
)

// CodeSources holds the texts that citations point into.
type CodeSources interface {
	Version(ctx context.Context, repo, tag string) (domain.VersionDetail, error)
	ReadFile(ctx context.Context, at graph.FileRef, from, to int) (text string, lines int, err error)
}

// CodeSymbols knows the symbols of a file.
type CodeSymbols interface {
	FileSymbols(ctx context.Context, at graph.FileRef) ([]graph.Hit, error)
}

// checker resolves citations; a file that is cited twice is read once.
type checker struct {
	sources  CodeSources
	symbols  CodeSymbols
	scope    domain.Scope
	versions map[graph.FileRef]*domain.VersionDetail // by repository and version, Path ""
	files    map[graph.FileRef]*citedFile
}

type citedFile struct {
	lines   int
	symbols []graph.Hit
}

// check gives the sources of text, in their order. What can't be found, or is outside the
// scope, is unverified; the error is that the graph could not be asked.
func (c *checker) check(ctx context.Context, text string) ([]domain.Source, error) {
	sources := []domain.Source{}
	for i, cited := range domain.ParseCitations(text) {
		s := domain.Source{Repo: cited.Repo, Version: cited.Version, File: cited.File, Line: cited.Line}
		if cited.EndLine > cited.Line {
			s.EndLine = cited.EndLine
		}
		if i < maxCitations && c.scope.AllowsRepository(s.Repo) && c.scope.AllowsVersion(s.Version) {
			if err := c.resolve(ctx, &s, cited.EndLine); err != nil {
				return nil, fmt.Errorf("check the citation of %s: %w", s.File, err)
			}
		}
		sources = append(sources, s)
	}
	return sources, nil
}

func (c *checker) resolve(ctx context.Context, s *domain.Source, end int) error {
	version, err := c.version(ctx, s.Repo, s.Version)
	if err != nil || version == nil {
		return err
	}
	s.Commit, s.Stale = version.Commit, version.Stale
	file, err := c.file(ctx, graph.FileRef{Repo: s.Repo, Version: s.Version, Path: s.File})
	if err != nil || file == nil || end > file.lines {
		return err
	}
	s.Verified = true
	s.Symbol = innermost(file.symbols, s.Line)
	return nil
}

// version gives a version, or nil where there is none.
func (c *checker) version(ctx context.Context, repo, tag string) (*domain.VersionDetail, error) {
	key := graph.FileRef{Repo: repo, Version: tag}
	if known, ok := c.versions[key]; ok {
		return known, nil
	}
	detail, err := c.sources.Version(ctx, repo, tag)
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound:
		c.versions[key] = nil
	case err != nil:
		return nil, err
	default:
		c.versions[key] = &detail
	}
	return c.versions[key], nil
}

// file gives a file, or nil where there is none. Symbols that can't be had don't make a
// citation wrong.
func (c *checker) file(ctx context.Context, at graph.FileRef) (*citedFile, error) {
	if known, ok := c.files[at]; ok {
		return known, nil
	}
	_, lines, err := c.sources.ReadFile(ctx, at, 1, 1)
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound || domain.CodeOf(err) == domain.CodeInvalid || domain.CodeOf(err) == domain.CodeUnprocessable:
		c.files[at] = nil
		return nil, nil
	case err != nil:
		return nil, err
	}
	file := &citedFile{lines: lines}
	if file.symbols, err = c.symbols.FileSymbols(ctx, at); err != nil && ctx.Err() != nil {
		return nil, err
	}
	c.files[at] = file
	return file, nil
}

// innermost names the smallest symbol around a line; "" where there is none.
func innermost(symbols []graph.Hit, line int) string {
	name, size := "", 0
	for _, h := range symbols {
		if h.StartLine > line || line > h.EndLine {
			continue
		}
		if span := h.EndLine - h.StartLine + 1; name == "" || span < size {
			name, size = h.QualifiedName(), span
		}
	}
	return name
}

// evidence gives the note that an answer needs about its sources; "" for none.
func evidence(sources []domain.Source) string {
	if len(sources) == 0 {
		return noteUncited
	}
	for _, s := range sources {
		if s.Verified {
			return ""
		}
	}
	return noteUnverified
}
