package embedded

import (
	"fmt"
	"net"
	"strconv"

	"github.com/harvest-engine/harvest/internal/domain"
)

// freePort gives a port that nothing listens on right now.
func freePort() uint32 {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0
	}
	defer listener.Close()
	return uint32(listener.Addr().(*net.TCPAddr).Port)
}

// CheckPort reports a port of the loopback interface that something listens on already,
// in words that name the port and the flag that changes it. 0 is always free.
func CheckPort(port int, purpose, flag string) error {
	if port == 0 {
		return nil
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return domain.Wrap(domain.CodeConflict, err,
			"port %d, for %s, is taken by another program; end that program, or choose another port with %s", port, purpose, flag)
	}
	if err := listener.Close(); err != nil {
		return fmt.Errorf("release port %d: %w", port, err)
	}
	return nil
}
