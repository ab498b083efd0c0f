// Command bench measures turns, ingestion and the code graph against what the servers and
// the parser beneath them can do, in one run on one machine: each figure stands beside a bare
// reference that was measured alternately with it. It starts its own servers, prints a table,
// and writes JSON.
//
//	go run ./internal/bench [-quick] [-only PART] [-layout LAYOUT] [-waiting N] [-out FILE] [-cpuprofile FILE]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/embedded"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	quick := flag.Bool("quick", false, "a tenth of the samples: a check that everything runs, not a measurement")
	out := flag.String("out", "", "file for the figures as JSON")
	only := flag.String("only", "", "measure this part alone: "+strings.Join(partNames(), ", "))
	layout := flag.String("layout", "", "measure turns in this layout alone: combined or split")
	waiting := flag.Int("waiting", waitingTurns, "how many turns wait for a person at once")
	profile := flag.String("cpuprofile", "", "file for a CPU profile of this process; that of a worker beside it gets the ending .worker")
	apart := flag.String("worker", "", "used by this program itself: be a worker of another one, which says how")
	flag.Parse()
	err := error(nil)
	if *apart != "" {
		err = serveApart(ctx, *apart)
	} else {
		err = run(ctx, settings{*quick, *waiting, *only, *layout, *out, *profile})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// settings are what the command line says.
type settings struct {
	quick                      bool
	waiting                    int
	only, layout, out, profile string
}

func run(ctx context.Context, s settings) error {
	if s.only != "" && !slices.Contains(partNames(), s.only) {
		return fmt.Errorf("there is no part %q, but %s", s.only, strings.Join(partNames(), ", "))
	}
	if !slices.Contains([]string{"", layoutName(false), layoutName(true)}, s.layout) {
		return fmt.Errorf("there is no layout %q, but %s and %s", s.layout, layoutName(false), layoutName(true))
	}
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
		NoTemporal: s.only == "ingest" || s.only == "graph" || slices.Contains(ingestParts, s.only), // they need the database alone
		Log:        zerolog.Nop(), Progress: func(p embedded.Progress) {
			if !p.Ended && p.Elapsed > 5*time.Second {
				say(p.Step)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("start the servers: %w", err)
	}
	defer func() { _ = servers.Stop() }()
	b := &bench{servers: servers, say: say, scale: 1, only: s.only, onlyLayout: s.layout, waiting: s.waiting}
	if s.profile != "" {
		b.workerProfile = s.profile + ".worker"
	}
	if s.quick {
		b.scale = 10
	}
	stop, err := startProfile(s.profile)
	if err != nil {
		return err
	}
	defer stop()
	report := Report{
		At: time.Now().UTC(), Machine: fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
	}
	if report.Rows, err = b.all(ctx); err != nil {
		return err
	}
	report.print(os.Stdout)
	return report.save(s.out)
}

// startProfile begins a CPU profile where a file is named for it; stop ends it.
func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("make the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("start the profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close() // a profile that is cut short shows when it is read
	}, nil
}

// bench is a run of all measurements.
type bench struct {
	servers    *embedded.Stack
	say        func(string)
	scale      int    // by which the numbers of samples are divided
	only       string // the part to measure; "" for all
	onlyLayout string // the layout to measure turns in; "" for both
	waiting    int    // how many turns wait at once
	// workerProfile is the file for a CPU profile of a worker in a process of its own; "" for none.
	workerProfile string
}

func (b *bench) samples(n int) int { return max(2, n/b.scale) }

// part is a group of measurements.
type part struct {
	name, title string
	do          func(*bench, context.Context) ([]Row, error)
}

var parts = []part{
	{"turns", "turns", (*bench).layouts},
	{"waiting", "turns that wait for a person", (*bench).waitingRun},
	{"memory", "memory of an idle process", (*bench).idle},
	{"ingest", "reading of repositories", (*bench).ingest},
	{"graph", "questions of the code graph", (*bench).graph},
	{"machines", "commands on machines", (*bench).machines},
}

// turnPart is a measurement of a layout: a part of the part "turns".
type turnPart struct {
	name, title string
	do          func(*bench, context.Context, *house) ([]Row, error)
}

var turnParts = []turnPart{
	{"rounds", "turns on a model that takes no time", (*bench).turns},
	{"arrival", "from the request to the model", (*bench).arrival},
	{"streams", "from the model's first byte to its readers", (*bench).firstByte},
	{"crowd", "fifty turns at once", (*bench).crowd},
	{"held", "memory of running turns", (*bench).turnMemory},
}

func partNames() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	for _, p := range turnParts {
		names = append(names, p.name)
	}
	return slices.Concat(names, waitingParts, ingestParts)
}

// wants reports whether a part is to be measured: it is named, or what it is a part of is.
func (b *bench) wants(name string) bool {
	ofTurns := func(p turnPart) bool { return p.name == b.only }
	return b.only == "" || b.only == name || name == "turns" && slices.ContainsFunc(turnParts, ofTurns) ||
		name == "waiting" && slices.Contains(waitingParts, b.only) || name == "ingest" && slices.Contains(ingestParts, b.only)
}

// all measures the parts, or only the one that is named.
func (b *bench) all(ctx context.Context) ([]Row, error) {
	var rows []Row
	for _, p := range parts {
		if !b.wants(p.name) {
			continue
		}
		b.say(p.title)
		found, err := p.do(b, ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.title, err)
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

func (b *bench) layouts(ctx context.Context) ([]Row, error) {
	var rows []Row
	for _, split := range []bool{false, true} {
		if b.onlyLayout != "" && b.onlyLayout != layoutName(split) {
			continue
		}
		found, err := b.layout(ctx, split)
		if err != nil {
			return nil, fmt.Errorf("layout %s: %w", layoutName(split), err)
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

func (b *bench) idle(ctx context.Context) ([]Row, error) {
	row, err := idleMemory(ctx, b.servers)
	return []Row{row}, err
}

// layout measures everything that depends on where API and worker run.
func (b *bench) layout(ctx context.Context, split bool) (rows []Row, err error) {
	h, err := openHouse(ctx, b.servers, split)
	if err != nil {
		return nil, err
	}
	defer h.close()
	for _, m := range turnParts {
		if b.only != "turns" && !b.wants(m.name) {
			continue
		}
		b.say(layoutName(split) + ": " + m.title)
		found, err := m.do(b, ctx, h)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.title, err)
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
