package domain_test

import (
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Ids sort as they are made, however many are made in one millisecond, and say when that was.
func TestIDsSortAsTheyAreMade(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	before := time.Now().UnixMilli()
	last := ""
	for range 20_000 {
		id := domain.NewID()
		if id <= last || !form.MatchString(id) {
			t.Fatalf("%s is made behind %s", id, last)
		}
		last = id
	}
	var made int64
	for _, c := range last[:8] + last[9:13] {
		digit := int64(c - '0')
		if c >= 'a' {
			digit = int64(c-'a') + 10
		}
		made = made<<4 | digit
	}
	if after := time.Now().UnixMilli(); made < before || made > after+100 {
		t.Errorf("the id says %d, made between %d and %d", made, before, after)
	}
}

// Ids that are made at once differ.
func TestIDsMadeAtOnceDiffer(t *testing.T) {
	t.Parallel()
	var all sync.Map
	var makers sync.WaitGroup
	for range 8 {
		makers.Go(func() {
			for range 2000 {
				if _, twice := all.LoadOrStore(domain.NewID(), true); twice {
					t.Error("an id was made twice")
				}
			}
		})
	}
	makers.Wait()
}
