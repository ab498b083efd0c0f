package domain_test

import (
	"encoding/json"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Sums of prices are told as a person would write them.
func TestCostsAreTold(t *testing.T) {
	t.Parallel()
	var total domain.Usage
	for range 3 {
		total = total.Add(domain.Usage{Cost: 0.00091})
	}
	text, err := json.Marshal(total.Rounded())
	if err != nil || string(text) != `{"input_tokens":0,"output_tokens":0,"cost":0.00273}` {
		t.Errorf("%s, %v", text, err)
	}
	if tiny := (domain.Usage{Cost: 3e-9}).Rounded(); tiny.Cost != 3e-9 {
		t.Errorf("a tiny cost became %g", tiny.Cost)
	}
}
