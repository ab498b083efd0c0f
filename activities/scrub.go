package activities

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/harvest-engine/harvest/internal/domain"
)

// scrub takes values out of a text.
type scrub func(text string) string

// withheld stands for a file whose bytes hold a value and can't be mended.
const withheld = "[the attached file %s is withheld: it holds a secret]"

// textAlone stands for a document that holds a value: a model that opened it would read it.
const textAlone = "\n\nAttached file %s, its text without the secrets in it:\n\n%s"

// scrubMessage gives m without values.
func scrubMessage(scrub scrub, m domain.Message) domain.Message {
	blocks := make([]domain.Block, len(m.Blocks))
	for i, b := range m.Blocks {
		blocks[i] = scrubBlock(scrub, b)
	}
	return domain.Message{Role: m.Role, Blocks: blocks}
}

func scrubBlock(scrub scrub, b domain.Block) domain.Block {
	text := scrub(b.Text)
	if text != b.Text && b.Type == domain.BlockThinking || scrub(b.Signature) != b.Signature {
		b.Signature, b.SignedBy = "", "" // a proof of what the block no longer says
	}
	b.Text, b.Tool, b.CallID, b.Name = text, scrub(b.Tool), scrub(b.CallID), scrub(b.Name)
	if len(b.Input) > 0 {
		b.Input = scrubJSON(scrub, b.Input)
	}
	if b.Document != nil {
		if text := scrub(b.Document.Text); text != b.Document.Text { // the file itself can't be scrubbed
			return domain.Block{Type: domain.BlockText, Text: fmt.Sprintf(textAlone, b.Name, text)}
		}
	}
	if b.Type != domain.BlockMedia || len(b.Data) == 0 {
		return b
	}
	data := scrub(string(b.Data))
	switch {
	case data == string(b.Data):
	case isText(b):
		b.Data = []byte(data)
	default:
		return domain.Block{Type: domain.BlockText, Text: fmt.Sprintf(withheld, b.Name)}
	}
	return b
}

// scrubJSON gives JSON without values: it looks into every text, number and name, however they
// are escaped. What is no JSON is taken as text.
func scrubJSON(scrub scrub, raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil {
		return json.RawMessage(scrub(string(raw)))
	}
	value, changed := scrubValue(scrub, value)
	if !changed {
		return raw
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) != nil { // it was read from JSON
		return json.RawMessage(`{}`)
	}
	return bytes.TrimSpace(out.Bytes())
}

// scrubValue scrubs decoded JSON in place, and reports whether it changed.
func scrubValue(scrub scrub, value any) (any, bool) {
	changed := false
	switch v := value.(type) {
	case string:
		text := scrub(v)
		return text, text != v
	case json.Number:
		text := scrub(v.String())
		return text, text != v.String()
	case []any:
		for i := range v {
			item, did := scrubValue(scrub, v[i])
			v[i], changed = item, changed || did
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			item, did := scrubValue(scrub, v[name])
			if clean := scrub(name); clean != name {
				delete(v, name)
				name, did = clean, true
			}
			v[name], changed = item, changed || did
		}
	}
	return value, changed
}

// scrubError gives err as it is where it holds no value, or else one that says the same
// without: its causes can't be kept, since they may be printed.
func scrubError(scrub scrub, err error) error {
	if err == nil || scrub(err.Error()) == err.Error() {
		return err
	}
	clean := domain.Error{Code: domain.CodeOf(err), Message: scrub(err.Error())}
	var known *domain.Error
	if errors.As(err, &known) {
		clean = domain.Error{Code: known.Code, Message: scrub(known.Message), Field: scrub(known.Field), Holder: known.Holder, Actions: known.Actions, Wait: known.Wait}
		if known.Err != nil {
			clean.Err = errors.New(scrub(known.Err.Error()))
		}
	}
	return &clean
}
