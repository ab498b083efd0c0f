package library

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/harvest-engine/harvest/internal/domain"
)

// maxDiffLines bounds what is compared: the time grows faster than the lines do.
const maxDiffLines = 20_000

// unified gives the unified difference of two versions of a text; "" where they are equal.
func unified(name, a, b string, from, to int) (string, error) {
	if a == b {
		return "", nil
	}
	before, after := lines(a), lines(b)
	if len(before)+len(after) > maxDiffLines {
		return "", domain.Errorf(domain.CodeUnprocessable, "%s is too long to be compared: the versions have more than %d lines together", name, maxDiffLines)
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: before, B: after, Context: 3,
		FromFile: name, FromDate: fmt.Sprint("version ", from), ToFile: name, ToDate: fmt.Sprint("version ", to),
	})
	if err != nil {
		return "", fmt.Errorf("compare %s: %w", name, err)
	}
	return text, nil
}

// unifiedBundle compares two bundles file by file. What is not a bundle any more can't be
// compared so, and is compared as a text.
func unifiedBundle(a, b string, from, to int) (string, error) {
	before, errBefore := domain.ParseBundle(a)
	after, errAfter := domain.ParseBundle(b)
	if errBefore != nil || errAfter != nil {
		return unified("bundle.json", a, b, from, to)
	}
	paths := maps.Clone(before)
	maps.Copy(paths, after)
	var out strings.Builder
	total := 0
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if before[path] == after[path] && has(before, path) == has(after, path) {
			continue
		}
		if total += len(lines(before[path])) + len(lines(after[path])); total > maxDiffLines {
			return "", domain.Errorf(domain.CodeUnprocessable, "too much has changed to be compared: more than %d lines", maxDiffLines)
		}
		diff, err := unified(path, before[path], after[path], from, to)
		if err != nil {
			return "", err
		}
		if diff == "" { // an empty file came or went
			diff = fmt.Sprintf("--- %s\tversion %d\n+++ %s\tversion %d\n", path, from, path, to)
		}
		out.WriteString(diff)
	}
	return out.String(), nil
}

func has(b domain.Bundle, path string) bool { _, is := b[path]; return is }

// lines splits a text into lines that each end with a line feed.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return difflib.SplitLines(strings.TrimSuffix(text, "\n"))
}
