package postgres

import (
	"context"
	"net"
	"time"
)

// A server that is gone without a word, as where its machine died, is noticed within deadAfter, of
// a connection that waits for an answer as of one that sends. By what systems do otherwise a
// statement would wait for a quarter of an hour and more, and with it whoever shares its connections.
const (
	deadAfter  = 30 * time.Second
	probeAfter = 15 * time.Second
	probeEvery = 5 * time.Second
	probes     = int((deadAfter - probeAfter) / probeEvery)
)

// dial connects to a database.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeAfter, Interval: probeEvery, Count: probes},
		Control:         boundUnacknowledged,
	}
	return dialer.DialContext(ctx, network, address)
}
