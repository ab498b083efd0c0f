package signin

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The 10,000 most used passwords, in lower case, one a line, the most used first: the
// beginning of the list of Django 5.2 (django/contrib/auth/common-passwords.txt.gz; BSD-3-Clause,
// © Django Software Foundation and individual contributors), made by Royce Williams from the
// passwords that were found in public breaches.
//
//go:embed common-passwords.txt.gz
var commonList []byte

// The lengths of passwords, in bytes. What is longer costs time to hash and adds nothing.
const (
	minPassword = 8
	maxPassword = 1024
)

var common = sync.OnceValue(func() map[string]bool {
	list, err := gzip.NewReader(bytes.NewReader(commonList))
	if err != nil {
		panic("the embedded list of passwords is broken: " + err.Error())
	}
	words := map[string]bool{}
	for lines := bufio.NewScanner(list); lines.Scan(); {
		words[lines.Text()] = true
	}
	return words
})

// checkPassword says what is wrong with a new password.
func checkPassword(password, email, name string) error {
	switch lower := strings.ToLower(password); {
	case len(password) < minPassword || len(password) > maxPassword || !utf8.ValidString(password):
		return domain.Invalid("password", "must have %d to %d characters", minPassword, maxPassword)
	case common()[lower]:
		return domain.Invalid("password", "is one of the 10,000 most used; choose another")
	case lower == strings.ToLower(email), lower == strings.ToLower(name):
		return domain.Invalid("password", "must be neither your name nor your e-mail address")
	}
	return nil
}
