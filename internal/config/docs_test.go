package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/config"
	"github.com/pelletier/go-toml/v2"
)

// The page that explains the configuration loads, and leaves no key out.
func TestDocumentationIsComplete(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```toml\n")
	block, _, _ = strings.Cut(block, "```")
	env := environment(secrets)
	if _, err := config.Parse("configuration.md", []byte(block), func(name string) (string, bool) {
		if strings.HasPrefix(name, "LXD_") {
			return "x", true
		}
		return env(name)
	}); err != nil {
		t.Errorf("the page's example: %v", err)
	}
	var doc map[string]any
	if err := toml.Unmarshal([]byte(block), &doc); err != nil {
		t.Fatal(err)
	}
	missing(t, "", doc, reflect.TypeFor[config.Config]())
}

// missing notes the keys of a section that doc does not have.
func missing(t *testing.T, path string, doc any, section reflect.Type) {
	t.Helper()
	for section.Kind() == reflect.Pointer || section.Kind() == reflect.Slice {
		section = section.Elem()
	}
	if section.Kind() != reflect.Struct || section == reflect.TypeFor[config.Secret]() {
		return
	}
	tables, ok := doc.([]any)
	if !ok {
		tables = []any{doc}
	}
	for i := range section.NumField() {
		key := section.Field(i).Tag.Get("toml")
		if key == "-" {
			continue
		}
		var found any
		for _, table := range tables {
			if v, has := table.(map[string]any)[key]; has {
				found = v
				break
			}
		}
		if found == nil {
			t.Errorf("configuration.md does not explain %s%s", path, key)
			continue
		}
		missing(t, path+key+".", found, section.Field(i).Type)
	}
}
