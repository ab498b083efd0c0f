package uplink_test

import (
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agent/uplink"
)

// What people read of a server that is away is where it should be, and why it can't be reached.
func TestEventsOfNoServer(t *testing.T) {
	t.Parallel()
	client, err := uplink.New(uplink.Options{Server: "http://127.0.0.1:1/sub/", Token: func() string { return "hva_secret" }, DeadAfter: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	err = client.Events(t.Context(), uplink.Hello{Hostname: "box", Machine: "m1"}, nil)
	if want := "http://127.0.0.1:1/sub can't be reached: dial tcp 127.0.0.1:1: connect: connection refused"; err == nil || err.Error() != want {
		t.Errorf("it says %v, not %s", err, want)
	}
}
