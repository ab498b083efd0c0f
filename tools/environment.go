package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Private is what a run of a tool has of its project's secrets.
type Private struct {
	// Environment are the values of the handles in the call's input, by variable.
	Environment map[string]domain.SecretValue
	// Scrub takes the project's values out of whatever the tool gives back; nil for none.
	Scrub func(text string) string
}

type privateKey struct{}

// WithPrivate gives the context of a run that has p.
func WithPrivate(ctx context.Context, p Private) context.Context {
	return context.WithValue(ctx, privateKey{}, p)
}

// Environment gives the values that a call is to have as environment variables: the one way
// by which a value reaches a tool. Its input holds the handles.
func Environment(ctx context.Context) map[string]domain.SecretValue {
	p, _ := ctx.Value(privateKey{}).(Private)
	return p.Environment
}

// scrubbed gives a result without values. It is done before anything is cut off: of a value
// that is cut in two neither half would be known.
func scrubbed(ctx context.Context, r domain.ToolResult) domain.ToolResult {
	r.Text, r.Preview = withoutValues(ctx, r.Text), withoutValues(ctx, r.Preview)
	return r
}

// withoutValues gives a text without values. What a call names something is shown wherever
// that is listed.
func withoutValues(ctx context.Context, text string) string {
	if p, _ := ctx.Value(privateKey{}).(Private); p.Scrub != nil {
		return p.Scrub(text)
	}
	return text
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Handles finds the handles in the input of a call, by environment variable. It is invalid
// where one stands anywhere but as the whole value of a variable in the field SecretEnv: there
// alone it is replaced. A tool without that field has none: to it they are texts.
func (s Spec) Handles(input json.RawMessage) (map[string]domain.SecretRef, error) {
	if s.SecretEnv == "" || !domain.HoldsHandle(plainText(input)) {
		return nil, nil
	}
	var fields map[string]any
	if err := json.Unmarshal(input, &fields); err != nil {
		return nil, domain.Invalid("input", "is not a JSON object")
	}
	env, _ := fields[s.SecretEnv].(map[string]any)
	handles := map[string]domain.SecretRef{}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		text, _ := env[name].(string)
		if !domain.HoldsHandle(text) {
			continue
		}
		ref, err := domain.ParseHandle(text)
		if err != nil {
			return nil, domain.Invalid(s.SecretEnv, "must have a handle alone as the value of a variable, such as {\"TOKEN\":\"%sTOKEN\"}: %s", domain.SecretScheme, domain.PublicMessage(err))
		}
		if !variableName.MatchString(name) {
			return nil, domain.Invalid(s.SecretEnv, "has a handle under %q, which can't be the name of an environment variable", domain.Visible(name))
		}
		handles[name] = ref
		delete(env, name)
	}
	if domain.HoldsHandle(fmt.Sprint(fields)) {
		return nil, domain.Invalid(s.SecretEnv, "is where handles belong, each as the value of an environment variable, such as {\"TOKEN\":\"%sTOKEN\"}; use the variable elsewhere. Nowhere else is a handle replaced", domain.SecretScheme)
	}
	return handles, nil
}

// Pin gives the input with these handles in place of those of the same variables.
func (s Spec) Pin(input json.RawMessage, handles map[string]domain.SecretRef) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var fields map[string]any
	if err := dec.Decode(&fields); err != nil {
		return nil, fmt.Errorf("pin handles: %w", err)
	}
	env, _ := fields[s.SecretEnv].(map[string]any)
	for name, ref := range handles {
		env[name] = ref.Handle()
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(fields); err != nil {
		return nil, fmt.Errorf("pin handles: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// plainText gives the texts and names of JSON as they read, unescaped.
func plainText(input json.RawMessage) string {
	var value any
	if json.Unmarshal(input, &value) != nil {
		return string(input)
	}
	return fmt.Sprint(value)
}
