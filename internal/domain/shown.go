package domain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	// maxShownInput is how much of a call's input, in bytes, readers of a turn's events get.
	maxShownInput = 16 << 10
	// longestShown is what is left of a long text in it, in bytes, where that is enough.
	longestShown  = 2 << 10
	shortestShown = 32
)

// ShownInput gives the input of a call as readers of events get it: whole where it is short,
// else with its long texts cut, each of which says so and how long it is. cut is true then.
func ShownInput(input json.RawMessage) (shown json.RawMessage, cut bool) {
	if len(input) <= maxShownInput {
		return input, false
	}
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.UseNumber() // numbers stay as they are written
	var value any
	if err := decoder.Decode(&value); err == nil {
		for most := longestShown; most >= shortestShown; most /= 2 {
			if shown := encodeShown(shortened(value, most)); len(shown) <= maxShownInput {
				return shown, true
			}
		}
	}
	return encodeShown(map[string]string{"cut": fmt.Sprintf("this input has %d bytes, in too many parts to be shown", len(input))}), true
}

// shortened copies a decoded JSON value with texts of at most so many bytes, and what says
// that they were cut.
func shortened(value any, most int) any {
	switch v := value.(type) {
	case string:
		if len(v) <= most {
			return v
		}
		return strings.ToValidUTF8(v[:most], "") + fmt.Sprintf("… [cut: %d bytes in all]", len(v))
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = shortened(v[i], most)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key := range v {
			object[key] = shortened(v[key], most)
		}
		return object
	}
	return value
}

func encodeShown(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(fmt.Sprintf("encode what was JSON: %v", err))
	}
	return bytes.TrimSpace(out.Bytes())
}
