package api

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// versionNumber reads the number of a version, which count from 1.
func versionNumber(field, text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, domain.Invalid(field, "%q is no version; versions are whole numbers from 1", text)
	}
	return int(n), nil
}

// versionRange reads from which version to which a difference goes.
func versionRange(query url.Values) (from, to int, err error) {
	if from, err = versionNumber("from", query.Get("from")); err != nil {
		return 0, 0, err
	}
	to, err = versionNumber("to", query.Get("to"))
	return from, to, err
}

// builtOn gives the version that a change builds on: what its body says, or else If-Match; 0
// for whichever is the newest.
func builtOn(header http.Header, version int) (int, error) {
	if version < 0 {
		return 0, domain.Invalid("version", "must be a whole number from 1")
	}
	match := header.Get("If-Match")
	if match == "" || match == "*" {
		return version, nil
	}
	matched, err := versionNumber("If-Match", strings.Trim(strings.TrimPrefix(match, "W/"), `"`))
	if err != nil {
		return 0, err
	}
	if version != 0 && version != matched {
		return 0, domain.Invalid("version", "is another one in If-Match: %d", matched)
	}
	return matched, nil
}

// tag tells clients the version of what they get, as If-Match takes it.
func tag(reply http.Header, version int) {
	if version > 0 {
		reply.Set("ETag", `"`+strconv.Itoa(version)+`"`)
	}
}
