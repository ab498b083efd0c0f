package domain

import (
	"regexp"
	"strings"
)

// maxRef bounds the name of a ref, in bytes.
const maxRef = 255

// refForbidden holds what no part of a ref may have, by git's own rules.
var refForbidden = regexp.MustCompile(`[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)`)

// CheckRef judges a branch, a tag, a full ref name or a commit id given by a person, in the
// named field.
func CheckRef(field, ref string) error {
	if ref == "" || ref == "@" || len(ref) > maxRef || strings.HasPrefix(ref, "-") || strings.HasPrefix(ref, ".") ||
		strings.HasPrefix(ref, "/") || strings.HasSuffix(ref, "/") || strings.HasSuffix(ref, ".") || refForbidden.MatchString(ref) {
		return Invalid(field, "%q is not a branch, a tag or a commit", ref)
	}
	return nil
}
