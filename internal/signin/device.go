package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	deviceLife     = 10 * time.Minute
	deviceInterval = 2 * time.Second
	// userCodeLetters are those of RFC 8628, section 6.1: no vowels, so that no code is a word.
	userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"
	userCodeHalf    = 4

	devicePrefix = "device/"
	codeLimit    = 30 // codes that a person may try in a window
)

// BeginDevice begins to wait for somebody who grants a device an API key. Errors: too_many.
func (s *Service) BeginDevice(ctx context.Context, d domain.NewDevice) (domain.DeviceCodes, error) {
	if err := s.attempt(ctx, devicePrefix+addressKey(d.Address), addressLimit); err != nil {
		return domain.DeviceCodes{}, err
	}
	userCode, err := newUserCode()
	if err != nil {
		return domain.DeviceCodes{}, err
	}
	code := rand.Text()
	sum := sha256.Sum256([]byte(code))
	return domain.DeviceCodes{DeviceCode: code, UserCode: userCode, Life: deviceLife, Interval: deviceInterval},
		s.Store.CreateDevice(ctx, userCode, sum[:], d, deviceLife)
}

// Device gives the device that shows a code, to a person who types it. Errors: not_found,
// too_many.
func (s *Service) Device(ctx context.Context, userID, userCode string) (domain.Device, error) {
	if err := s.attempt(ctx, devicePrefix+userID, codeLimit); err != nil {
		return domain.Device{}, err
	}
	return s.Store.Device(ctx, readUserCode(userCode))
}

// DecideDevice grants or refuses a device its key, once. Errors: not_found.
func (s *Service) DecideDevice(ctx context.Context, d domain.DeviceDecision) error {
	d.UserCode = readUserCode(d.UserCode)
	return s.Store.DecideDevice(ctx, d)
}

// RedeemDevice gives the key that a device was granted, once; text is "" until somebody has
// decided. Errors: forbidden where it was refused, not_found.
func (s *Service) RedeemDevice(ctx context.Context, deviceCode string) (key domain.APIKey, text string, err error) {
	sum := sha256.Sum256([]byte(deviceCode))
	return s.Store.RedeemDevice(ctx, sum[:])
}

// newUserCode makes a code that is easy to read out and to type: "BCDF-GHJK".
func newUserCode() (string, error) {
	var code strings.Builder
	for i := range 2 * userCodeHalf {
		if i == userCodeHalf {
			code.WriteByte('-')
		}
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(userCodeLetters))))
		if err != nil {
			return "", fmt.Errorf("make a code: %w", err)
		}
		code.WriteByte(userCodeLetters[n.Int64()])
	}
	return code.String(), nil
}

// readUserCode gives a code as it was made, whatever its case and marks.
func readUserCode(text string) string {
	letters := strings.Map(func(r rune) rune {
		if strings.ContainsRune(userCodeLetters, r) {
			return r
		}
		return -1
	}, strings.ToUpper(text))
	if len(letters) != 2*userCodeHalf {
		return ""
	}
	return letters[:userCodeHalf] + "-" + letters[userCodeHalf:]
}
