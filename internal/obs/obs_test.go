package obs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	stdlog "log"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/obs"
	sdklog "go.temporal.io/sdk/log"
)

func entry(t *testing.T, out *bytes.Buffer) map[string]any {
	t.Helper()
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Fatalf("%d lines, want one: %q", n, out)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("not JSON: %v in %q", err, out)
	}
	return got
}

func TestEntryHasItsFields(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := obs.New(&out, obs.FormatAuto, "info", "up")
	if err != nil {
		t.Fatal(err)
	}
	ctx := obs.With(context.Background(), obs.IDs{RequestID: "r", TurnID: "old", ConversationID: "c"})
	ctx = obs.With(ctx, obs.IDs{TurnID: "t", WorkflowID: "turn/t"})
	log.Debug().Msg("hidden")
	log.Info().Ctx(ctx).Int("n", 3).Msg("turn_started\nnot a second line")
	got := entry(t, &out)
	want := map[string]any{"level": "info", "service": "up", "event": "turn_started\nnot a second line", "n": 3.0,
		"request_id": "r", "turn_id": "t", "conversation_id": "c", "workflow_id": "turn/t"}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s = %v, want %v", k, got[k], v)
		}
	}
	if at, err := time.Parse(time.RFC3339Nano, got["timestamp"].(string)); err != nil || time.Since(at) > time.Hour {
		t.Errorf("timestamp %v: %v", got["timestamp"], err)
	}
}

func TestConsole(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := obs.New(&out, obs.FormatConsole, "debug", "up")
	if err != nil {
		t.Fatal(err)
	}
	log.Debug().Str("address", "x").Msg("listening")
	if text := out.String(); !strings.Contains(text, "listening") || strings.Contains(text, "{") || strings.Contains(text, "\x1b") {
		t.Errorf("console form: %q", text)
	}
}

func TestTemporalLogger(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, _ := obs.New(&out, obs.FormatJSON, "debug", "worker")
	l := sdklog.With(obs.TemporalLogger(log), "TaskQueue", "turns", "WorkflowID", "turn/1")
	l.Warn("Activity error.", "Error", errors.New("boom"), "Attempt", 2, "odd")
	got := entry(t, &out)
	want := map[string]any{"level": "warn", "event": "Activity error.", "TaskQueue": "turns", "workflow_id": "turn/1", "turn_id": "1",
		"Error": "boom", "Attempt": 2.0, "extra": "odd"}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s = %v, want %v", k, got[k], v)
		}
	}
	out.Reset()
	quiet, _ := obs.New(&out, obs.FormatJSON, "error", "worker")
	obs.TemporalLogger(quiet).Info("idle")
	obs.TemporalLogger(quiet).Debug("idle")
	if out.Len() > 0 {
		t.Errorf("logged below its level: %q", &out)
	}
	obs.TemporalLogger(quiet).Error("down")
	if got := entry(t, &out); got["event"] != "down" {
		t.Errorf("event = %v", got["event"])
	}
}

func TestNewRefusesUnknownSettings(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"json", "loud"}, {"json", ""}, {"xml", "info"}} {
		if _, err := obs.New(&bytes.Buffer{}, c[0], c[1], "x"); err == nil {
			t.Errorf("format %q with level %q was accepted", c[0], c[1])
		}
	}
}

func TestLibrariesLogAsWeDo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := obs.New(&out, obs.FormatJSON, "info", "worker")
	if err != nil {
		t.Fatal(err)
	}
	theirs := stdlog.New(obs.Library(log), "", 0)
	theirs.Printf("http: TLS handshake error from %s\n", "10.0.0.1")
	theirs.Print("")
	var entry map[string]any
	if err := json.Unmarshal(out.Bytes(), &entry); err != nil {
		t.Fatalf("not one JSON object: %v\n%s", err, out.String())
	}
	if entry["event"] != "library_log" || entry["level"] != "warn" || entry["text"] != "http: TLS handshake error from 10.0.0.1" {
		t.Errorf("entry = %v", entry)
	}
}
