package secrets

import (
	"crypto/rand"

	"github.com/harvest-engine/harvest/internal/domain"
)

// letters are those of generated values. None of them means anything to a shell, a URL or a
// file of settings.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// generated is the length of a generated value: more than 190 bits.
const generated = 32

// Generate makes a random value of letters and digits.
func Generate() domain.SecretValue {
	value, draw := make([]byte, 0, generated), make([]byte, generated)
	for len(value) < generated {
		_, _ = rand.Read(draw) // crypto/rand.Read never returns an error
		for _, b := range draw {
			// The bytes above the last whole run of letters would make the first ones likelier.
			if whole := 256 / len(letters) * len(letters); int(b) < whole && len(value) < generated {
				value = append(value, letters[int(b)%len(letters)])
			}
		}
	}
	return domain.NewSecretValue(string(value))
}
