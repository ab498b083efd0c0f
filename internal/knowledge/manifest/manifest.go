// Package manifest reads the files that say what the packages of a repository are called:
// go.mod, package.json, tsconfig.json, Cargo.toml, composer.json.
package manifest

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/mod/modfile"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Version changes when the same manifest gives other facts than before.
const Version = "1"

// The kinds of manifests.
const (
	GoMod    = "go.mod"
	NPM      = "package.json"
	TSConfig = "tsconfig.json"
	Cargo    = "cargo.toml"
	Composer = "composer.json"
)

var readers = map[string]func(src []byte, facts *domain.FileFacts){
	GoMod: goModule, NPM: npmPackage, TSConfig: tsConfig, Cargo: cargoCrate, Composer: composerPackage,
}

// Kind names the kind of the manifest at a path; "" where it is none.
func Kind(name string) string {
	base := strings.ToLower(path.Base(name))
	if base == "jsconfig.json" || strings.HasPrefix(base, "tsconfig.") && strings.HasSuffix(base, ".json") {
		base = TSConfig
	}
	if readers[base] == nil {
		return ""
	}
	return base
}

// Read puts what a manifest of that kind says into facts: Package is the name (of a
// tsconfig its base folder), Imports map prefixes or entry points (Alias) to folders or
// files (Target), relative to the manifest. What can't be parsed says nothing.
func Read(kind string, src []byte, facts *domain.FileFacts) {
	if read := readers[kind]; read != nil {
		read(src, facts)
	}
}

func goModule(src []byte, facts *domain.FileFacts) { facts.Package = modfile.ModulePath(src) }

func npmPackage(src []byte, facts *domain.FileFacts) {
	var p struct {
		Name    string          `json:"name"`
		Main    json.RawMessage `json:"main"`
		Module  json.RawMessage `json:"module"`
		Types   json.RawMessage `json:"types"`
		Source  json.RawMessage `json:"source"`
		Exports json.RawMessage `json:"exports"`
	}
	if json.Unmarshal(src, &p) != nil {
		return
	}
	facts.Package = p.Name
	for _, entry := range []json.RawMessage{p.Source, p.Exports, p.Types, p.Module, p.Main} {
		addEntries(facts, ".", entry)
	}
}

// addEntries reads an entry point: a path, conditions, or subpaths with either.
func addEntries(facts *domain.FileFacts, alias string, entry json.RawMessage) {
	var file string
	if json.Unmarshal(entry, &file) == nil {
		if file != "" {
			facts.Imports = append(facts.Imports, domain.Import{Alias: alias, Target: file})
		}
		return
	}
	var table map[string]json.RawMessage
	if json.Unmarshal(entry, &table) != nil {
		return
	}
	keys := make([]string, 0, len(table))
	for key := range table {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if strings.HasPrefix(key, ".") {
			addEntries(facts, key, table[key])
		} else {
			addEntries(facts, alias, table[key])
		}
	}
}

func tsConfig(src []byte, facts *domain.FileFacts) {
	var c struct {
		Compiler struct {
			BaseURL string              `json:"baseUrl"`
			Paths   map[string][]string `json:"paths"`
		} `json:"compilerOptions"`
	}
	if json.Unmarshal(plainJSON(src), &c) != nil {
		return
	}
	facts.Package = c.Compiler.BaseURL
	for alias, targets := range c.Compiler.Paths {
		for _, target := range targets {
			facts.Imports = append(facts.Imports, domain.Import{Alias: alias, Target: path.Join(c.Compiler.BaseURL, target)})
		}
	}
	sortImports(facts.Imports)
}

// plainJSON takes comments and trailing commas out of JSON as tsconfig files have it.
func plainJSON(src []byte) []byte {
	out := make([]byte, 0, len(src))
	for i := 0; i < len(src); i++ {
		switch {
		case src[i] == '"':
			end := i + 1
			for end < len(src) && src[end] != '"' {
				if src[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(src)-1)
			out = append(out, src[i:end+1]...)
			i = end
		case src[i] == '/' && i+1 < len(src) && src[i+1] == '/':
			for i+1 < len(src) && src[i+1] != '\n' {
				i++
			}
		case src[i] == '/' && i+1 < len(src) && src[i+1] == '*':
			end := strings.Index(string(src[i+2:]), "*/")
			if end < 0 {
				return out
			}
			i += end + 3
		case src[i] == '}' || src[i] == ']':
			trimmed := strings.TrimRight(string(out), " \t\r\n")
			if strings.HasSuffix(trimmed, ",") {
				out = out[:len(trimmed)-1]
			}
			out = append(out, src[i])
		default:
			out = append(out, src[i])
		}
	}
	return out
}

func cargoCrate(src []byte, facts *domain.FileFacts) {
	var c struct {
		Package struct{ Name string }
		Lib     struct{ Name, Path string }
	}
	if toml.Unmarshal(src, &c) != nil {
		return
	}
	facts.Package = c.Lib.Name
	if facts.Package == "" {
		facts.Package = strings.ReplaceAll(c.Package.Name, "-", "_")
	}
	if c.Lib.Path != "" {
		facts.Imports = []domain.Import{{Alias: "lib", Target: c.Lib.Path}}
	}
}

func composerPackage(src []byte, facts *domain.FileFacts) {
	type loader struct {
		PSR4 map[string]json.RawMessage `json:"psr-4"`
	}
	var c struct {
		Name        string `json:"name"`
		Autoload    loader `json:"autoload"`
		AutoloadDev loader `json:"autoload-dev"`
	}
	if json.Unmarshal(src, &c) != nil {
		return
	}
	facts.Package = c.Name
	for _, l := range []loader{c.Autoload, c.AutoloadDev} {
		for prefix, value := range l.PSR4 {
			var one string
			var many []string
			if json.Unmarshal(value, &one) == nil {
				many = []string{one}
			} else if json.Unmarshal(value, &many) != nil {
				continue
			}
			for _, dir := range many {
				facts.Imports = append(facts.Imports, domain.Import{Alias: prefix, Target: dir})
			}
		}
	}
	sortImports(facts.Imports)
}

// sortImports gives maps of a manifest one order, so that equal blobs have equal facts; the
// targets of one alias keep theirs, which is by preference.
func sortImports(imports []domain.Import) {
	slices.SortStableFunc(imports, func(a, b domain.Import) int { return strings.Compare(a.Alias, b.Alias) })
}
