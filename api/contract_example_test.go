package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// What is told of machines, and why something is refused, is shown by an example; that each fits its schema
// the document's own check says.
func TestMachinesHaveExamples(t *testing.T) {
	t.Parallel()
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			if !slices.Contains(op.Tags, "machines") {
				continue
			}
			if op.RequestBody != nil && !shows(op.RequestBody.Value.Content) {
				t.Errorf("%s %s: the body has no example", method, path)
			}
			for status, answer := range op.Responses.Map() {
				if answer.Value != nil && !shows(answer.Value.Content) {
					t.Errorf("%s %s: the answer %s has no example", method, path, status)
				}
			}
		}
	}
}

// shows reports whether all that is JSON has an example.
func shows(content openapi3.Content) bool {
	for kind, media := range content {
		if strings.HasPrefix(kind, "application/json") && media.Example == nil && len(media.Examples) == 0 && !exemplary(media.Schema) {
			return false
		}
	}
	return true
}

// exemplary reports whether a schema has an example, or each is shown by that of a part.
func exemplary(ref *openapi3.SchemaRef) bool {
	if ref == nil || ref.Value == nil {
		return false
	}
	schema := ref.Value
	if schema.Example != nil || exemplary(schema.Items) || slices.ContainsFunc(schema.AllOf, exemplary) {
		return true
	}
	for _, property := range schema.Properties {
		if exemplary(property.Value.Items) {
			return true
		}
	}
	return false
}
