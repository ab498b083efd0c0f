package main

import "testing"

// Memory is given back once after work, not while it lasts and not again and again.
func TestMemoryIsGivenBackAtRest(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	steps := []struct {
		name      string
		allocated uint64 // since the look before
		resident  int64
		gives     bool
	}{
		{"first look", 50 * mb, 90 * mb, false},
		{"at rest after the start", 0, 90 * mb, true},
		{"still at rest", 1 * mb, 44 * mb, false},
		{"at work", 80 * mb, 200 * mb, false},
		{"at rest after work", 1 * mb, 200 * mb, true},
		{"no more to gain", 1 * mb, 44 * mb, false},
	}
	var watched tidy
	var allocated uint64
	for _, step := range steps {
		allocated += step.allocated
		resident, gave := step.resident, false
		watched.look(allocated, func() int64 { return resident }, func() { gave, resident = true, 40*mb })
		if gave != step.gives {
			t.Errorf("%s: gave memory back: %v, want %v", step.name, gave, step.gives)
		}
	}
}
