package domain

import (
	"bytes"
	"encoding/json"
	"strings"
)

// CheckInput reports whether a tool call's input, valid JSON, means the same to everybody who
// reads it: to who is shown it, to the hash and to the tool. It is invalid where an object
// names a field twice, of which some readers take the first, some the last and some both; or
// where two fields of the input differ in case alone, which some readers take for one.
func CheckInput(input json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	return checkNames(dec, true)
}

// checkNames reads one value; folded says that case doesn't tell the names of its fields apart.
func checkNames(dec *json.Decoder, folded bool) error {
	token, err := dec.Token()
	if err != nil {
		return Invalid("input", "is not JSON")
	}
	switch token {
	case json.Delim('{'):
		return checkFields(dec, folded)
	case json.Delim('['):
		for dec.More() {
			if err := checkNames(dec, false); err != nil {
				return err
			}
		}
		_, err = dec.Token()
	}
	return err
}

func checkFields(dec *json.Decoder, folded bool) error {
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return Invalid("input", "is not JSON")
		}
		name, _ := token.(string) // in an object it is one
		key := name
		if folded {
			key = foldName(name)
		}
		if seen[key] {
			return Invalid("input", "names the field %q twice", Visible(name))
		}
		seen[key] = true
		if err := checkNames(dec, false); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// foldName gives names that encoding/json takes for the same field the same form: it folds as
// Unicode does, where ſ is an s and the sign of kelvin a k.
func foldName(name string) string { return strings.ToLower(strings.ToUpper(name)) }
