package agent_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

func TestJoinsKeepsItsTokenAndRunsCommands(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start("GREETING=hello")
	s.send(agentwire.Message{
		Type: agentwire.Execute, RequestID: "c1", TimeoutSecs: 10, Env: map[string]string{"WHO": "wörld"},
		Command: `echo "$GREETING $WHO"; printf '\xff\x00\xfe' >&2; exit 7`,
	})
	result := s.result("c1")
	if got := string(result.StdoutHead); got != "hello wörld\n" {
		t.Errorf("stdout is %q", got)
	}
	if got := string(result.StderrHead); got != "\xff\x00\xfe" {
		t.Errorf("stderr is %q", got)
	}
	if result.ExitCode == nil || *result.ExitCode != 7 || result.Outcome != agentwire.Exited {
		t.Errorf("it ended by %v, %q", result.ExitCode, result.Outcome)
	}
	if result.StdoutBytes != int64(len("hello wörld\n")) || result.StderrBytes != 3 {
		t.Errorf("counted %d and %d bytes", result.StdoutBytes, result.StderrBytes)
	}
	text := d.file(d.config)
	if !strings.Contains(text, `agent_token = "`+permanentToken+`"`) || !strings.HasPrefix(text, "# by hand\n") {
		t.Errorf("the configuration is now:\n%s", text)
	}
	if info, err := os.Stat(d.config); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the configuration's mode is %v, %v", info.Mode(), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	query, err := url.ParseQuery(s.hellos[0].query)
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	if query.Get("hostname") != host || len(query.Get("machine")) != 32 || query.Get("capabilities") != "ack,bytes,batch,cancel,env" {
		t.Errorf("it said of itself: %v", query)
	}
}

func TestConnectsAgainWithThePermanentTokenAndTheSameMachine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.connected()
	s.drop()
	s.connection(2)
	d.stop()
	d.start()
	s.connection(3)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, h := range s.hellos {
		if want := []string{installToken, permanentToken, permanentToken}[i]; h.token != want {
			t.Errorf("connection %d came with %s", i, h.token)
		}
		if h.query != s.hellos[0].query {
			t.Errorf("connection %d said %s, not %s", i, h.query, s.hellos[0].query)
		}
	}
}

func TestStreamsOutputInOrderAndInBatches(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	began := time.Now()
	s.execute("c1", `for i in $(seq 1000); do echo "line $i"; echo "problem $i" >&2; done; while [ ! -e `+d.folder+`/go ]; do read -t 0.02 <> <(:); done; echo end`)
	s.started("c1", 1)
	s.output("c1", "line 1000\n")
	if err := os.WriteFile(filepath.Join(d.folder, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	result := s.result("c1")
	took := time.Since(began)
	s.mu.Lock()
	defer s.mu.Unlock()
	// Ten a second, and some where it has more at once.
	if posts := len(s.paths("/agent/output")); posts > 10+int(took/(100*time.Millisecond)) {
		t.Errorf("2,000 lines took %d posts in %s", posts, took)
	}
	var offset [2]int64
	var got [2]strings.Builder
	for _, chunk := range s.chunks("c1") {
		stream := 0
		if chunk.Stream == agentwire.Stderr {
			stream = 1
		}
		if chunk.Offset != offset[stream] {
			t.Errorf("a chunk of %s begins at %d, not %d", chunk.Stream, chunk.Offset, offset[stream])
		}
		offset[stream] += int64(len(chunk.Data))
		got[stream].Write(chunk.Data)
	}
	if !strings.HasPrefix(string(result.StdoutHead), got[0].String()) || !strings.HasPrefix(string(result.StderrHead), got[1].String()) {
		t.Error("the chunks are not what the result says")
	}
	if want := "end\n"; !strings.HasSuffix(string(result.StdoutHead), want) {
		t.Errorf("stdout ends by %q", result.StdoutHead[len(result.StdoutHead)-10:])
	}
}

func TestRoundTripIsShort(t *testing.T) {
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.connected()
	// Other tests share the machine: the bounds are far from what a quiet one does, and one round
	// trip is enough to show that nothing waits in it.
	best, alone := time.Hour, false
	deadline := time.Now().Add(patience)
	for i := 0; best > 100*time.Millisecond || !alone; i++ {
		if time.Now().After(deadline) {
			t.Fatalf("the best of %d round trips took %s; one that posted its result alone: %t", i, best, alone)
		}
		posts := func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.posts)
		}
		id, before, began := fmt.Sprintf("c%d", i), posts(), time.Now()
		s.execute(id, "echo hello")
		s.result(id)
		best = min(best, time.Since(began))
		alone = alone || posts() == before+1
	}
}

func decode[T any](t *testing.T, text []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
