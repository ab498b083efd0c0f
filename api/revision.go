package api

import (
	"net/url"
	"strconv"

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
