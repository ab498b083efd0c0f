package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/knowledge/lang"
)

func TestProcessTimesAreRead(t *testing.T) {
	t.Parallel()
	got, err := parseStat("42 (odd) name) S 7 42 42 0 -1 4194560 1 2 3 4 150 50 30 20 20 0 1 0 99 1 2\n")
	want := processTimes{pid: 42, parent: 7, own: 2 * time.Second, children: 500 * time.Millisecond}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, line := range []string{"", "42 (name", "42 (name) S 7", "x (name) S 7 42 42 0 -1 4194560 1 2 3 4 150 50 30 20"} {
		if _, err := parseStat(line); err == nil {
			t.Errorf("%q must be refused", line)
		}
	}
}

func TestMeterSeesWorkAndNoWaiting(t *testing.T) {
	t.Parallel()
	m := newMeter(os.Getpid())
	for _, m := range []meter{{}, m} {
		var began time.Duration
		took, err := m.measure(func() (err error) {
			began, err = ownCPU()
			for now := began; err == nil && now < began+50*time.Millisecond; {
				now, err = ownCPU()
			}
			return err
		})
		if err != nil || took < 50*time.Millisecond {
			t.Errorf("%s: 50 ms of work took %v, %v", m.covers(), took, err)
		}
	}
	if _, err := (meter{postgres: -1}).now(); err == nil {
		t.Error("a server that is gone must be told")
	}
}

func TestGeneratedSourcesHoldTheirSymbols(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, filesAPackage - 1, 7 * filesAPackage} {
		text := generateFile(n)
		if _, err := parser.ParseFile(token.NewFileSet(), "f.go", text, parser.AllErrors); err != nil {
			t.Fatalf("file %d: %v\n%s", n, err, text)
		}
		facts, err := lang.Extract(t.Context(), "f.go", []byte(text))
		if err != nil || facts.Errors > 0 || len(facts.Symbols) < symbolsAFile {
			t.Errorf("file %d: %d symbols, %d errors, %v", n, len(facts.Symbols), facts.Errors, err)
		}
	}
}

func TestBodiesChangeInTheirShare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bodies := []string{"func f() {}", "type t int", "func f() int { return 1 }", "func broken( {", "// none", "func f() { f() }"}
	before := map[string]string{}
	for i := range 60 {
		path := filepath.Join(dir, fmt.Sprintf("f%02d.go", i))
		before[path] = "package p\n\n" + bodies[i%len(bodies)] + "\n"
		if err := os.WriteFile(path, []byte(before[path]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	paths, err := listGo(dir)
	if err != nil || len(paths) != len(before) {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	changed, err := changeBodies(dir, paths, 6)
	if err != nil || changed != 6 {
		t.Fatalf("changed %d, %v", changed, err)
	}
	different := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != before[path] {
			different++
			if _, err := parser.ParseFile(token.NewFileSet(), path, text, 0); err != nil {
				t.Errorf("a changed file is broken: %v", err)
			}
		}
	}
	if different != changed {
		t.Errorf("%d files differ, %d are said to", different, changed)
	}
}

func TestParsingIsComparedOnTheSameFiles(t *testing.T) {
	t.Parallel()
	dir, paths := t.TempDir(), []string(nil)
	for n := range 2 * parseChunk {
		path := fmt.Sprintf("f%d.go", n)
		if err := os.WriteFile(filepath.Join(dir, path), []byte(generateFile(n)), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	p, err := compareParsing(t.Context(), dir, paths)
	if err != nil || p.bareTime <= 0 || p.extractTime <= 0 || p.megabytes < 0.1 {
		t.Errorf("got %+v, %v", p, err)
	}
}
