package activities

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
)

// What stands in the stored input of a call for what the model wrote.
const (
	sealedValue   = "sealed"
	withheldInput = "withheld"
)

// secretFields are the fields of the calls about secrets. Nothing else of their input is kept:
// a model that puts a value where none belongs must not have it stored.
var secretFields = map[string][]string{
	tools.SaveSecretName:  {"name", "value", "generate"},
	tools.GetSecretName:   {"name"},
	tools.ListSecretsName: {},
}

// speaksOfSecrets is in the names of tools that models think up for keeping a value.
var speaksOfSecrets = regexp.MustCompile(`(?i)secret|password|passwd|credential|api_?key|token`)

// given is what a model gave to a call about secrets.
type given struct {
	input json.RawMessage    // what is kept of the call's input
	value domain.SecretValue // to be sealed; empty for none
	loose []string           // texts that were taken out: nothing else of the answer may repeat them
	fault string             // why the call is not run; "" where it may be
}

// withhold takes everything out of a call's input that is or may be a value. Calls of other
// tools are left alone: ok is false.
func withhold(call domain.Block, known bool) (g given, ok bool) {
	fields, about := secretFields[call.Tool]
	if !about && (known || !speaksOfSecrets.MatchString(call.Tool)) {
		return given{}, false
	}
	if domain.IsMalformedInput(call.Input) {
		return given{input: object(map[string]any{domain.MalformedInput: withheldInput}), loose: quoted(call.Input)}, true
	}
	if err := domain.CheckInput(call.Input); err != nil {
		return given{input: object(nil), loose: texts(call.Input), fault: domain.PublicMessage(err)}, true
	}
	g.sort(call.Input, fields)
	return g, true
}

// sort keeps the fields that a call has, and takes out all else.
func (g *given) sort(input json.RawMessage, fields []string) {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(input, &all) // it is an object
	kept := map[string]any{}
	for name, raw := range all {
		at := slices.IndexFunc(fields, func(field string) bool { return strings.EqualFold(field, name) })
		if at < 0 || !g.keep(kept, fields[at], raw) {
			g.loose = append(append(g.loose, texts(raw)...), name)
			g.fault = fmt.Sprintf("this call takes %s, each as it is described; what else was given has been withheld, since it may be a secret", listed(fields))
		}
	}
	if g.fault == "" && !g.value.Empty() {
		if err := g.value.Check(); err != nil {
			g.fault = "value " + domain.PublicMessage(err)
		}
	}
	if g.fault != "" {
		g.value = domain.SecretValue{}
	}
	g.input = object(kept)
}

// keep takes a field of a call, unless it is not of its kind.
func (g *given) keep(kept map[string]any, field string, raw json.RawMessage) bool {
	var value any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&value) != nil {
		return false
	}
	switch v := value.(type) {
	case bool:
		if field == "generate" {
			kept[field] = v
			return true
		}
	case json.Number:
		if field == "value" {
			return g.take(kept, v.String())
		}
	case string:
		switch {
		case field == "value":
			return g.take(kept, v)
		case field == "name":
			if _, err := domain.SecretName(v); err == nil {
				kept[field] = v
				return true
			}
		}
	}
	return false
}

// take keeps a value for its sealing; an empty one is none, and a handle is no value.
func (g *given) take(kept map[string]any, value string) bool {
	if domain.HoldsHandle(value) {
		return false
	}
	if value != "" {
		kept["value"] = sealedValue
		g.value, g.loose = domain.NewSecretValue(value), append(g.loose, value)
	}
	return true
}

func listed(fields []string) string {
	if len(fields) == 0 {
		return "no fields"
	}
	return "the fields " + strings.Join(fields, ", ")
}

func object(fields map[string]any) json.RawMessage {
	if fields == nil {
		return json.RawMessage(`{}`)
	}
	text, err := json.Marshal(fields)
	if err != nil { // plain values always marshal
		return json.RawMessage(`{}`)
	}
	return text
}

// texts gives every text, number and name in JSON.
func texts(raw json.RawMessage) (list []string) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err == io.EOF || err != nil {
			return list
		}
		switch v := token.(type) {
		case string:
			list = append(list, v)
		case json.Number:
			list = append(list, v.String())
		}
	}
}

var quotedText = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"?`)

// quoted gives the quoted texts of what was to be JSON, as they are written and as they read.
func quoted(input json.RawMessage) (list []string) {
	for _, text := range texts(input) {
		for _, m := range quotedText.FindAllStringSubmatch(text, -1) {
			list = append(list, m[1])
			if read, err := strconv.Unquote(`"` + m[1] + `"`); err == nil {
				list = append(list, read)
			}
		}
	}
	return list
}
