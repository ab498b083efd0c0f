package peers

import (
	"context"
	"net"
	"strconv"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Loopback is where a process listens whose peers are all on its machine.
const Loopback = "127.0.0.1:0"

// keepAlive has TCP notice within 45 seconds that a machine is gone, however much or little is
// sent to it.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 10 * time.Second, Count: 3}

// listen takes the address, of which host and port may be left out, and gives the one by which
// other machines reach it: without a host that of the interface towards the database, which all
// processes share.
func listen(address, database string) (net.Listener, string, error) {
	host, port, err := net.SplitHostPort(address)
	if address == "" {
		host, port, err = "", "0", nil
	}
	if err != nil {
		return nil, "", domain.Invalid("server.peer_address", "%q is not host:port", address)
	}
	advertised := host
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		advertised = ownAddress(database)
		if host == "" {
			host = advertised
		}
	}
	config := net.ListenConfig{KeepAliveConfig: keepAlive}
	listener, err := config.Listen(context.Background(), "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, "", domain.Wrap(domain.CodeConflict, err,
			"the address %s, where the other processes are to reach this one, can't be used; set [server] peer_address", net.JoinHostPort(host, port))
	}
	chosen := listener.Addr().(*net.TCPAddr).Port
	return listener, net.JoinHostPort(advertised, strconv.Itoa(chosen)), nil
}

// ownAddress gives this machine's address on the way to another, "host:port". Nothing is sent.
func ownAddress(toward string) string {
	conn, err := net.Dial("udp", toward)
	if err != nil {
		return "127.0.0.1" // a database on this machine, by its socket
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).IP.String()
}
