package domain

import (
	"context"
	"fmt"
)

// Scrubber takes a project's secret values out of texts, in every form in which they are
// known to appear, and puts "[secret NAME]" in their place.
type Scrubber interface {
	// Scrub takes all values out: for results, logs, errors and titles.
	Scrub(text string) string
	// ForModel leaves the values that models may see, of secrets that are revealable.
	ForModel(text string) string
	// Held gives how many bytes at the end of a text that goes on may be the beginning of a
	// value. What is before them can be scrubbed by itself.
	Held(text string) int
	// Half gives how many bytes at the beginning of a text may be the end of a value whose
	// beginning is missing.
	Half(text string) int
}

// Scrubbers finds what takes the values of a project's secrets out of texts.
type Scrubbers interface {
	// Scrubber gives one that takes nothing out for a project without secrets.
	Scrubber(ctx context.Context, projectID string) (Scrubber, error)
}

// ScrubOf gives what takes all values of a project's secrets out of texts: nothing where nobody
// keeps secrets (from is nil), or for no project ("").
func ScrubOf(ctx context.Context, from Scrubbers, projectID string) (func(text string) string, error) {
	if from == nil || projectID == "" {
		return func(text string) string { return text }, nil
	}
	s, err := from.Scrubber(ctx, projectID)
	if err != nil {
		return nil, fmt.Errorf("load what is scrubbed: %w", err)
	}
	return s.Scrub, nil
}
