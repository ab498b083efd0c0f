package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// slowAnswer streams for some seconds.
const slowAnswer = "Greet is called by Twice, which puts two greetings one after the other [sample:main:greet.go:6]."

var slowScript = fmt.Sprintf(`{"rounds": [
	{"text": "I look.", "calls": [{"name": "search_symbols", "input": {"query": "Greet"}}]},
	{"text": %q, "chunk": 2, "delay": "60ms"}
]}`, slowAnswer)

const (
	firstKey  = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	secondKey = "Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA="
)

// split is the two halves of Harvest as processes, on the servers of the tests, each with a
// data folder of its own.
type split struct {
	home
	on   testkit.Servers
	port int
	// tables is the part of the configuration that both halves share.
	tables string
}

func newSplit(t *testing.T) split {
	t.Helper()
	s := split{home: home{dir: t.TempDir()}, on: testkit.Stack(t), port: freePort(t)}
	s.write(t, "script.json", slowScript)
	var queues strings.Builder
	for _, name := range []string{"turns", "models", "tools", "ingest", "deploy"} {
		fmt.Fprintf(&queues, "%s = %q\n", name, name+"-"+domain.NewID())
	}
	s.tables = fmt.Sprintf("[server]\nhost = \"127.0.0.1\"\nport = %d\n[temporal.queues]\n%s[[llm]]\nprovider = \"scripted\"\nscript = %q\n",
		s.port, queues.String(), filepath.Join(s.dir, "script.json"))
	s.configure(t, "serve", firstKey)
	s.configure(t, "worker", firstKey)
	return s
}

// configure writes the configuration of a half, with the key that both are to share.
func (s split) configure(t *testing.T, half, key string) {
	t.Helper()
	s.write(t, half+".toml", s.tables+fmt.Sprintf("[data]\ndir = %q\n[temporal.codec.keys]\nshared = %q\n", filepath.Join(s.dir, half), key))
}

// command prepares a command of the program with a half's configuration.
func (s split) command(half string, args ...string) *exec.Cmd {
	cmd := s.program(context.Background(), append(args, "--config", half+".toml")...)
	cmd.Env = append(cmd.Env, "DATABASE_URL="+s.on.DSN, "TEMPORAL_ADDRESS="+s.on.TemporalAddress)
	return cmd
}

// start runs a half until it is killed or the test ends.
func (s split) start(t *testing.T, half string) *exec.Cmd {
	t.Helper()
	cmd := s.command(half, half)
	log, err := os.Create(filepath.Join(s.dir, half+"-"+domain.NewID()+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s:\n%s", filepath.Base(log.Name()), text)
		}
	})
	return cmd
}

// end runs a command of a half to its end.
func (s split) end(t *testing.T, half string, args ...string) (out string, code int) {
	t.Helper()
	cmd := s.command(half, args...)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// connect waits for the API and gives a client of it.
func (s split) connect(t *testing.T) *client.Client {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		token, err := readToken(filepath.Join(s.dir, "serve"))
		if err == nil {
			c := client.New("http://127.0.0.1:"+strconv.Itoa(s.port), token, patience)
			if c.Ready(t.Context()) == nil {
				t.Cleanup(c.Close)
				return c
			}
			c.Close()
		}
		if time.Now().After(deadline) {
			t.Fatalf("serve does not get ready: %v", err)
		}
		<-time.After(50 * time.Millisecond)
	}
}

func (s split) read(t *testing.T, api *client.Client) {
	t.Helper()
	run, err := api.AddRepository(t.Context(), client.Source{URL: s.sample(t)})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range api.FollowIngest(t.Context(), run.ID) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if run, err = api.Ingest(t.Context(), run.ID); err != nil || run.Status != domain.IngestDone {
		t.Fatalf("read: %+v, %v", run, err)
	}
}

// heard puts together what a reader of a turn has at each moment.
type heard struct {
	text   string // of the running round
	pieces int
	begun  bool // the slow round has begun to speak
}

func (h *heard) take(t *testing.T, event client.Event) {
	t.Helper()
	switch event.Type {
	case domain.EventTextDelta:
		var piece struct{ Text string }
		if err := event.Decode(&piece); err != nil {
			t.Fatal(err)
		}
		h.text, h.pieces = h.text+piece.Text, h.pieces+1
		h.begun = h.begun || strings.HasPrefix(h.text, "Greet is")
	case domain.EventToolResult, domain.EventRetry:
		h.text = ""
	}
}

