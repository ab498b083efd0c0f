package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

// maxBytes bounds a configuration file.
const maxBytes = 1 << 20

// Load reads the file at path; "" gives the defaults. env looks environment variables up.
// Faults of the file are Problems.
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	if path == "" {
		return Parse("environment", nil, env)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close()
	doc, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return Parse(path, doc, env)
}

// Parse reads a document; file is its name for messages.
func Parse(file string, doc []byte, env func(string) (string, bool)) (*Config, error) {
	raw, err := parseTOML(file, doc)
	if err != nil {
		return nil, err
	}
	d := &decoder{file: file, env: env}
	if len(raw) > 0 {
		d.lines = locate(doc)
	}
	cfg := &Config{}
	d.table("", raw, reflect.ValueOf(cfg).Elem())
	d.check(cfg)
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	slices.SortStableFunc(cfg.Notices, func(a, b Notice) int { return cmp.Compare(a.Line, b.Line) })
	return cfg, nil
}

func parseTOML(file string, doc []byte) (map[string]any, error) {
	if len(doc) > maxBytes {
		return nil, Problems{{File: file, Text: fmt.Sprintf("is larger than %d bytes", maxBytes)}}
	}
	if line := tooDeep(doc); line > 0 {
		return nil, Problems{{File: file, Line: line, Text: "is nested too deeply"}}
	}
	var raw map[string]any
	if err := toml.Unmarshal(doc, &raw); err != nil {
		p := Problem{File: file, Text: err.Error()}
		var at *toml.DecodeError
		if errors.As(err, &at) {
			p.Line, _ = at.Position()
		}
		return nil, Problems{p}
	}
	return raw, nil
}

// tooDeep gives the line on which brackets open in a row more often than any real file
// would: the parser recurses on them. Brackets in strings count as well, which is harmless.
func tooDeep(doc []byte) int {
	const limit = 10000
	depth, line := 0, 1
	for _, b := range doc {
		switch b {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '\n':
			line++
		}
		if depth > limit {
			return line
		}
	}
	return 0
}
