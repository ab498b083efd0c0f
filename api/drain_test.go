package api_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/api"
)

// A server that has stopped holds no connection to the Temporal UI.
func TestDrainFreesTheConnectionsOfTheUI(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 1)
	ui := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	ui.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	ui.Start()
	defer ui.Close()
	target, err := url.Parse(ui.URL + "/temporal")
	if err != nil {
		t.Fatal(err)
	}
	f := start(t, func(c *api.Config) { c.TemporalUI = target })
	if resp, text := f.call(t, http.MethodGet, "/temporal/", ""); resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	select {
	case <-closed:
		t.Fatal("the connection is not kept for the next page")
	default:
	}
	f.server.Drain()
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Error("the connection outlives the server")
	}
}
