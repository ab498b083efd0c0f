package tools

import "encoding/json"

// Known gives a call's input with the fields alone that the tool takes, by their exact names:
// what a person is shown before a run must be what the run goes by. The input of a tool that
// names no fields stays as it is.
func (s Spec) Known(input json.RawMessage) json.RawMessage {
	var takes struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(s.InputSchema, &takes) != nil || len(takes.Properties) == 0 || json.Unmarshal(input, &fields) != nil {
		return input
	}
	all := len(fields)
	for name := range fields {
		if _, known := takes.Properties[name]; !known {
			delete(fields, name)
		}
	}
	if len(fields) == all {
		return input
	}
	kept, err := json.Marshal(fields)
	if err != nil { // it was read from JSON
		return input
	}
	return kept
}
