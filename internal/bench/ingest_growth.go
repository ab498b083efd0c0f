package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Generated sources have packages of a fixed size that call one another, so that ten times
// the symbols are ten times the files and the references.
const (
	smallGrowth   = 20_000 // symbols
	growthFactor  = 10
	filesAPackage = 10
	symbolsAFile  = 20
)

// growth measures how the cost of an ingestion grows with the number of symbols.
func (in *ingestion) growth(ctx context.Context) (Row, error) {
	var costs [2]time.Duration
	var symbols [2]int
	for i, wanted := range []int{smallGrowth / in.scale, smallGrowth / in.scale * growthFactor} {
		in.say(fmt.Sprintf("ingest: %d generated symbols", wanted))
		dir := filepath.Join(in.dir, fmt.Sprintf("generated-%d", wanted))
		if err := generate(dir, wanted); err != nil {
			return Row{}, err
		}
		repo := domain.Repository{Name: filepath.Base(dir), URL: dir}
		if _, err := in.store.SaveRepository(ctx, repo); err != nil {
			return Row{}, err
		}
		cost, detail, err := in.read(ctx, repo)
		if err != nil {
			return Row{}, err
		}
		if detail.Symbols < wanted {
			return Row{}, fmt.Errorf("only %d of %d symbols were found", detail.Symbols, wanted)
		}
		costs[i], symbols[i] = cost, detail.Symbols
	}
	return Row{
		Name: fmt.Sprintf("ingest of %d generated symbols", symbols[1]), Unit: "CPU s", Ours: costs[1].Seconds(), Bare: costs[0].Seconds(),
		Ratio: costs[1].Seconds() / costs[0].Seconds(), Limit: growthLimit,
		Reference: fmt.Sprintf("the ingest of %d; %s", symbols[0], in.meter.covers()),
	}, nil
}

// generate writes a Go module with that many functions, types and methods.
func generate(dir string, symbols int) error {
	for n := range symbols / symbolsAFile {
		path := filepath.Join(dir, packageName(n/filesAPackage), fmt.Sprintf("file%d.go", n%filesAPackage))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(generateFile(n)), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module generated\n\ngo 1.26\n"), 0o644)
}

func packageName(n int) string { return fmt.Sprintf("part%d", n) }

// generateFile writes file n of a module: a type, methods, and functions that call functions
// of this file, of the next one of the package, and of the package at half the number.
func generateFile(n int) string {
	var b strings.Builder
	pkg, at := n/filesAPackage, n%filesAPackage
	next := pkg*filesAPackage + (at+1)%filesAPackage
	fmt.Fprintf(&b, "package %s\n\n", packageName(pkg))
	far := func(int) string { return "x" }
	if half := pkg / 2; half != pkg {
		fmt.Fprintf(&b, "import %q\n\n", "generated/"+packageName(half))
		far = func(i int) string { return fmt.Sprintf("%s.Do%dx%d(x)", packageName(half), half*filesAPackage+at, i) }
	}
	const methods = 4
	functions := symbolsAFile - methods - 1
	fmt.Fprintf(&b, "// T%d counts.\ntype T%d struct{ value int }\n\n", n, n)
	for i := range methods {
		fmt.Fprintf(&b, "// Add%d adds.\nfunc (t *T%d) Add%d(x int) int {\n\tt.value += Do%dx%d(x)\n\treturn t.value\n}\n\n", i, n, i, n, i)
	}
	for i := range functions {
		fmt.Fprintf(&b, "// Do%dx%d computes.\nfunc Do%dx%d(x int) int {\n\tif x < 1 {\n\t\treturn Do%dx%d(x + 1)\n\t}\n", n, i, n, i, n, (i+1)%functions)
		fmt.Fprintf(&b, "\tt := &T%d{value: x}\n\treturn t.Add%d(x) + Do%dx%d(x-1) + %s\n}\n\n", n, i%methods, next, i, far(i))
	}
	return b.String()
}
