package secrets

import (
	"maps"
	"slices"

	"github.com/harvest-engine/harvest/internal/domain"
)

// NewScrubber gives what takes values out, by their names.
func NewScrubber(values map[string]string) domain.Scrubber {
	var list []form
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, text := range forms(values[name]) {
			list = append(list, form{text, name})
		}
	}
	x := newIndex(list)
	return scrubber{all: x, hidden: x}
}
