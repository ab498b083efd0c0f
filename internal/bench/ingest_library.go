package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The versions of the library's repository, as tags, in the order in which they are read.
const firstVersion = "first"

var libraryVersions = []string{firstVersion, "bodies", "exported"}

// changedShare is the part of the files whose bodies change: every hundredth.
const changedShare = 100

// library is Go's standard library, or a part of it, as a git repository.
type library struct {
	name    string // for people
	dir     string // its working tree, at the first version
	repo    domain.Repository
	files   int // Go files outside of testdata
	changed int // those that the second version changes
}

// makeLibrary copies the standard library and commits it with the changes to measure.
func (in *ingestion) makeLibrary(ctx context.Context) (library, error) {
	dir := filepath.Join(in.dir, "library")
	lib := library{name: "Go's standard library", dir: dir, repo: domain.Repository{Name: "library", URL: dir}}
	parts := []string{"."}
	if in.scale > 1 {
		lib.name, parts = "net, encoding and go of "+lib.name, []string{"net", "encoding", "go"}
	}
	for _, part := range parts {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(in.goroot, "src", part))); err != nil {
			return lib, fmt.Errorf("copy the standard library: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module std\n\ngo 1.26\n"), 0o644); err != nil {
		return lib, err
	}
	paths, err := listGo(dir)
	if err != nil {
		return lib, err
	}
	lib.files = len(paths)
	steps := []func() error{
		func() error { return nil },
		func() error { lib.changed, err = changeBodies(dir, paths, len(paths)/changedShare); return err },
		func() error { return changeExported(dir) },
	}
	if _, err := output(ctx, dir, "git", "init", "-q"); err != nil {
		return lib, err
	}
	for i, change := range steps {
		if err := change(); err != nil {
			return lib, err
		}
		if err := commit(ctx, dir, libraryVersions[i]); err != nil {
			return lib, err
		}
	}
	_, err = output(ctx, dir, "git", "checkout", "-q", firstVersion)
	return lib, err
}

// commit commits a working tree and tags it.
func commit(ctx context.Context, dir, tag string) error {
	for _, args := range [][]string{
		{"add", "--all", "--force"},
		{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false", "commit", "-q", "--no-verify", "-m", tag},
		{"-c", "tag.gpgsign=false", "tag", tag},
	} {
		if _, err := output(ctx, dir, "git", args...); err != nil {
			return err
		}
	}
	return nil
}

// output runs a program in a folder and gives what it prints.
func output(ctx context.Context, dir, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("run %s %s: %w", program, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// listGo gives the paths of the Go files of a folder that are sources.
func listGo(dir string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case !entry.IsDir() && strings.HasSuffix(path, ".go"):
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}

// changeBodies changes a function's body in that many files, evenly spread, and gives how
// many there were to change.
func changeBodies(dir string, paths []string, wanted int) (changed int, err error) {
	if wanted == 0 {
		return 0, fmt.Errorf("%s holds too few Go files", dir)
	}
	for part := range slices.Chunk(paths, (len(paths)+wanted-1)/wanted) {
		for _, path := range part {
			done, err := changeBody(path)
			if err != nil {
				return changed, err
			}
			if done {
				changed++
				break
			}
		}
	}
	return changed, nil
}

// changeBody puts a statement into the first function of a file that has a body. Files
// written by programs are left alone: they are not read.
func changeBody(path string) (bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(file) {
		return false, nil // some sources are wrong on purpose
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			at := fset.Position(f.Body.Lbrace).Offset + 1
			return true, os.WriteFile(path, slices.Concat(text[:at], []byte("\n\t_ = \"changed\"\n"), text[at:]), 0o644)
		}
	}
	return false, nil
}

// changeExported changes the signature of a function that many packages call, in a way that
// keeps their calls right.
func changeExported(dir string) error {
	path := filepath.Join(dir, "net", "ipsock.go")
	before, after := []byte("func JoinHostPort(host, port string) string {"), []byte("func JoinHostPort(host, port string, _ ...bool) string {")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, before) {
		return fmt.Errorf("%s has no %q", path, before)
	}
	return os.WriteFile(path, bytes.Replace(text, before, after, 1), 0o644)
}
