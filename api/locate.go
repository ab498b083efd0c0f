package api

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
)

// misfit is a part of a body that is not what it must be. The parser names it badly or not at
// all where it is in an embedded struct, or its type reads itself.
type misfit struct {
	field   string // a path of JSON names, without places in lists
	element bool   // of a list, which field names
	err     error
}

// locate finds the first part of a document that does not fit a type; nil where it finds none.
func locate(doc []byte, t reflect.Type) *misfit {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	err := json.Unmarshal(doc, reflect.New(t).Interface())
	if err == nil {
		return nil
	}
	if !reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		if inner := locateInside(doc, t); inner != nil {
			return inner
		}
	}
	return &misfit{err: err}
}

// locateInside looks through the fields of an object, or the elements of a list.
func locateInside(doc []byte, t reflect.Type) *misfit {
	switch {
	case t.Kind() == reflect.Struct:
		var parts map[string]json.RawMessage
		if json.Unmarshal(doc, &parts) != nil {
			return nil
		}
		for _, field := range reflect.VisibleFields(t) {
			name := jsonField(field)
			part, given := parts[name]
			if name == "" || !given {
				continue
			}
			if found := locate(part, field.Type); found != nil {
				found.field = strings.TrimSuffix(name+"."+found.field, ".")
				return found
			}
		}
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		var parts []json.RawMessage
		if json.Unmarshal(doc, &parts) != nil {
			return nil
		}
		for _, part := range parts {
			if found := locate(part, t.Elem()); found != nil {
				found.element = found.element || found.field == ""
				return found
			}
		}
	}
	return nil
}

// jsonField is the name of a field in documents; "" where it has none, as an embedded struct.
func jsonField(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "-" || !field.IsExported() || name == "" && field.Anonymous {
		return ""
	}
	if name == "" {
		return field.Name
	}
	return name
}

// isBase64 reports whether a text is not the base64 that it must be.
func isBase64(err error) bool {
	var corrupt base64.CorruptInputError
	return errors.As(err, &corrupt)
}