// A turn streams from a worker to the API as it is said, and outlives its worker.
func TestHalvesApart(t *testing.T) {
	t.Parallel()
	s := newSplit(t)
	s.start(t, "serve")
	api := s.connect(t)
	first := s.start(t, "worker")
	s.read(t, api)
	if conn, err := net.DialTimeout("tcp", "127.0.0.2:"+strconv.Itoa(s.port), time.Second); err == nil {
		conn.Close()
		t.Error("serve listens on more than [server] host")
	}

	id, events, err := api.Ask(t.Context(), client.Query{Query: "Who calls Greet?"}, domain.NewID())
	if err != nil {
		t.Fatal(err)
	}
	var reader heard
	killed, terminal := false, 0
	for event, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		reader.take(t, event)
		if reader.begun && !killed {
			killed = true
			if reader.text == slowAnswer {
				t.Error("the answer came all at once")
			}
			_ = first.Process.Kill()
			s.wantKeysCounted(t)
			s.start(t, "worker")
		}
		if event.Type.Terminal() {
			terminal++
		}
	}
	turn, err := api.Turn(t.Context(), id)
	if err != nil || turn.Status != domain.TurnDone || turn.Answer != slowAnswer || !turn.Sources[0].Verified {
		t.Errorf("the turn ended %s with %q and %+v: %s, %v", turn.Status, turn.Answer, turn.Sources, turn.Error, err)
	}
	if !killed || terminal != 1 || reader.text != slowAnswer || reader.pieces < len(slowAnswer)/4 {
		t.Errorf("the reader has %q in %d pieces, with %d terminal events", reader.text, reader.pieces, terminal)
	}
}

// wantKeysCounted looks at the doctor while a turn is open.
func (s split) wantKeysCounted(t *testing.T) {
	t.Helper()
	out, code := s.end(t, "worker", "doctor")
	for line := range strings.Lines(out) { // the tests share a Temporal: others' runs have keys of their own
		if strings.HasPrefix(line, "! ") && !strings.Contains(line, "is not here, and ") {
			t.Errorf("the doctor finds: %s", line)
		}
	}
	if !strings.Contains(out, "is not here, and ") {
		wantCode(t, exitOK, code, out)
	}
	wantParts(t, out, `active key "shared" of [temporal.codec]: 1 open runs or watches and 0 stored values use it`, "process         harvest serve on ")
}

// Halves whose keys differ are told apart at the start, and by the doctor.
func TestHalvesWithDifferentKeys(t *testing.T) {
	t.Parallel()
	s := newSplit(t)
	s.start(t, "serve")
	s.connect(t)
	s.configure(t, "worker", secondKey)
	for _, command := range []string{"worker", "doctor"} {
		out, code := s.end(t, "worker", command)
		wantCode(t, exitFailed, code, out)
		wantParts(t, out, "another key under the id \"shared\"", "[temporal.codec]", "harvest serve on ")
		if strings.Contains(out, secondKey) || strings.Contains(out, firstKey) {
			t.Errorf("%s shows a key:\n%s", command, out)
		}
	}
	// Without keys in the configuration each data folder has its own.
	s.write(t, "worker.toml", s.tables+fmt.Sprintf("[data]\ndir = %q\n", filepath.Join(s.dir, "worker")))
	out, code := s.end(t, "worker", "worker")
	wantCode(t, exitFailed, code, out)
	wantParts(t, out, `encrypts with the key "shared", which is not here`, keyFile)
	// A key that is there, but not active, is enough to read what the other writes, not the reverse.
	s.write(t, "worker.toml", s.tables+fmt.Sprintf("[data]\ndir = %q\n[temporal.codec]\nactive = \"next\"\nkeys = {shared = %q, next = %q}\n",
		filepath.Join(s.dir, "worker"), firstKey, secondKey))
	out, code = s.end(t, "worker", "worker")
	wantCode(t, exitFailed, code, out)
	wantParts(t, out, `does not have the key "next", with which this one encrypts`)
}

func TestKeyring(t *testing.T) {
	t.Parallel()
	cfg := rigConfig(t, oneRound, scriptedModel)
	made, err := keyring(cfg)
	if err != nil || len(made) != 1 {
		t.Fatalf("made %d keys, %v", len(made), err)
	}
	again, err := keyring(cfg)
	if err != nil || !bytes.Equal(made[0].Secret, again[0].Secret) {
		t.Errorf("another key at the second start, %v", err)
	}
	dir := cfg.Data.Dir
	cfg = rigConfig(t, oneRound, fmt.Sprintf("[temporal.codec]\nactive = \"b\"\nkeys = {b = %q, c = %q}\n", firstKey, secondKey)+scriptedModel)
	cfg.Data.Dir = dir
	// What the folder's key has encrypted stays readable.
	both, err := keyring(cfg)
	if err != nil || len(both) != 3 || both[0].ID != made[0].ID || both.Active() != "b" {
		t.Errorf("the keys are %v, %v", both.Fingerprints(), err)
	}
}
