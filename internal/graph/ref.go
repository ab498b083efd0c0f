package graph

import (
	"strconv"
	"strings"
)

// Alternative is one way to read a symbol's name: a bare name, and what stood before it.
type Alternative struct {
	Name      string
	Qualifier string // a receiver, package, folder or file; "" for none
}

// Alternatives gives the readings of the name that ref holds, the least qualified first, and the
// start line that an "@line" suffix asks for (0 for none). "a.b.c" is c of a.b, b.c of a, or
// a name with two points in it. "::", "#" and "->" separate like points, and "(*T)" is T.
func (ref SymbolRef) Alternatives() (readings []Alternative, startLine int) {
	name := strings.TrimSpace(ref.Name)
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		if n, err := strconv.Atoi(name[at+1:]); err == nil && n > 0 {
			name, startLine = name[:at], n
		}
	}
	name = strings.TrimSuffix(name, "()")
	readings = []Alternative{{Name: name}}
	flat := separators.Replace(name)
	if flat != name && !strings.ContainsAny(flat, " ,") {
		readings = append(readings, Alternative{Name: flat})
	} else {
		flat = name
	}
	for i := len(flat) - 2; i > 0; i-- {
		if flat[i] == '.' && flat[i-1] != '.' && flat[i+1] != '.' {
			readings = append(readings, Alternative{Name: flat[i+1:], Qualifier: flat[:i]})
		}
	}
	return readings, startLine
}

var separators = strings.NewReplacer("::", ".", "#", ".", "->", ".", "(*", "", "(", "", ")", "")

// PlacePattern is a regular expression, in RE2 and in PostgreSQL, that matches paths in whose
// last folder, or file, a qualifier is named: "http", "net/http" and "net.http" match
// net/http/server.go, and "server" does too.
func PlacePattern(qualifier string) string {
	var b strings.Builder
	b.WriteString(`(^|/)`)
	for _, r := range qualifier {
		switch {
		case r == '.' || r == '/':
			b.WriteString(`[./]`)
		case strings.ContainsRune(`\+*?()|[]{}^$`, r):
			b.WriteRune('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteString(`(/[^/]*|\.[^/]*)$`)
	return b.String()
}
