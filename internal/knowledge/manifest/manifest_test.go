package manifest_test

import (
	"fmt"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/manifest"
)

func TestRead(t *testing.T) {
	t.Parallel()
	cases := []struct{ path, text, want string }{
		{"go.mod", "// A comment.\nmodule example.com/a // another\n\ngo 1.24\n", "example.com/a []"},
		{"web/package.json", `{"name":"@x/y","main":"dist/i.js","exports":{".":{"import":"./src/i.ts"},"./sub":"./s.js"}}`, "@x/y [.=./src/i.ts ./sub=./s.js .=dist/i.js]"},
		{"tsconfig.base.json", "{ // a comment\n\"compilerOptions\": {\"baseUrl\": \"./src\", \"paths\": {\"@/*\": [\"a/*\", \"b/*\",],},}, /* x */ }", "./src [@/*=src/a/* @/*=src/b/*]"},
		{"Cargo.toml", "[package]\nname = \"my-crate\"\n[lib]\npath = \"lib/l.rs\"\n", "my_crate [lib=lib/l.rs]"},
		{"composer.json", `{"name":"v/p","autoload":{"psr-4":{"V\\P\\":["src/","lib/"]}}}`, `v/p [V\P\=src/ V\P\=lib/]`},
		{"package.json", `{"name": 3`, " []"},
		{"other.json", `{"name":"x"}`, " []"},
	}
	for _, c := range cases {
		var facts domain.FileFacts
		manifest.Read(manifest.Kind(c.path), []byte(c.text), &facts)
		got := []string{}
		for _, im := range facts.Imports {
			got = append(got, im.Alias+"="+im.Target)
		}
		if text := fmt.Sprint(facts.Package, " ", got); text != c.want {
			t.Errorf("%s: %q, want %q", c.path, text, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("tsconfig.json", []byte(`{"a": "b\`))
	f.Add("tsconfig.json", []byte(`{ /* `))
	f.Add("package.json", []byte(`{"exports":{"./a":{"b":{}}}}`))
	f.Fuzz(func(_ *testing.T, path string, src []byte) {
		manifest.Read(manifest.Kind(path), src, &domain.FileFacts{})
	})
}
