package api_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// checkTold holds what an answer tells against the document: each of its fields is documented,
// and each event of a stream is as its schema says.
func checkTold(t *testing.T, op *openapi3.Operation, resp *http.Response, text string) {
	t.Helper()
	answer := op.Responses.Status(resp.StatusCode)
	if answer == nil || answer.Value == nil {
		return // what is wrong with it is told elsewhere
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	media := answer.Value.Content.Get(kind)
	if media == nil || media.Schema == nil {
		return
	}
	switch kind {
	case "application/json":
		checkFields(t, op.OperationID, media.Schema.Value, []byte(text))
	case "text/event-stream":
		for line := range strings.Lines(text) {
			if data, is := strings.CutPrefix(line, "data: "); is {
				checkEvent(t, op.OperationID, []byte(data))
			}
		}
	}
}

// checkFields reports the fields of a value that its schema does not have.
func checkFields(t *testing.T, of string, schema *openapi3.Schema, text []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Errorf("%s answers what is no JSON: %v", of, err)
		return
	}
	for _, name := range untold(schema, value) {
		t.Errorf("%s tells of %s, which is not documented: %.300s", of, name, text)
	}
}

// untold gives the places of a value of which its schema does not tell.
func untold(schema *openapi3.Schema, value any) (places []string) {
	switch value := value.(type) {
	case map[string]any:
		for name, x := range value {
			told := fieldsOf(schema, name)
			if len(told) == 0 && !isOpen(schema) {
				places = append(places, name)
			}
			if len(told) == 1 {
				for _, place := range untold(told[0], x) {
					places = append(places, name+"."+place)
				}
			}
		}
	case []any:
		for _, x := range value {
			if schema.Items == nil {
				continue
			}
			for _, place := range untold(schema.Items.Value, x) {
				places = append(places, "[]."+place)
			}
		}
	}
	return places
}

// fieldsOf gives the schemas that a field may have.
func fieldsOf(schema *openapi3.Schema, name string) (fields []*openapi3.Schema) {
	if p := schema.Properties[name]; p != nil {
		return []*openapi3.Schema{p.Value}
	}
	for _, part := range slices.Concat(schema.AllOf, schema.OneOf, schema.AnyOf) {
		fields = append(fields, fieldsOf(part.Value, name)...)
	}
	return fields
}

// isOpen reports whether a schema says nothing of fields, or that there may be others.
func isOpen(schema *openapi3.Schema) bool {
	parts := slices.Concat(schema.AllOf, schema.OneOf, schema.AnyOf)
	if schema.AdditionalProperties.Has != nil && *schema.AdditionalProperties.Has || schema.AdditionalProperties.Schema != nil {
		return true
	}
	return len(schema.Properties) == 0 && len(parts) == 0 || slices.ContainsFunc(parts, func(part *openapi3.SchemaRef) bool { return isOpen(part.Value) })
}

// The schemas of the events that a route tells, where they are no events of turns and projects.
var eventsOf = map[string]string{"provisionAgent": "ProvisionEvent", "provisionEvents": "ProvisionEvent", "commandEvents": "CommandEvent"}

// checkEvent holds an event of a stream against the schema of its type. What agents are told is
// in another document.
func checkEvent(t *testing.T, operation string, data []byte) {
	t.Helper()
	if operation == "agentEvents" {
		return
	}
	doc, err := contract()
	if err != nil {
		t.Errorf("openapi.yaml: %v", err)
		return
	}
	var event map[string]any
	if err := json.Unmarshal(data, &event); err != nil {
		t.Errorf("%s tells what is no JSON: %s", operation, data)
		return
	}
	schema := doc.Components.Schemas[cmp.Or(eventsOf[operation], "Event")].Value
	if err := schema.VisitJSON(event); err != nil {
		t.Errorf("%s tells %s, which is not as documented: %v", operation, data, err)
		return
	}
	for _, ref := range schema.OneOf {
		if kind := ref.Value.Properties["type"]; kind != nil && slices.Contains(kind.Value.Enum, event["type"]) {
			for _, name := range untold(ref.Value, event) {
				t.Errorf("%s tells of %s, which is not documented: %s", operation, name, data)
			}
		}
	}
}
