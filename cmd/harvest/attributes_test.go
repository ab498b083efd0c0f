package main

import (
	"maps"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/harvest-engine/harvest/internal/embedded"
	"github.com/harvest-engine/harvest/internal/engine"
)

// What the embedded server registers is what the engine sets: neither may know of the other.
func TestSearchAttributesAreOneList(t *testing.T) {
	t.Parallel()
	registered := map[string]enumspb.IndexedValueType{}
	for _, name := range embedded.SearchKeywords {
		registered[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	for _, name := range embedded.SearchKeywordLists {
		registered[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST
	}
	if set := engine.SearchAttributes(); !maps.Equal(registered, set) {
		t.Errorf("the embedded server registers %v, the engine sets %v", registered, set)
	}
}
