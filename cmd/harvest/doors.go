package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
)

// doors are the ports by which people reach an up: the API's, and the Temporal UI's customary
// one, which only forwards to the API.
type doors struct {
	api net.Listener
	ui  net.Listener // nil where the Temporal service is somebody else's
}

func (d *doors) open(o ports, noTemporal bool) (err error) {
	if d.api, err = listen("127.0.0.1", o.api, "the API", "--port"); err != nil || noTemporal {
		return err
	}
	d.ui, err = listen("127.0.0.1", o.ui, "the Temporal UI", "--temporal-ui-port")
	return err
}

// close gives the ports back; who served one has closed it before.
func (d *doors) close() {
	for _, listener := range []net.Listener{d.api, d.ui} {
		if listener != nil {
			listener.Close()
		}
	}
}

// address is the API's: http://127.0.0.1:8080.
func (d *doors) address() string { return "http://" + d.api.Addr().String() }

// forward begins to send browsers on from the UI's port, and gives the function that ends it.
func (d *doors) forward() (stop func()) {
	if d.ui == nil {
		return func() {}
	}
	server := &http.Server{
		Handler:           api.ForwardToUI(d.api.Addr().(*net.TCPAddr).Port),
		ReadHeaderTimeout: forwardLimit, WriteTimeout: forwardLimit, IdleTimeout: forwardLimit,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(d.ui) // a forward that fails takes nothing else with it
	}()
	return func() {
		_ = server.Close()
		<-done
	}
}

// listen takes a port, or says in words which one is taken and what to do.
func listen(host string, port int, purpose, setting string) (net.Listener, error) {
	// A client whose machine is gone is noticed within 45 seconds, also where nothing is sent.
	config := net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 10 * time.Second, Count: 3}}
	listener, err := config.Listen(context.Background(), "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	switch {
	case errors.Is(err, os.ErrPermission):
		return nil, domain.Wrap(domain.CodeForbidden, err, "port %d, for %s, is not for this user; choose one from 1024 on with %s", port, purpose, setting)
	case err != nil:
		return nil, domain.Wrap(domain.CodeConflict, err,
			"port %d, for %s, can't be used; end the program that uses it, or choose another port with %s", port, purpose, setting)
	}
	return listener, nil
}
