package uplink_test

import (
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agent/uplink"
)

func TestBackoffDoublesWithJitterUpToItsMost(t *testing.T) {
	t.Parallel()
	b := uplink.Backoff{First: time.Second, Most: 30 * time.Second}
	distinct := map[time.Duration]bool{}
	for range 3 {
		for _, most := range []time.Duration{1, 2, 4, 8, 16, 30, 30, 30} {
			got := b.Next()
			distinct[got] = true
			if got < most*time.Second/2 || got > most*time.Second {
				t.Errorf("a wait of about %ds is %s", most, got)
			}
		}
		b.Reset()
	}
	if len(distinct) < 20 {
		t.Errorf("24 waits are %d different ones", len(distinct))
	}
}
