package embedded

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// LocateTemporalServer gives the path of the Temporal server's program: beside our own
// program, as a release has it; or where it is built from the source tree into the cache
// folder. built is false where that is still to be done.
func LocateTemporalServer(cacheDir string) (program string, built bool, err error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "temporald")
		if info, err := os.Stat(beside); err == nil && info.Mode().Perm()&0o111 != 0 {
			return beside, true, nil
		}
	}
	source, ok := temporalSource()
	if !ok {
		return "", false, domain.Errorf(domain.CodeUnavailable,
			"the Temporal server's program is neither beside harvest nor can it be built, for want of its source; run harvest from a clone of its repository, put temporald beside it, or set TEMPORAL_ADDRESS")
	}
	hash, err := hashSource(source)
	if err != nil {
		return "", false, err
	}
	program = filepath.Join(cacheDir, "temporald-"+hash, "temporald")
	return program, isBuilt(program), nil
}

// TemporalServer gives the path of the Temporal server's program, and builds it where that
// is still to be done.
func TemporalServer(ctx context.Context, cacheDir string, report ProgressFunc) (string, error) {
	program, built, err := LocateTemporalServer(cacheDir)
	if err != nil || built {
		return program, err
	}
	unlock, err := lockCache(ctx, cacheDir, "temporald", report)
	if err != nil {
		return "", err
	}
	defer unlock()
	if isBuilt(program) {
		return program, nil
	}
	removeOldBuilds(cacheDir)
	source, _ := temporalSource() // it was there a moment ago
	return program, buildTemporal(ctx, source, program, report)
}

func isBuilt(program string) bool {
	now := time.Now()
	return os.Chtimes(program, now, now) == nil // marks it as used, too
}

// temporalSource finds the server's module: where this file was compiled, or below the
// working folder.
func temporalSource() (string, bool) {
	var places []string
	if _, file, _, ok := runtime.Caller(0); ok {
		places = append(places, filepath.Join(filepath.Dir(file), "temporald"))
	}
	if wd, err := os.Getwd(); err == nil {
		places = append(places, filepath.Join(wd, "internal", "embedded", "temporald"))
	}
	for _, dir := range places {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && !info.IsDir() {
			return dir, true
		}
	}
	return "", false
}

// hashSource names a build by all that goes into it.
func hashSource(dir string) (string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return "", fmt.Errorf("list the Temporal server's source: %w", err)
	}
	sort.Strings(names)
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read the Temporal server's source: %w", err)
		}
		fmt.Fprintln(sum, filepath.Base(name), len(text))
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// removeOldBuilds removes builds that nobody has used for a month; each is some 150 MB.
func removeOldBuilds(cacheDir string) {
	builds, _ := filepath.Glob(filepath.Join(cacheDir, "temporald-*")) // the pattern is well-formed
	for _, dir := range builds {
		info, err := os.Stat(filepath.Join(dir, "temporald"))
		if err == nil && time.Since(info.ModTime()) > 30*24*time.Hour {
			_ = os.RemoveAll(dir) // it only costs space
		}
	}
}

func buildTemporal(ctx context.Context, source, program string, report ProgressFunc) (err error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return domain.Errorf(domain.CodeUnavailable,
			"the Temporal server must be built, and the go tool is not on PATH; install Go, or set TEMPORAL_ADDRESS")
	}
	total, err := countPackages(ctx, tool, source, report)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return fmt.Errorf("make the cache folder: %w", err)
	}
	s := beginStep(report, "building the Temporal server (some minutes, the first time only)", "packages")
	defer s.end(&err)
	s.total.Store(total)
	fresh := program + ".new"
	_, err = runGo(ctx, tool, source, func(string) { s.done.Add(1) }, "build", "-v", "-ldflags=-s -w", "-o", fresh, ".")
	if err != nil {
		return err
	}
	if err := os.Rename(fresh, program); err != nil {
		return fmt.Errorf("put the Temporal server in place: %w", err)
	}
	return nil
}

// countPackages also makes the go tool fetch the modules.
func countPackages(ctx context.Context, tool, source string, report ProgressFunc) (total int64, err error) {
	s := beginStep(report, "fetching the modules of the Temporal server", "modules")
	defer s.end(&err)
	out, err := runGo(ctx, tool, source, func(string) { s.done.Add(1) }, "list", "-deps", ".")
	return int64(strings.Count(out, "\n")), err
}

// runGo runs the go tool in the server's module; each line it writes to standard error is
// told to line, and the last ones are in the error.
func runGo(ctx context.Context, tool, dir string, line func(string), args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false")
	var out strings.Builder
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", fmt.Errorf("run the go tool: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("run the go tool: %w", err)
	}
	last := readLines(stderr, line)
	if err := cmd.Wait(); err != nil {
		return "", domain.Wrap(domain.CodeUnavailable, err,
			"the Temporal server could not be built (go %s); the tool's last words:\n%s", args[0], strings.Join(last, "\n"))
	}
	return out.String(), nil
}

func readLines(r io.Reader, tell func(string)) (last []string) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		tell(lines.Text())
		if last = append(last, lines.Text()); len(last) > 20 {
			last = last[1:]
		}
	}
	_, _ = io.Copy(io.Discard, r) // after an overlong line, so that the writer never blocks
	return last
}
