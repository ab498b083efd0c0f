package lxd_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/lxd"
)

func token(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func TestParseToken(t *testing.T) {
	t.Parallel()
	whole := token(`{"client_name":"harvest","fingerprint":"AbCd","addresses":["10.0.0.1:8443"],"secret":"s","expires_at":"2026-12-01T10:00:00Z"}`)
	got, err := lxd.ParseToken(" " + whole + "\n")
	if err != nil || got.Text != whole || got.Fingerprint != "abcd" || !got.ExpiresAt.Equal(time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("read as %+v, %v", got, err)
	}
	if got, err := lxd.ParseToken(token(`{"fingerprint":"ab","secret":"s","expires_at":"0001-01-01T00:00:00Z"}`)); err != nil || !got.ExpiresAt.IsZero() {
		t.Errorf("one that does not expire is %+v, %v", got, err)
	}
	for name, text := range map[string]string{
		"nothing": "", "no base64": "token!", "no JSON": token("harvest"), "no secret": token(`{"fingerprint":"ab"}`),
		"no fingerprint": token(`{"secret":"s"}`), "cut off": whole[:len(whole)-9], "a list": token("[]"), "null": token("null"),
	} {
		if _, err := lxd.ParseToken(text); domain.CodeOf(err) != domain.CodeInvalid || !strings.Contains(err.Error(), "lxc config trust add") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add(token(`{"fingerprint":"ab","secret":"s","expires_at":"2026-12-01T10:00:00Z"}`))
	f.Add("====")
	f.Add(token(`{"fingerprint":7,"secret":{},"expires_at":"soon"}`))
	f.Fuzz(func(t *testing.T, text string) {
		got, err := lxd.ParseToken(text)
		switch {
		case err != nil && domain.CodeOf(err) != domain.CodeInvalid:
			t.Errorf("%q gives %v", text, err)
		case err == nil && (got.Fingerprint == "" || got.Text != strings.TrimSpace(text) || got.Fingerprint != strings.ToLower(got.Fingerprint)):
			t.Errorf("%q is read as %+v", text, got)
		}
	})
}
