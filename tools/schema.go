package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// field is a property of a tool's input.
type field struct {
	name     string
	kind     string // JSON Schema type: string, integer, boolean, object, strings (an array of strings)
	about    string
	required bool
	enum     []string
}

// schema renders fields as a JSON Schema object, in their order.
func schema(fields ...field) json.RawMessage {
	var out bytes.Buffer
	out.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i, f := range fields {
		if i > 0 {
			out.WriteByte(',')
		}
		property := map[string]any{"type": f.kind, "description": f.about}
		if f.kind == "strings" {
			property["type"] = "array"
			property["items"] = map[string]string{"type": "string"}
		}
		if len(f.enum) > 0 {
			property["enum"] = f.enum
		}
		name, _ := json.Marshal(f.name)
		body, _ := json.Marshal(property)
		out.Write(name)
		out.WriteByte(':')
		out.Write(body)
		if f.required {
			required = append(required, f.name)
		}
	}
	out.WriteString(`}`)
	if len(required) > 0 {
		list, _ := json.Marshal(required)
		out.WriteString(`,"required":`)
		out.Write(list)
	}
	out.WriteString(`}`)
	return out.Bytes()
}

// Fields that many tools share.
var (
	repoField    = field{name: "repo", kind: "string", about: "Repository name as list_repositories gives it. May be left out where only one is in scope."}
	versionField = field{name: "version", kind: "string", about: "Version as list_repositories gives it. Left out: the newest one in scope."}
	fileField    = field{name: "file", kind: "string", about: "Path of the file inside the repository.", required: true}
)

func optional(f field) field { f.required = false; return f }

// jsonKind names the JSON value that t is read from.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return "a string"
}

// filePath is a path as repositories have it: models begin some with "./" or "/".
func filePath(path string) string {
	return strings.TrimLeft(strings.TrimPrefix(strings.TrimSpace(path), "./"), "/")
}

// decode reads a tool's input into T and checks that the fields tagged `need` are set.
// Fields that T doesn't know are ignored: models add some.
func decode[T any](input json.RawMessage) (T, error) {
	var in T
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	if err := json.Unmarshal(input, &in); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return in, domain.Invalid(wrong.Field, "must be %s, not a %s", jsonKind(wrong.Type), wrong.Value)
		}
		return in, domain.Invalid("input", "is not a JSON object")
	}
	v := reflect.ValueOf(in)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if _, need := f.Tag.Lookup("need"); need && v.Field(i).IsZero() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return in, domain.Invalid(name, "is required")
		}
	}
	return in, nil
}
