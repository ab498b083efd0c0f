// Command bench measures turns and the code graph against what the servers beneath them can
// do, in one run on one machine: each figure stands beside a bare reference that was measured
// alternately with it. It starts its own servers, prints a table, and writes JSON.
//
//	go run ./internal/bench [-quick] [-out FILE]
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"time"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/embedded"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	quick := flag.Bool("quick", false, "a tenth of the samples: a check that everything runs, not a measurement")
	out := flag.String("out", "", "file for the figures as JSON")
	flag.Parse()
	if err := run(ctx, *quick, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, quick bool, out string) error {
	dir, err := os.MkdirTemp("", "harvest-bench-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL may run as another user
		return fmt.Errorf("open the folder: %w", err)
	}
	say := func(text string) { fmt.Fprintf(os.Stderr, "%s %s\n", time.Now().Format(time.TimeOnly), text) }
	servers, err := embedded.Start(ctx, embedded.Options{
		DataDir: filepath.Join(dir, "data"), CacheDir: embedded.DefaultCacheDir(), Namespace: "default",
		Log: zerolog.Nop(), Progress: func(p embedded.Progress) {
			if !p.Ended && p.Elapsed > 5*time.Second {
				say(p.Step)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("start the servers: %w", err)
	}
	defer func() { _ = servers.Stop() }()
	b := &bench{servers: servers, say: say, scale: 1}
	if quick {
		b.scale = 10
	}
	report := Report{
		At: time.Now().UTC(), Machine: fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
	}
	if report.Rows, err = b.all(ctx); err != nil {
		return err
	}
	report.print(os.Stdout)
	if out == "" {
		return nil
	}
	body, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return fmt.Errorf("render the report: %w", err)
	}
	return os.WriteFile(out, append(body, '\n'), 0o644)
}

// bench is a run of all measurements.
type bench struct {
	servers *embedded.Stack
	say     func(string)
	scale   int // by which the numbers of samples are divided
}

func (b *bench) samples(n int) int { return max(2, n/b.scale) }

func (b *bench) all(ctx context.Context) ([]Row, error) {
	var rows []Row
	for _, split := range []bool{false, true} {
		found, err := b.layout(ctx, split)
		if err != nil {
			return nil, fmt.Errorf("layout %s: %w", layoutName(split), err)
		}
		rows = append(rows, found...)
	}
	b.say("memory of an idle process")
	idle, err := idleMemory(ctx, b.servers)
	if err != nil {
		return nil, fmt.Errorf("idle memory: %w", err)
	}
	b.say("questions of the code graph")
	found, err := b.graph(ctx)
	if err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	return append(append(rows, idle), found...), nil
}

// layout measures everything that depends on where API and worker run.
func (b *bench) layout(ctx context.Context, split bool) (rows []Row, err error) {
	h, err := openHouse(ctx, b.servers, split)
	if err != nil {
		return nil, err
	}
	defer h.close()
	for _, m := range []struct {
		what string
		do   func(context.Context, *house) ([]Row, error)
	}{
		{"turns on a model that takes no time", b.turns},
		{"from the request to the model", b.arrival},
		{"from the model's first byte to its readers", b.firstByte},
		{"fifty turns at once", b.crowd},
		{"memory of running turns", b.turnMemory},
	} {
		b.say(layoutName(split) + ": " + m.what)
		found, err := m.do(ctx, h)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.what, err)
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

func layoutName(split bool) string {
	if split {
		return "split"
	}
	return "combined"
}
