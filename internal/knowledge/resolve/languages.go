package resolve

// rulesOf gives the family of a language and its rules; nil for a language without any.
func rulesOf(language string) (family string, r rules) {
	family = families[language]
	return family, table[family]
}

// Knows reports whether files of a language have references that are resolved.
func Knows(language string) bool {
	_, r := rulesOf(language)
	return r != nil
}

// families groups languages whose files see each other.
var families = map[string]string{
	"go": "go", "python": "python", "rust": "rust",
	"typescript": "ecma", "tsx": "ecma", "javascript": "ecma",
	"java": "jvm", "kotlin": "jvm", "scala": "jvm",
	"c": "c", "cpp": "c", "csharp": "csharp", "php": "php", "ruby": "ruby",
	"bash": "bash", "lua": "lua", "zig": "zig", "hcl": "hcl",
}

var table = map[string]rules{
	"go": golang{}, "python": python{}, "rust": rust{}, "ecma": ecma{}, "c": cfamily{}, "ruby": ruby{},
	"jvm":    packaged{family: "jvm", by: jvmTraits},
	"csharp": packaged{family: "csharp", parents: true, by: func(string) traits { return csharpTraits }},
	"php":    packaged{family: "php", by: func(string) traits { return phpTraits }},
	"bash":   script{family: "bash", language: bashTraits, endings: []string{"", ".sh", ".bash"}},
	"lua":    script{family: "lua", language: luaTraits, endings: []string{".lua", "/init.lua", ""}},
	"zig":    script{family: "zig", language: zigTraits, endings: []string{"", ".zig"}},
	"hcl":    hcl{},
}
