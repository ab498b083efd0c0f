package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/embedded"
)

func (p *program) examineConfiguration(_ context.Context, cfg *config.Config) []finding {
	from := "defaults and environment (no " + defaultConfig + " here)"
	if p.configPath != "" {
		from = p.configPath
	} else if _, err := os.Stat(defaultConfig); err == nil {
		from = defaultConfig
	}
	found := []finding{{name: "configuration", detail: from}}
	for _, n := range cfg.Notices {
		found = append(found, finding{name: "configuration", detail: n.String(), notice: true})
	}
	return found
}

// examineFolder looks at the data folder, and whether a harvest runs on it.
func (p *program) examineFolder(ctx context.Context, cfg *config.Config) []finding {
	dir := cfg.Data.Dir
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		if err := writable(filepath.Dir(dir)); err != nil {
			return fail("data folder", err, "make "+dir+" yourself, or choose another folder with --data-dir")
		}
		return []finding{{name: "data folder", detail: dir + " (made by the first start)"}}
	}
	if err := writable(dir); err != nil {
		return fail("data folder", err, "make "+dir+" writable for this user, or choose another folder with --data-dir")
	}
	found := []finding{{name: "data folder", detail: dir}}
	running, err := readInstance(dir)
	pid, moving := livingHolder(dir)
	switch apart := !cfg.Database.URL.Empty() && cfg.Temporal.Address != ""; {
	case err != nil && apart:
		return append(found, finding{name: "harvest", detail: "no harvest up runs on this folder; serve and worker are listed as processes", notice: true})
	case err != nil && moving:
		return append(found, finding{name: "harvest", detail: fmt.Sprintf("process %d is starting or stopping", pid), notice: true})
	case err != nil:
		return append(found, finding{name: "harvest", detail: "not running", remedy: "start it with: harvest up"})
	}
	token, err := readToken(dir)
	if err != nil {
		return append(found, fail("harvest", err, "run this as the user who started harvest")...)
	}
	api := client.New(running.API, token, 0)
	defer api.Close()
	if err := api.Ready(ctx); err != nil {
		return append(found, finding{name: "harvest", detail: fmt.Sprintf("is not well at %s: %v", running.API, err),
			remedy: fmt.Sprintf("if process %d is gone, start it with: harvest up; what was under way goes on", running.PID), fault: true})
	}
	return append(found, finding{name: "harvest", detail: fmt.Sprintf("runs at %s (process %d, version %s)", running.API, running.PID, running.Version)})
}

// fairRoom is the free space, in bytes, that a reading of a large repository may need.
const fairRoom = 1 << 30

// examineDisk looks for room where the data is.
func examineDisk(_ context.Context, cfg *config.Config) []finding {
	free, ok := embedded.FreeSpace(cfg.Data.Dir)
	if !ok {
		return nil
	}
	found := finding{name: "disk", detail: fmt.Sprintf("%.1f GB are free for %s", float64(free)/1e9, cfg.Data.Dir)}
	if free < fairRoom {
		found.remedy = "make room: PostgreSQL stops when the disk is full, and goes on once it isn't"
		found.fault = embedded.CheckRoom(cfg.Data.Dir) != nil
	}
	return []finding{found}
}

func writable(dir string) error {
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	probe.Close()
	return os.Remove(probe.Name())
}

func examineGit(ctx context.Context, _ *config.Config) []finding {
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return fail("git", err, "install git: repositories are read through it")
	}
	return []finding{{name: "git", detail: strings.TrimSpace(string(out))}}
}

func examineGo(ctx context.Context, _ *config.Config) []finding {
	out, err := exec.CommandContext(ctx, "go", "version").Output()
	if err != nil {
		return []finding{{name: "go", detail: "not found", remedy: "install Go to have calls in Go code resolved by its types"}}
	}
	return []finding{{name: "go", detail: strings.TrimSpace(string(out))}}
}

// examineOwnPostgres tells which programs an own server would run from.
func examineOwnPostgres(ctx context.Context) []finding {
	if b, ok := embedded.InstalledPostgres(ctx, 0); ok {
		return []finding{{name: "postgres", detail: fmt.Sprintf("own server, PostgreSQL %d from %s", b.Major, b.Dir)}}
	}
	return []finding{{name: "postgres", detail: "own server; no PostgreSQL is installed, so it is fetched at the first start"}}
}

// examineOwnTemporal tells where the own Temporal server's program comes from.
func examineOwnTemporal(cacheDir string) []finding {
	program, built, err := embedded.LocateTemporalServer(cacheDir)
	switch {
	case err != nil:
		return fail("temporal", err, "put temporald beside harvest, run from a clone, or set TEMPORAL_ADDRESS")
	case built:
		return []finding{{name: "temporal", detail: "own server, " + program}}
	}
	if _, err := exec.LookPath("go"); err != nil {
		return fail("temporal", err, "install Go, so that the own Temporal server can be built, or set TEMPORAL_ADDRESS")
	}
	return []finding{{name: "temporal", detail: "own server; it is built at the first start, which takes some minutes"}}
}
