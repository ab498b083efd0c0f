package main

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/domain"
)

// maxText is more than any text that a server takes, in bytes.
const maxText = 16 << 20

// text reads a text from a file, or with "-" from the standard input. Without either it is
// read from there too, unless that is a terminal.
func (p *program) text(from string) (string, error) {
	var in io.Reader = p.in
	switch {
	case from == "" && terminal.Is(p.in):
		return "", usageError{fmt.Errorf("where is the text? Name a file with --from FILE, or give it on the standard input")}
	case from != "" && from != "-":
		file, err := os.Open(from)
		if err != nil {
			return "", fileFault(from, err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxText+1))
	switch {
	case err != nil:
		return "", fileFault(from, err)
	case len(text) > maxText:
		return "", domain.Errorf(domain.CodeTooLarge, "%s is longer than %d MiB", from, maxText>>20)
	case !utf8.Valid(text):
		return "", domain.Errorf(domain.CodeInvalid, "%s is no text in UTF-8", from)
	}
	return string(text), nil
}

// fileFault says what is wrong with a file that can't be read.
func fileFault(name string, err error) error {
	return domain.Wrap(domain.CodeInvalid, err, "the file %s can't be read: %s", name, reasonOf(err))
}

func reasonOf(err error) string {
	switch {
	case os.IsNotExist(err):
		return "there is none"
	case os.IsPermission(err):
		return "you may not read it"
	}
	return err.Error()
}

// bundle reads a folder as a bundle of files, and anything else as text. Files and folders
// whose names begin with a dot are left out.
func (p *program) bundle(from string) (string, error) {
	if at, err := os.Stat(from); err != nil || !at.IsDir() {
		return p.text(from)
	}
	files := domain.Bundle{}
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fileFault(path, err)
		case path != from && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular():
			return nil
		case len(files) >= domain.MaxBundleFiles:
			return domain.Errorf(domain.CodeTooLarge, "%s has more than %d files", from, domain.MaxBundleFiles)
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return fmt.Errorf("name %s: %w", path, err)
		}
		files[filepath.ToSlash(name)], err = p.text(path)
		return err
	})
	if err == nil && len(files) == 0 {
		err = domain.Errorf(domain.CodeInvalid, "there are no files in %s", from)
	}
	return files.JSON(), err
}

// bundleText renders the files of a bundle, one after the other.
func bundleText(files domain.Bundle) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&out, "==> %s <==\n%s\n", domain.Visible(name), strings.TrimRight(files[name], "\n"))
	}
	return out.String()
}
