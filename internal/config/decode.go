package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// decoder fills a Config from a parsed document by the tags of its fields: toml (the key),
// default, required, oneof, min, max and env (a variable that wins over the file).
type decoder struct {
	file     string
	lines    map[string]int
	env      func(string) (string, bool)
	problems Problems
}

// line gives the line of a key, or of the nearest table around it.
func (d *decoder) line(path string) int {
	for {
		if n, ok := d.lines[path]; ok {
			return n
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return 0
		}
		path = path[:cut]
	}
}

func (d *decoder) fault(path, format string, args ...any) {
	d.problems = append(d.problems, Problem{File: d.file, Line: d.line(path), Key: path, Text: fmt.Sprintf(format, args...)})
}

// faulty reports whether a fault of path is known: what follows from it is not worth a word.
func (d *decoder) faulty(path string) bool {
	return slices.ContainsFunc(d.problems, func(p Problem) bool { return p.Key == path })
}

func (d *decoder) table(path string, raw map[string]any, out reflect.Value) {
	var known []string
	for i := range out.NumField() {
		field := out.Type().Field(i)
		key := field.Tag.Get("toml")
		if key == "-" {
			continue
		}
		known = append(known, key)
		d.field(join(path, key), raw[key], field.Tag, out.Field(i))
	}
	for key := range raw {
		if slices.Contains(known, key) {
			continue
		}
		if near := nearest(key, known); near != "" {
			d.fault(join(path, key), "unknown key; did you mean %q?", near)
		} else {
			d.fault(join(path, key), "unknown key; known here: %s", strings.Join(known, ", "))
		}
	}
}

// field sets one field; raw is nil where the file does not have it.
func (d *decoder) field(path string, raw any, tag reflect.StructTag, out reflect.Value) {
	if name := tag.Get("env"); name != "" {
		if v, set := d.env(name); set && v != "" {
			setText(out, v)
			return
		}
	}
	switch {
	case raw != nil:
		d.value(path, raw, tag, out)
	case tag.Get("required") != "":
		d.fault(path, "missing; it is required here")
	case tag.Get("default") != "":
		setDefault(tag.Get("default"), out)
	case out.Kind() == reflect.Struct && out.Type() != reflect.TypeFor[Secret]():
		d.table(path, nil, out)
	}
}

func setDefault(text string, out reflect.Value) {
	if out.Type() == reflect.TypeFor[time.Duration]() {
		d, err := parseDuration(text)
		if err != nil {
			panic(fmt.Sprintf("default %q of a duration", text))
		}
		out.SetInt(int64(d))
		return
	}
	switch out.Kind() {
	case reflect.String:
		out.SetString(text)
	case reflect.Bool:
		out.SetBool(text == "true")
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			panic(fmt.Sprintf("default %q of a %s", text, out.Type()))
		}
		out.SetInt(n)
	}
}

func (d *decoder) value(path string, raw any, tag reflect.StructTag, out reflect.Value) {
	switch out.Type() {
	case reflect.TypeFor[time.Duration]():
		d.duration(path, raw, out)
		return
	case reflect.TypeFor[Secret]():
		d.text(path, raw, tag, out)
		return
	}
	switch out.Kind() {
	case reflect.Pointer:
		out.Set(reflect.New(out.Type().Elem()))
		d.value(path, raw, tag, out.Elem())
	case reflect.Struct:
		if t, ok := typed[map[string]any](d, path, raw, "a table"); ok {
			d.table(path, t, out)
		}
	case reflect.Slice:
		d.list(path, raw, tag, out)
	case reflect.Map:
		d.secrets(path, raw, tag, out)
	case reflect.String:
		d.text(path, raw, tag, out)
	case reflect.Bool:
		if b, ok := typed[bool](d, path, raw, "true or false"); ok {
			out.SetBool(b)
		}
	case reflect.Float64:
		d.float(path, raw, tag, out)
	default:
		if n, ok := typed[int64](d, path, raw, "a whole number"); ok {
			d.bounds(path, float64(n), tag)
			out.SetInt(n)
		}
	}
}

