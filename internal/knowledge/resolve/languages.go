package resolve

// rulesOf gives the family of a language and its rules; nil for a language without any.
func rulesOf(language string) (family string, r rules) {
	family = families[language]
	return family, table[family]
}

// families groups languages whose files see each other.
var families = map[string]string{
	"go":     "go",
	"python": "python",
}

var table = map[string]rules{
	"go":     golang{},
	"python": python{},
}

// manifestKind names the kind of a file that tells what packages are called and holds no
// code; "" for all others.
func manifestKind(base string) string {
	switch base {
	case "go.mod", "package.json", "Cargo.toml", "composer.json":
		return base
	case "tsconfig.json", "jsconfig.json":
		return "tsconfig.json"
	}
	return ""
}
