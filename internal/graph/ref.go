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
// start line that an "@line" suffix asks for (0 for none; see Nth). "a.b.c" is c of a.b, b.c of a, or
// a name with two points in it. "::", "#" and "->" separate like points, and "(*T)" is T.
func (ref SymbolRef) Alternatives() (readings []Alternative, startLine int) {
	name := strings.TrimSpace(ref.Name)
	if bare, line, _, ok := cutPlace(name); ok {
		name, startLine = bare, line
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

// Nth is which of several symbols of one name on one line an "@line.nth" suffix asks for, from
// 2; 0 where the name has none.
func (ref SymbolRef) Nth() int {
	_, _, nth, _ := cutPlace(strings.TrimSpace(ref.Name))
	return nth
}

// cutPlace takes the "@line" or "@line.nth" off a Local.
func cutPlace(name string) (bare string, line, nth int, ok bool) {
	at := strings.LastIndexByte(name, '@')
	if at <= 0 {
		return name, 0, 0, false
	}
	lineText, nthText, numbered := strings.Cut(name[at+1:], ".")
	line, err := strconv.Atoi(lineText)
	if err != nil || line <= 0 {
		return name, 0, 0, false
	}
	if numbered {
		if nth, err = strconv.Atoi(nthText); err != nil || nth < 2 {
			return name, 0, 0, false
		}
	}
	return name[:at], line, nth, true
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
