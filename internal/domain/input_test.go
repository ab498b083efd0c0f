package domain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestCheckInput(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{}`: "",
		`{"id":"a","files":{"main.tf":"x","Main.tf":"y"},"list":[{"a":1},{"a":2}]}`: "",
		`{"id":"a","id":"b"}`:                  `"id" twice`,
		`{"id":"a","\u0069d":"b"}`:             `"id" twice`,
		`{"id":"a","ID":"b"}`:                  `"ID" twice`,
		"{\"key\":1,\"\u212aey\":2}":           "twice",
		"{\"names\":1,\"name\u017f\":2}":       "twice",
		`{"files":{"a":"1"},"files":{"b":""}}`: `"files" twice`,
		`{"files":{"a":"1","a":"2"}}`:          `"a" twice`,
		`{"list":[[{"a":1,"a":2}]]}`:           `"a" twice`,
		`{"a`:                                  "not JSON",
	} {
		err := domain.CheckInput(json.RawMessage(input))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", input, err, want)
		}
	}
}