// typed gives raw as a T, or notes that the file has something else there.
func typed[T any](d *decoder, path string, raw any, want string) (T, bool) {
	v, ok := raw.(T)
	if !ok {
		d.fault(path, "must be %s, not %s", want, kindOf(raw))
	}
	return v, ok
}

func kindOf(raw any) string {
	switch raw.(type) {
	case string:
		return "a string"
	case int64:
		return "a whole number"
	case float64:
		return "a fraction"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date or time"
}

func (d *decoder) list(path string, raw any, tag reflect.StructTag, out reflect.Value) {
	items, ok := typed[[]any](d, path, raw, "a list")
	if !ok {
		return
	}
	out.Set(reflect.MakeSlice(out.Type(), len(items), len(items)))
	for i, item := range items {
		d.value(index(path, i), item, tag, out.Index(i))
	}
}

func (d *decoder) secrets(path string, raw any, tag reflect.StructTag, out reflect.Value) {
	entries, ok := typed[map[string]any](d, path, raw, "a table")
	if !ok {
		return
	}
	out.Set(reflect.MakeMap(out.Type()))
	for key, entry := range entries {
		v := reflect.New(out.Type().Elem()).Elem()
		d.value(join(path, key), entry, tag, v)
		out.SetMapIndex(reflect.ValueOf(key), v)
	}
}

func (d *decoder) text(path string, raw any, tag reflect.StructTag, out reflect.Value) {
	s, ok := typed[string](d, path, raw, "a string")
	if !ok {
		return
	}
	s, faults := expand(s, d.env)
	for _, f := range faults {
		d.fault(path, "%s", f)
	}
	if len(faults) > 0 {
		return
	}
	setText(out, s)
	if s == "" && tag.Get("required") != "" {
		d.fault(path, "is empty; it is required here")
	} else if choices := tag.Get("oneof"); choices != "" && !slices.Contains(strings.Split(choices, "|"), s) {
		d.fault(path, "%q is none of %s", s, strings.ReplaceAll(choices, "|", ", "))
	}
}

// setText sets a string or a Secret.
func setText(out reflect.Value, text string) {
	if out.Type() == reflect.TypeFor[Secret]() {
		out.Set(reflect.ValueOf(NewSecret(text)))
		return
	}
	out.SetString(text)
}

func (d *decoder) duration(path string, raw any, out reflect.Value) {
	s, ok := typed[string](d, path, raw, `a duration such as "5m"`)
	if !ok {
		return
	}
	v, err := parseDuration(s)
	if err != nil || v < 0 {
		d.fault(path, `%q is not a duration such as "90s", "5m", "1h" or "30d"`, s)
		return
	}
	out.SetInt(int64(v))
}

// maxDays is as many days as a duration can hold, nearly.
const maxDays = 100_000

// parseDuration reads a duration as Go writes it, or whole days.
func parseDuration(text string) (time.Duration, error) {
	days, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.Atoi(days)
	if err != nil || n < 0 || n > maxDays {
		return 0, fmt.Errorf("%q days", days)
	}
	return time.Duration(n) * 24 * time.Hour, nil
}

func (d *decoder) float(path string, raw any, tag reflect.StructTag, out reflect.Value) {
	v, ok := raw.(float64)
	if n, whole := raw.(int64); whole {
		v, ok = float64(n), true
	}
	if !ok {
		d.fault(path, "must be a number, not %s", kindOf(raw))
		return
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		d.fault(path, "must be a finite number")
		return
	}
	d.bounds(path, v, tag)
	out.SetFloat(v)
}

func (d *decoder) bounds(path string, v float64, tag reflect.StructTag) {
	if least, err := strconv.ParseFloat(tag.Get("min"), 64); err == nil && v < least {
		d.fault(path, "%v is less than %v", v, least)
	}
	if most, err := strconv.ParseFloat(tag.Get("max"), 64); err == nil && v > most {
		d.fault(path, "%v is more than %v", v, most)
	}
}
