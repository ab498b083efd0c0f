package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Entry is a file of a tree or a folder. Symbolic links and submodules are no files.
type Entry struct {
	Path string // slashes, valid UTF-8
	OID  string // git's object id; "" for a file of a folder
	Size int64
	raw  string // the path as the disk has it
}

// Commit is what a commit says of itself.
type Commit struct {
	ID   string
	Time time.Time // of the committer
}

// Commit reads a commit; one that the repository lacks is not_found.
func (r *Repo) Commit(ctx context.Context, id string) (Commit, error) {
	if !fullCommit.MatchString(id) {
		return Commit{}, domain.Invalid("refs", "%q is not a full commit id", id)
	}
	out, err := r.output(ctx, "cat-file", "commit", id)
	if err != nil {
		if ctx.Err() != nil {
			return Commit{}, ctx.Err()
		}
		return Commit{}, domain.Wrap(domain.CodeNotFound, err, "there is no commit %s", id)
	}
	for line := range bytes.Lines(out) {
		text := string(trimLine(line))
		if text == "" {
			break
		}
		if rest, ok := strings.CutPrefix(text, "committer "); ok {
			// NAME <MAIL> SECONDS ZONE
			fields := strings.Fields(rest[strings.LastIndexByte(rest, '>')+1:])
			if len(fields) == 2 {
				if seconds, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
					return Commit{ID: id, Time: time.Unix(seconds, 0).UTC()}, nil
				}
			}
		}
	}
	return Commit{ID: id}, nil
}

// Tree lists the files of a commit in git's order.
func (r *Repo) Tree(ctx context.Context, commit string) ([]Entry, error) {
	if !fullCommit.MatchString(commit) {
		return nil, domain.Invalid("refs", "%q is not a full commit id", commit)
	}
	out, err := r.output(ctx, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
	if err != nil {
		return nil, fmt.Errorf("list the tree of %s: %w", commit, err)
	}
	return parseTree(out)
}

// parseTree reads "MODE TYPE OID SIZE TAB PATH NUL" records.
func parseTree(out []byte) ([]Entry, error) {
	var entries []Entry
	for len(out) > 0 {
		end := bytes.IndexByte(out, 0)
		if end < 0 {
			return nil, errors.New("the listing of a tree is cut off")
		}
		meta, path, ok := strings.Cut(string(out[:end]), "\t")
		out = out[end+1:]
		f := strings.Fields(meta)
		if !ok || len(f) != 4 {
			return nil, fmt.Errorf("a tree entry is malformed: %q", meta)
		}
		if f[1] != "blob" || f[0] == "120000" {
			continue
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			return nil, domain.Wrap(domain.CodeUnprocessable, fmt.Errorf("an entry without a size: %q", meta),
				"the content of %s can't be read: %s", cleanPath(path), damaged)
		}
		entries = append(entries, Entry{Path: cleanPath(path), OID: f[2], Size: size, raw: path})
	}
	return entries, nil
}

// cleanPath makes a path valid UTF-8 without colliding with another: bytes that are none are
// written as \xNN.
func cleanPath(path string) string {
	if strings.ToValidUTF8(path, "") == path {
		return path
	}
	var b strings.Builder
	for i, r := range path {
		if r == '\uFFFD' && path[i] != 0xEF {
			fmt.Fprintf(&b, `\x%02x`, path[i])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Blobs streams contents out of one git process. It is not safe for concurrent use.
type Blobs struct {
	ctx    context.Context
	cancel context.CancelFunc
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *tail
	wait   func() error
	once   sync.Once
}

// Blobs starts reading contents. The caller closes it.
func (r *Repo) Blobs(ctx context.Context) (*Blobs, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := r.git.command(ctx, "none", "--git-dir="+r.gitDir, "cat-file", "--batch")
	b := &Blobs{ctx: ctx, cancel: cancel, stderr: &tail{}, wait: cmd.Wait}
	cmd.Stderr = b.stderr
	stdin, err := cmd.StdinPipe()
	if err == nil {
		b.stdin = stdin
		var stdout io.ReadCloser
		if stdout, err = cmd.StdoutPipe(); err == nil {
			b.stdout = bufio.NewReaderSize(stdout, 1<<18)
			err = cmd.Start()
		}
	}
	if err != nil {
		cancel()
		return nil, classifyLocal(ctx, err, "")
	}
	return b, nil
}

// Each reads the objects oids in their order and gives each content to visit, which may keep
// it. It stops at the first error; the Blobs can't be used then any more.
func (b *Blobs) Each(oids []string, visit func(i int, data []byte) error) error {
	asked := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(b.stdin)
		for _, oid := range oids {
			if _, err := w.WriteString(oid + "\n"); err != nil {
				asked <- err
				return
			}
		}
		asked <- w.Flush()
	}()
	for i := range oids {
		data, err := b.next(oids[i])
		if err == nil {
			err = visit(i, data)
		}
		if err != nil {
			b.cancel() // ends the process, and the writer with it
			<-asked
			return err
		}
	}
	return <-asked
}

// next reads "OID TYPE SIZE LF CONTENT LF".
func (b *Blobs) next(oid string) ([]byte, error) {
	line, err := b.stdout.ReadString('\n')
	if err != nil {
		return nil, classifyLocal(b.ctx, fmt.Errorf("read object %s: %w", oid, err), b.stderr.String())
	}
	f := strings.Fields(line)
	if len(f) != 3 {
		return nil, domain.Errorf(domain.CodeUnprocessable, "object %s can't be read: %s", oid, damaged)
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return nil, fmt.Errorf("object %s has no size: %q", oid, line)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(b.stdout, data); err != nil {
		return nil, classifyLocal(b.ctx, fmt.Errorf("read object %s: %w", oid, err), b.stderr.String())
	}
	_, err = b.stdout.Discard(1)
	return data, err
}

// Close ends the process; it may be called again, and while Each runs, which then fails.
func (b *Blobs) Close() error {
	b.once.Do(func() {
		_ = b.stdin.Close()
		b.cancel()
		_ = b.wait() // it was just told to end: how it does says nothing
	})
	return nil
}
