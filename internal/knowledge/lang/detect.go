package lang

import (
	"bytes"
	"path"
	"strings"
)

// Detect names the language of a file by its name, or else by the first line of its head;
// "" where neither tells. Languages without a grammar have names too.
func Detect(name string, head []byte) string {
	base := path.Base(strings.ReplaceAll(name, "\\", "/"))
	lower := strings.ToLower(base)
	if l, ok := byName[lower]; ok {
		return l
	}
	if strings.HasPrefix(lower, "dockerfile.") || strings.HasPrefix(lower, "containerfile.") {
		return "dockerfile"
	}
	ext := strings.TrimPrefix(path.Ext(lower), ".")
	if ext == "h" && looksLikeCPP(head) {
		return "cpp"
	}
	if l, ok := byExtension[ext]; ok && ext != "" {
		return l
	}
	return byShebang(head)
}

// byExtension maps lower-case extensions, several a line, to languages.
var byExtension = spread(map[string]string{
	"go": "go", "rust": "rs", "python": "py pyi pyw", "java": "java", "ruby": "rb rake gemspec ru podspec",
	"typescript": "ts mts cts", "tsx": "tsx", "javascript": "js mjs cjs jsx", "php": "php php5 phtml inc",
	"c": "c h", "cpp": "cpp cc cxx c++ hpp hh hxx h++ ipp tpp inl cu cuh", "csharp": "cs csx",
	"kotlin": "kt kts", "scala": "scala sc sbt", "bash": "sh bash zsh ksh bats", "hcl": "tf tfvars hcl nomad",
	"lua": "lua", "zig": "zig zon",

	"markdown": "md markdown mdx", "rst": "rst", "asciidoc": "adoc asciidoc", "text": "txt text", "org": "org",
	"yaml": "yaml yml", "json": "json jsonc json5 geojson webmanifest", "toml": "toml", "xml": "xml xsd xsl xslt svg plist pom csproj fsproj vbproj props targets resx",
	"ini": "ini cfg conf properties editorconfig", "csv": "csv tsv", "html": "html htm xhtml", "css": "css", "scss": "scss", "sass": "sass", "less": "less",
	"sql": "sql psql ddl", "graphql": "graphql gql", "protobuf": "proto", "thrift": "thrift", "cue": "cue", "jsonnet": "jsonnet libsonnet",
	"swift": "swift", "objective-c": "m mm", "dart": "dart", "elixir": "ex exs", "erlang": "erl hrl", "haskell": "hs lhs", "ocaml": "ml mli",
	"fsharp": "fs fsi fsx", "clojure": "clj cljs cljc edn", "groovy": "groovy gradle gvy", "perl": "pl pm t", "r": "r rmd", "julia": "jl",
	"nim": "nim nims", "crystal": "cr", "d": "d di", "fortran": "f f90 f95 f03 for", "pascal": "pas pp", "ada": "adb ads", "assembly": "s asm nasm",
	"verilog": "v sv svh", "vhdl": "vhd vhdl", "powershell": "ps1 psm1 psd1", "batch": "bat cmd", "fish": "fish", "nix": "nix", "vim": "vim",
	"vue": "vue", "svelte": "svelte", "astro": "astro", "template": "tmpl gotmpl tpl ejs erb hbs mustache j2 jinja jinja2 haml slim twig liquid",
	"makefile": "mk mak make", "cmake": "cmake", "dockerfile": "dockerfile", "starlark": "bzl star bazel", "diff": "diff patch",
	"latex": "tex sty cls bib", "notebook": "ipynb", "visualbasic": "vb vbs bas", "cobol": "cob cbl", "lisp": "lisp lsp el", "scheme": "scm ss rkt",
	"solidity": "sol", "wgsl": "wgsl", "glsl": "glsl vert frag comp", "hlsl": "hlsl fx", "coffeescript": "coffee", "tcl": "tcl", "awk": "awk", "rego": "rego", "bicep": "bicep", "prisma": "prisma",
})

// byName maps whole file names, in lower case.
var byName = spread(map[string]string{
	"dockerfile": "dockerfile containerfile", "makefile": "makefile gnumakefile kbuild", "cmake": "cmakelists.txt",
	"ruby":     "gemfile rakefile vagrantfile guardfile podfile fastfile capfile brewfile berksfile dangerfile",
	"bash":     ".bashrc .bash_profile .bash_aliases .profile .zshrc .zshenv .zprofile pkgbuild apkbuild gradlew",
	"python":   "sconstruct sconscript wscript",
	"starlark": "build build.bazel workspace workspace.bazel module.bazel tiltfile",
	"go-mod":   "go.mod go.work", "checksums": "go.sum go.work.sum", "groovy": "jenkinsfile", "just": "justfile .justfile",
	"json": "composer.lock .babelrc .eslintrc .prettierrc pipfile.lock", "toml": "cargo.lock poetry.lock pipfile uv.lock", "yaml": ".clang-format .clang-tidy",
	"ini": ".gitconfig .npmrc .editorconfig .gitmodules", "ignore": ".gitignore .dockerignore .npmignore .eslintignore .helmignore", "gitattributes": ".gitattributes",
	"procfile": "procfile", "codeowners": "codeowners", "caddyfile": "caddyfile", "hcl": ".terraform.lock.hcl .terraformrc",
	"text": "readme license licence copying notice authors contributors changelog changes news todo install version",
})

// byInterpreter maps the programs that a shebang names.
var byInterpreter = spread(map[string]string{
	"bash": "sh bash zsh ksh dash ash bats", "python": "python python2 python3 pypy pypy3", "ruby": "ruby jruby", "javascript": "node nodejs bun",
	"typescript": "deno ts-node tsx", "php": "php", "lua": "lua luajit", "perl": "perl", "scala": "scala scala-cli", "kotlin": "kotlin", "groovy": "groovy",
	"fish": "fish", "r": "rscript", "tcl": "tclsh wish", "awk": "awk gawk", "makefile": "make", "elixir": "elixir", "erlang": "escript", "powershell": "pwsh", "nix": "nix-shell", "julia": "julia",
})

func spread(table map[string]string) map[string]string {
	by := make(map[string]string)
	for language, names := range table {
		for name := range strings.FieldsSeq(names) {
			by[name] = language
		}
	}
	return by
}

// byShebang reads a first line such as "#!/usr/bin/env -S python3 -u".
func byShebang(head []byte) string {
	line, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return ""
	}
	line, _, _ = bytes.Cut(line[:min(len(line), 200)], []byte("\n"))
	for word := range strings.FieldsSeq(string(line)) {
		program := path.Base(word)
		if program == "env" || strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		program = strings.ToLower(program)
		if l, ok := byInterpreter[program]; ok {
			return l
		}
		return byInterpreter[strings.TrimRight(program, "0123456789.")]
	}
	return ""
}

// looksLikeCPP tells C++ headers from those of C by words that C does not have.
func looksLikeCPP(head []byte) bool {
	head = head[:min(len(head), 64<<10)]
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		for _, mark := range cppMarks {
			if bytes.HasPrefix(line, mark) {
				return true
			}
		}
	}
	return false
}

var cppMarks = [][]byte{
	[]byte("class "), []byte("namespace "), []byte("template<"), []byte("template <"), []byte("using "), []byte("public:"),
	[]byte("private:"), []byte("protected:"), []byte("constexpr "), []byte("enum class "), []byte("virtual "), []byte("inline namespace "),
}
