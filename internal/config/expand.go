package config

import (
	"fmt"
	"regexp"
	"strings"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces ${NAME} by the environment's value and $${ by "${". Every fault of text
// is in faults; what a variable holds is not expanded again.
func expand(text string, env func(string) (string, bool)) (value string, faults []string) {
	var out strings.Builder
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			out.WriteString(text)
			return out.String(), faults
		}
		if at > 0 && text[at-1] == '$' {
			out.WriteString(text[:at-1])
			out.WriteString("${")
			text = text[at+2:]
			continue
		}
		out.WriteString(text[:at])
		name, rest, closed := strings.Cut(text[at+2:], "}")
		if !closed {
			return out.String(), append(faults, "${ without a closing }; write $${ for the characters themselves")
		}
		text = rest
		if !variableName.MatchString(name) {
			faults = append(faults, fmt.Sprintf("%q is not the name of an environment variable", name))
			continue
		}
		v, set := env(name)
		if !set {
			faults = append(faults, fmt.Sprintf("environment variable %s is not set", name))
		}
		out.WriteString(v)
	}
}
