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
}

var table = map[string]rules{
	"go": golang{}, "python": python{}, "rust": rust{}, "ecma": ecma{}, "jvm": java{},
}
