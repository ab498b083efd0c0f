package domain_test

import (
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", 10 * time.Second: "10s", 5 * time.Minute: "5m", 70 * time.Second: "1m10s", 24 * time.Hour: "24h",
		90 * time.Minute: "1h30m", 720 * time.Hour: "720h", time.Hour + time.Second: "1h0m1s", 1500 * time.Millisecond: "1.5s", -5 * time.Minute: "-5m",
	} {
		got := domain.Span(d)
		if back, err := time.ParseDuration(got); got != want || err != nil || back != d {
			t.Errorf("%v is %q, which is %v (%v); want %q", d, got, back, err, want)
		}
	}
}
