package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// notSource are folders that no plain folder is asked for: those of version control, of
// installed dependencies and of caches. In a repository .gitignore says what is left out.
var notSource = map[string]bool{
	".git": true, ".hg": true, ".svn": true, ".jj": true, ".harvest": true, "node_modules": true, "__pycache__": true,
	".venv": true, ".tox": true, ".terraform": true, ".gradle": true,
}

// Folder is the files of a folder as they lie.
type Folder struct {
	Entries []Entry
	root    *os.Root
}

// Folder lists the files of the working tree, with uncommitted changes and untracked files
// that are not ignored; of a plain folder, all files but those of version control, installed
// dependencies and caches. Links are not followed. The caller closes it.
func (r *Repo) Folder(ctx context.Context) (*Folder, error) {
	if r.work == "" {
		return nil, domain.Errorf(domain.CodeUnprocessable, "%s has no working tree", r.addr)
	}
	root, err := os.OpenRoot(r.work)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	f := &Folder{root: root}
	if r.Plain() {
		err = f.walk(ctx)
	} else {
		err = f.listed(ctx, r)
	}
	if err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("list the folder: %w", err)
	}
	sort.Slice(f.Entries, func(i, j int) bool { return f.Entries[i].Path < f.Entries[j].Path })
	return f, nil
}

func (f *Folder) walk(ctx context.Context) error {
	return fs.WalkDir(f.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrPermission) && d != nil && d.IsDir() && name != ".":
			return fs.SkipDir
		case err != nil:
			return err
		case d.IsDir() && name != "." && notSource[d.Name()]:
			return fs.SkipDir
		case d.Type().IsRegular():
			return f.add(name)
		}
		return nil
	})
}

// listed asks git for tracked and for untracked, not ignored files.
func (f *Folder) listed(ctx context.Context, r *Repo) error {
	out, err := r.output(ctx, "--work-tree="+r.work, "-C", r.work, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil {
		return err
	}
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if len(name) == 0 || !filepath.IsLocal(string(name)) {
			continue
		}
		if err := f.add(string(name)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// add records a regular file; what was deleted or is something else is left out.
func (f *Folder) add(name string) error {
	info, err := f.root.Lstat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil
	case err != nil && strings.Contains(err.Error(), "path escapes"):
		return nil // a folder on the way was replaced by a link that leads outside
	case err != nil:
		return err
	case info.Mode().IsRegular():
		f.Entries = append(f.Entries, Entry{Path: cleanPath(path.Clean(name)), Size: info.Size(), raw: name})
	}
	return nil
}

// Read gives a file's content, at most limit+1 bytes of it, so that the caller sees that it
// is larger. A file that is gone is not_found.
func (f *Folder) Read(e Entry, limit int64) ([]byte, error) {
	file, err := f.root.Open(filepath.FromSlash(e.raw))
	if err != nil {
		return nil, domain.Wrap(domain.CodeNotFound, err, "%s can't be read any more", e.Path)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, domain.Wrap(domain.CodeNotFound, err, "%s is no file any more", e.Path)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", e.Path, err)
	}
	return data, nil
}

// Close releases the folder.
func (f *Folder) Close() error { return f.root.Close() }
