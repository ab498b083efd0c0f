package workflows

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxIDPart bounds, in bytes, what a name of people's making adds to an ID; the server takes
// 1000 for all of it, and a schedule adds the time.
const maxIDPart = 500

// idPart gives the name of a repository or a ref as it stands in an ID. IDs travel in headers
// of gRPC calls, which hold printable ASCII alone: a call with any other is refused by the
// client itself, again and again. Such names are percent-encoded behind a "~", which no ref
// has, so that they don't meet one that is spelled like it.
func idPart(name string) string {
	part := name
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		var encoded strings.Builder
		encoded.WriteByte('~')
		for i := range len(name) {
			if c := name[i]; c <= ' ' || c > '~' || c == '%' {
				encoded.WriteByte('%')
				encoded.WriteString(strings.ToUpper(hex.EncodeToString([]byte{c})))
			} else {
				encoded.WriteByte(c)
			}
		}
		part = encoded.String()
	}
	if len(part) > maxIDPart {
		sum := sha256.Sum256([]byte(name))
		part = part[:maxIDPart-33] + "~" + hex.EncodeToString(sum[:16])
	}
	return part
}
