package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agent"
	"github.com/harvest-engine/harvest/internal/agent/settings"
)

// local is an agent in this process, of which what the program fixes can be set.
type local struct {
	log  logbook
	stop func() // ends it, and waits for that
}

// newLocal runs an agent that has joined the server before; change may be nil.
func newLocal(t *testing.T, s *server, change func(*agent.Config)) *local {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	text := fmt.Sprintf("server_url = %q\nagent_token = %q\n", s.URL, permanentToken)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return localBy(t, path, change)
}

// localBy runs an agent by its settings.
func localBy(t *testing.T, path string, change func(*agent.Config)) *local {
	t.Helper()
	file, err := settings.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	l := &local{}
	cfg := agent.Config{Settings: file, Version: "test", Env: os.Environ(), Errs: os.Stderr, Log: slog.New(slog.NewTextHandler(&l.log, nil))}
	if change != nil {
		change(&cfg)
	}
	a, err := agent.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	l.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the agent ended by %v", err)
		}
	})
	t.Cleanup(func() {
		l.stop()
		if t.Failed() {
			t.Logf("the agent's log:\n%s", l.log.String())
		}
	})
	return l
}

// logbook is the log of an agent, which can be waited for.
type logbook struct {
	mu      sync.Mutex
	buffer  bytes.Buffer
	changed chan struct{} // closed with the next line; nil where nobody waits
}

func (b *logbook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
	return b.buffer.Write(p)
}

func (b *logbook) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// says waits until the log says something.
func (b *logbook) says(t *testing.T, text string) {
	t.Helper()
	b.saysAgain(t, text, 1)
}

// saysAgain waits until the log has said something n times.
func (b *logbook) saysAgain(t *testing.T, text string, n int) {
	t.Helper()
	limit := time.After(patience)
	for {
		b.mu.Lock()
		if strings.Count(b.buffer.String(), text) >= n {
			b.mu.Unlock()
			return
		}
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		changed := b.changed
		b.mu.Unlock()
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("the log does not say %q %d times", text, n)
		}
	}
}
