package main

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/knowledge"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
	"github.com/harvest-engine/harvest/internal/knowledge/lang"
	"github.com/harvest-engine/harvest/internal/postgres"
)

// What the ingestion is held to.
const (
	extractLeast = 0.6  // throughput of parse and extract, as a share of bare parsing
	ingestLeast  = 0.3  // throughput of the whole ingestion, likewise
	changeLimit  = 0.05 // cost of a version with changed bodies, as a share of the first
	growthLimit  = 12   // cost of ten times the symbols, as a multiple
)

const bareParsing = "bare tree-sitter parsing of the same Go files"

// ingestion reads repositories straight into a database of its own.
type ingestion struct {
	*bench
	dir    string // for sources; gone with the measurement
	goroot string
	pool   *pgxpool.Pool
	store  *pg.Store
	reader *knowledge.Reader
	meter  meter
}

// ingestParts are what the part "ingest" is made of.
var ingestParts = []string{"library", "growth"}

// ingest measures the reading of repositories beside bare parsing.
func (b *bench) ingest(ctx context.Context) ([]Row, error) {
	in, err := b.openIngestion(ctx)
	if err != nil {
		return nil, err
	}
	defer in.close()
	var rows []Row
	if b.only == "ingest" || b.wants("library") {
		if rows, err = in.library(ctx); err != nil {
			return nil, fmt.Errorf("standard library: %w", err)
		}
	}
	if b.only == "ingest" || b.wants("growth") {
		growth, err := in.growth(ctx)
		if err != nil {
			return nil, fmt.Errorf("generated sources: %w", err)
		}
		rows = append(rows, growth)
	}
	return rows, nil
}

// openIngestion prepares an empty database: what other measurements left would be paid for.
func (b *bench) openIngestion(ctx context.Context) (in *ingestion, err error) {
	in = &ingestion{bench: b, meter: newMeter(b.servers.PIDs()["postgres"])}
	if in.goroot, err = output(ctx, "", "go", "env", "GOROOT"); err != nil {
		return nil, err
	}
	dsn, err := freshDatabase(ctx, b.servers.DSN(), "ingest_bench")
	if err != nil {
		return nil, err
	}
	if err := postgres.Migrate(ctx, dsn); err != nil {
		return nil, err
	}
	if in.dir, err = os.MkdirTemp("", "harvest-ingest-"); err != nil {
		return nil, err
	}
	if in.pool, err = postgres.Open(ctx, dsn); err != nil {
		_ = os.RemoveAll(in.dir)
		return nil, err
	}
	in.store = pg.New(in.pool)
	in.reader = knowledge.NewReader(knowledge.Config{
		Sources: in.store, Graph: in.store,
		Git:       gitrepo.NewStore(gitrepo.Config{Dir: filepath.Join(in.dir, "mirrors")}),
		Extractor: knowledge.Extractor{Version: lang.Version, Detect: lang.Detect, Extract: lang.Extract},
		Workers:   runtime.GOMAXPROCS(0), GOROOT: in.goroot,
	})
	return in, nil
}

func (in *ingestion) close() {
	in.pool.Close()
	_ = os.RemoveAll(in.dir) // what stays of it lies among temporary files
}

// freshDatabase makes an empty database beside that of dsn, and gives its address.
func freshDatabase(ctx context.Context, dsn, name string) (string, error) {
	pool, err := postgres.Open(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, "create database "+name); err != nil {
		return "", fmt.Errorf("make database %s: %w", name, err)
	}
	address, err := url.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("read the database's address: %w", err)
	}
	address.Path = "/" + name
	return address.String(), nil
}

// library measures Go's standard library: the first version, and two that change it.
func (in *ingestion) library(ctx context.Context) ([]Row, error) {
	in.say("ingest: preparing the standard library")
	lib, err := in.makeLibrary(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := in.store.SaveRepository(ctx, lib.repo); err != nil {
		return nil, err
	}
	costs := make([]time.Duration, len(libraryVersions))
	for i, version := range libraryVersions {
		in.say("ingest: " + lib.name + ", " + version)
		repo := lib.repo
		repo.Refs = []string{version}
		if costs[i], _, err = in.read(ctx, repo); err != nil {
			return nil, fmt.Errorf("%s: %w", version, err)
		}
	}
	in.say("ingest: bare parsing of " + lib.name)
	files, err := in.store.Files(ctx, lib.repo.Name, firstVersion, "", math.MaxInt32)
	if err != nil {
		return nil, err
	}
	speeds, err := compareParsing(ctx, lib.dir, goFiles(files))
	if err != nil {
		return nil, err
	}
	return in.libraryRows(lib, costs, speeds), nil
}

func (in *ingestion) libraryRows(lib library, costs []time.Duration, speeds parsing) []Row {
	first := costs[0].Seconds()
	against := func(name string, cost time.Duration, limit float64) Row {
		return Row{
			Name: lib.name + ": " + name, Unit: "CPU s", Ours: cost.Seconds(), Bare: first, Ratio: cost.Seconds() / first, Limit: limit,
			Reference: "the first version; " + in.meter.covers(),
		}
	}
	whole := speeds.megabytes / first
	return []Row{
		{
			Name: lib.name + ": parse and extract", Unit: "MB/CPU s", Ours: speeds.extract(), Bare: speeds.bare(), Ratio: speeds.extract() / speeds.bare(),
			LeastRatio: extractLeast, Reference: bareParsing,
		},
		{
			Name: lib.name + ": whole ingest", Unit: "MB/CPU s", Ours: whole, Bare: speeds.bare(), Ratio: whole / speeds.bare(),
			LeastRatio: ingestLeast, Reference: bareParsing + "; " + in.meter.covers(),
		},
		against(fmt.Sprintf("%d of %d Go files changed in bodies", lib.changed, lib.files), costs[1], changeLimit),
		against("an exported function changed", costs[2], 0),
	}
}

// read ingests what repo asks for, and gives what that cost.
func (in *ingestion) read(ctx context.Context, repo domain.Repository) (cost time.Duration, detail domain.VersionDetail, err error) {
	runtime.GC() // what was there before is not charged
	cost, err = in.meter.measure(func() error {
		refs, err := in.reader.Sync(ctx, repo, nil)
		if err != nil {
			return err
		}
		for _, ref := range refs {
			if detail, err = in.reader.Ingest(ctx, repo, ref, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, detail, err
	}
	// The server cleans up after a large load when it likes: done now, it is not charged to
	// whatever comes next.
	_, err = in.pool.Exec(ctx, "vacuum analyze")
	return cost, detail, err
}
