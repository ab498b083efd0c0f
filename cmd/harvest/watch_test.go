package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// watching runs a command beside the test until it is told to stop; its end must be a good one.
func (p *teamProgram) watching(args ...string) (shows func(part string), stop func() string) {
	p.t.Helper()
	path := filepath.Join(p.dir, domain.NewID())
	file, err := os.Create(path)
	if err != nil {
		p.t.Fatal(err)
	}
	prog := &program{dataDir: filepath.Join(p.dir, "data"), in: os.Stdin, out: file, errs: file,
		env: func(name string) (string, bool) { value, ok := p.env[name]; return value, ok }}
	ctx, cancel := context.WithCancel(p.t.Context())
	over := make(chan int, 1)
	go func() { over <- prog.run(ctx, args) }()
	read := func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			p.t.Fatal(err)
		}
		return string(text)
	}
	shows = func(part string) {
		p.t.Helper()
		limit := time.After(patience)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for !strings.Contains(read(), part) {
			select {
			case <-tick.C:
			case code := <-over:
				p.t.Fatalf("harvest %s ended with %d:\n%s", strings.Join(args, " "), code, read())
			case <-limit:
				p.t.Fatalf("harvest %s does not show %q:\n%s", strings.Join(args, " "), part, read())
			}
		}
	}
	return shows, func() string {
		p.t.Helper()
		cancel()
		if code := <-over; code != exitOK {
			p.t.Errorf("harvest %s: %d\n%s", strings.Join(args, " "), code, read())
		}
		file.Close()
		return read()
	}
}

func TestAProjectIsWatched(t *testing.T) {
	t.Parallel()
	_, ada := crew(t, `{"scenes":[{"system":"You are given a question and its answer","rounds":[{"text":"Title: Storage of turns\nNext: Who reads them?\n"}]}],"rounds":[{"text":"In turns."}]}`)
	shows, stop := ada.watching("--plain", "watch", "engine")
	printed, end := ada.watching("watch", "engine", "--json")
	shows("here: ")
	printed(`"presence"`)
	ada.run(exitOK, "", "ask", "--json", "--project", "engine", "Where are turns stored?")
	for _, part := range []string{"asks: Where are turns stored?", "In turns.", "done", "is called now: Storage of turns", "Storage of turns  ask next: Who reads them?"} {
		shows(part)
	}
	printed(`"suggestions"`)
	stop()
	var after string
	for line := range strings.Lines(end()) {
		var e struct {
			EventID string `json:"event_id"`
			Type    domain.EventType
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if e.Type == domain.EventDone {
			after = e.EventID
		}
	}
	again, finish := ada.watching("watch", "engine", "--json", "--after", after)
	again(`"suggestions"`)
	if text := finish(); strings.Contains(text, `"done"`) || !strings.Contains(text, "Storage of turns") {
		t.Errorf("after the end of the turn:\n%s", text)
	}
	ada.run(exitUsage, "", "watch")
	ada.run(exitFailed, "", "watch", "none")
	ada.run(exitFailed, "", "watch", "engine", "--json", "--after", "nonsense")
}
