package uplink

import (
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// How long bytes may stay unacknowledged before a connection is given up. For sessions it is
// long, since the other end of a console may be a person who has stopped the output.
const (
	stuckPost    = time.Minute
	stuckSession = 5 * time.Minute
)

// keepAlive notices that the other end is gone where nothing is sent.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 10 * time.Second, Count: 3}

// transport is HTTP/1.1 alone: there a request that gets no answer costs its own connection,
// while one of HTTP/2 that is dead keeps all requests that follow waiting.
func (c *Client) transport(stuck time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAliveConfig: keepAlive, Control: limitStuck(stuck)}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSClientConfig: c.tls,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: time.Minute,
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		MaxIdleConns: 8, MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second, DisableCompression: true,
	}
}

func limitStuck(limit time.Duration) func(network, address string, raw syscall.RawConn) error {
	return func(network, _ string, raw syscall.RawConn) error {
		if !strings.HasPrefix(network, "tcp") {
			return nil
		}
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds()))
		})
		if err != nil {
			return err
		}
		return failed
	}
}
