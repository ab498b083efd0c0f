package lang_test

import (
	"testing"

	"github.com/harvest-engine/harvest/internal/knowledge/lang"
)

func TestDetect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, head, want string }{
		{"a/b/main.go", "", "go"},
		{"A/B/MAIN.GO", "", "go"},
		{"web/app.tsx", "", "tsx"},
		{"lib.mts", "", "typescript"},
		{"Dockerfile", "", "dockerfile"},
		{"build/Dockerfile.debug", "", "dockerfile"},
		{"GNUmakefile", "", "makefile"},
		{"Gemfile", "", "ruby"},
		{"README", "", "text"},
		{"README.md", "", "markdown"},
		{"bin/tool", "#!/usr/bin/env python3\n", "python"},
		{"bin/tool", "#!/usr/bin/env -S node --harmony\n", "javascript"},
		{"bin/tool", "#!/bin/sh -e\n", "bash"},
		{"bin/tool", "#!/usr/local/bin/ruby2.7\n", "ruby"},
		{"bin/tool", "#!\n", ""},
		{"bin/tool", "\x7fELF", ""},
		{"x.h", "int f(void);\n", "c"},
		{"x.h", "#pragma once\nnamespace a {\n", "cpp"},
		{"infra/main.tf", "", "hcl"},
		{"CMakeLists.txt", "", "cmake"},
		{".gitignore", "", "ignore"},
		{"", "", ""},
	} {
		if got := lang.Detect(c.path, []byte(c.head)); got != c.want {
			t.Errorf("Detect(%q, %q) = %q, want %q", c.path, c.head, got, c.want)
		}
	}
}
