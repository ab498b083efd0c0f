package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/testkit"
	"github.com/harvest-engine/harvest/tools"
)

// patience bounds waits for what must come: generous, since machines under test are busy.
const patience = 5 * time.Minute

// rig is Harvest as `up` puts it together, in the process of the test and on its servers.
type rig struct {
	*assembly
	on    testkit.Servers
	base  string // of the API
	token string
	api   *client.Client
	stop  func() // before the test ends
}

// newRig runs an assembly until the test ends. The configuration's model is a script.
func newRig(t *testing.T, script, toml string) *rig {
	t.Helper()
	return runRig(t, rigConfig(t, script, toml), testkit.Stack(t))
}

func rigConfig(t *testing.T, script, toml string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "script.json")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(toml, "SCRIPT", strconv.Quote(path))
	cfg, err := config.Parse("test.toml", []byte(text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	cfg.Data.Dir = dir
	cfg.Temporal.Queues.Turns = "rig-" + domain.NewID() // the tests share a Temporal
	return cfg
}

func runRig(t *testing.T, cfg *config.Config, on testkit.Servers) *rig {
	t.Helper()
	return runRigWith(t, cfg, on)
}

// runRigWith runs an assembly with more tools than the program's own.
func runRigWith(t *testing.T, cfg *config.Config, on testkit.Servers, beside ...tools.Tool) *rig {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	a, err := assemble(ctx, cfg, rigLog(t, cfg.Data.Dir), servers{dsn: on.DSN, temporal: on.TemporalAddress, inTheOpen: true, combined: true, beside: beside})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{assembly: a, on: on, base: "http://" + listener.Addr().String(), token: domain.NewID() + domain.NewID()}
	ready, over := make(chan struct{}), make(chan error, 1)
	go func() {
		over <- a.run(ctx, halves{
			kind: "up", listener: listener, token: r.token, temporalUI: on.TemporalUI, worker: true,
			ready: func(context.Context) error { close(ready); return nil },
		})
	}()
	r.stop = sync.OnceFunc(func() {
		stop()
		if err := <-over; err != nil {
			t.Errorf("the run ended: %v", err)
		}
		a.close()
	})
	t.Cleanup(r.stop)
	select {
	case <-ready:
	case err := <-over:
		over <- err
		t.Fatalf("the run ended before it was ready: %v", err)
	}
	r.api = client.New(r.base, r.token, patience)
	t.Cleanup(r.api.Close)
	return r
}

// rigLog writes to a file, which is shown where the test fails.
func rigLog(t *testing.T, dir string) zerolog.Logger {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		file.Close()
		if text, err := os.ReadFile(file.Name()); t.Failed() && err == nil {
			t.Logf("the log:\n%s", text)
		}
	})
	return zerolog.New(file)
}

// ask follows a turn to its end and gives its events and the turn.
func (r *rig) ask(t *testing.T, q client.Query) ([]client.Event, domain.Turn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	id, following, err := r.api.Ask(ctx, q, domain.NewID())
	if err != nil {
		t.Fatal(err)
	}
	var events []client.Event
	for event, err := range following {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	turn, err := r.api.Turn(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return events, turn
}
