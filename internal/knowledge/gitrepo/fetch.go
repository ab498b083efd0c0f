package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// remoteProtocols are those by which mirrors may be fetched.
const remoteProtocols = "https:ssh:git"

// Request asks for refs of a remote repository.
type Request struct {
	Address     Address
	Credentials Credentials
	Want        Wanted
	Progress    func(Progress) // nil for none; called from one goroutine
}

// Fetch brings the wanted commits, without their history, into the mirror of a remote
// repository, and gives the mirror and the refs. What is there already is not fetched again;
// nothing that an earlier version needs is ever removed.
func (s *Store) Fetch(ctx context.Context, req Request) (*Repo, []Ref, error) {
	if req.Address.Local() {
		return nil, nil, domain.Invalid("url", "%s is a local path", req.Address)
	}
	if err := req.Credentials.check(req.Address); err != nil {
		return nil, nil, err
	}
	dir := s.mirrorDir(req.Address)
	unlock, err := s.lock(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	secrets, clean, err := req.Credentials.environment(req.Address, filepath.Join(s.dir, "known_hosts"))
	if err != nil {
		return nil, nil, err
	}
	defer clean()
	f := fetcher{store: s, req: req, env: secrets, repo: &Repo{git: s.git, addr: req.Address, gitDir: dir}, other: map[string]bool{}}
	if err := f.prepare(ctx); err != nil {
		return nil, nil, err
	}
	refs, err := f.run(ctx)
	if err != nil {
		return nil, nil, err
	}
	return f.repo, refs, nil
}

// Tips asks at which commits the wanted refs are now. Nothing is fetched. A plain folder has
// none.
func (s *Store) Tips(ctx context.Context, req Request) ([]Ref, error) {
	if req.Address.Local() {
		repo, err := s.Local(ctx, req.Address)
		if err != nil || repo.Plain() {
			return nil, err
		}
		return repo.Refs(ctx, req.Want)
	}
	if err := req.Credentials.check(req.Address); err != nil {
		return nil, err
	}
	secrets, clean, err := req.Credentials.environment(req.Address, filepath.Join(s.dir, "known_hosts"))
	if err != nil {
		return nil, err
	}
	defer clean()
	f := fetcher{store: s, req: req, env: secrets, repo: &Repo{git: s.git, addr: req.Address, gitDir: s.mirrorDir(req.Address)}}
	refs, err := f.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the refs of %s: %w", req.Address, err)
	}
	return refs, nil
}

type fetcher struct {
	store *Store
	req   Request
	env   []string
	repo  *Repo
	other map[string]bool // fetched objects that are no commits: what odd tags name
}

// fetchAttempts allows for a ref that moves between being listed and being fetched.
const fetchAttempts = 3

func (f *fetcher) run(ctx context.Context) ([]Ref, error) {
	for attempt := 1; ; attempt++ {
		refs, err := f.list(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the refs of %s: %w", f.req.Address, err)
		}
		refs = slices.DeleteFunc(refs, func(r Ref) bool { return f.other[r.Commit] })
		missing, err := f.missing(ctx, refs)
		if err != nil {
			return nil, err
		}
		if len(missing) == 0 {
			return refs, nil
		}
		if attempt == fetchAttempts {
			return nil, domain.Errorf(domain.CodeUpstream, "the server did not send the commit of %s", missing[0].Name)
		}
		if err := f.fetch(ctx, missing); err != nil {
			return nil, fmt.Errorf("fetch %s: %w", f.req.Address, err)
		}
	}
}

// prepare makes the mirror where there is none, and clears away what a killed fetch left.
// The caller holds the mirror's lock.
func (f *fetcher) prepare(ctx context.Context) error {
	dir := f.repo.gitDir
	if !isBare(dir) {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("clear a broken mirror: %w", err)
		}
		if _, err := f.store.git.output(ctx, "init", "--quiet", "--bare", "--template=", "--", dir); err != nil {
			return fmt.Errorf("make a mirror: %w", err)
		}
		return nil
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if !d.IsDir() && (strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "tmp_")) {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("clear %s: %w", name, err)
			}
		}
		return nil
	})
}

// list asks the server for its refs and picks the wanted ones.
func (f *fetcher) list(ctx context.Context) ([]Ref, error) {
	out, err := f.remote(ctx, nil, "ls-remote", "--quiet", "--symref", "--", f.req.Address.URL)
	if err != nil {
		return nil, err
	}
	all, at := parseLsRemote(out)
	return f.req.Want.pick(all, at)
}

// parseLsRemote reads "ref: NAME TAB HEAD" and "OID TAB NAME" lines; NAME^{} is the commit
// behind an annotated tag.
func parseLsRemote(out []byte) (all map[string]string, at head) {
	all = map[string]string{}
	for line := range bytes.Lines(out) {
		value, name, ok := strings.Cut(string(trimLine(line)), "\t")
		if !ok {
			continue
		}
		if target, ok := strings.CutPrefix(value, "ref: "); ok {
			if name == "HEAD" {
				at.ref = target
			}
			continue
		}
		if !fullCommit.MatchString(value) {
			continue
		}
		if name == "HEAD" {
			at.commit = value
			continue
		}
		// The line of the commit follows that of the tag object and replaces it.
		all[strings.TrimSuffix(name, "^{}")] = value
	}
	return all, at
}

// missing gives those of refs whose commit the mirror does not keep, one for each commit.
func (f *fetcher) missing(ctx context.Context, refs []Ref) ([]Ref, error) {
	out, err := f.repo.output(ctx, "for-each-ref", "--format=%(refname)", "refs/keep")
	if err != nil {
		return nil, fmt.Errorf("list what the mirror keeps: %w", err)
	}
	kept := map[string]bool{}
	for line := range bytes.Lines(out) {
		kept[string(trimLine(line))] = true
	}
	var missing []Ref
	for _, ref := range refs {
		if !kept[keepRef(ref.Commit)] {
			kept[keepRef(ref.Commit)] = true
			missing = append(missing, ref)
		}
	}
	return missing, nil
}

// keepRef is the ref by which a mirror keeps a commit. Being named by the commit it never
// moves, and can't collide as branches do where one becomes the folder of another.
func keepRef(commit string) string { return "refs/keep/" + commit }

func (f *fetcher) fetch(ctx context.Context, refs []Ref) error {
	var specs bytes.Buffer
	for _, ref := range refs {
		source := ref.Full
		if source == "" {
			source = ref.Commit
		}
		fmt.Fprintf(&specs, "+%s:refs/incoming/%s\n", source, ref.Commit)
	}
	_, err := f.remote(ctx, &specs, "fetch", "--progress", "--depth=1", "--no-tags", "--no-write-fetch-head",
		"--no-auto-maintenance", "--no-recurse-submodules", "--stdin", "--", f.req.Address.URL)
	if err != nil {
		return err
	}
	return f.keep(ctx, refs)
}

// keep turns what came in into refs named by their commits: an incoming ref that moved while
// it was fetched is kept under the commit that came.
func (f *fetcher) keep(ctx context.Context, refs []Ref) error {
	var updates bytes.Buffer
	done := map[string]bool{}
	for _, ref := range refs {
		incoming := "refs/incoming/" + ref.Commit
		out, err := f.repo.output(ctx, "rev-parse", "--verify", "--quiet", incoming+"^{commit}")
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			f.other[ref.Commit] = true
			continue
		}
		if commit := string(trimLine(out)); !done[commit] {
			done[commit] = true
			fmt.Fprintf(&updates, "update %s %s\n", keepRef(commit), commit)
		}
		fmt.Fprintf(&updates, "delete %s\n", incoming)
	}
	if _, err := f.store.git.feed(ctx, &updates, "--git-dir="+f.repo.gitDir, "update-ref", "--stdin"); err != nil {
		return fmt.Errorf("keep commits: %w", err)
	}
	return nil
}

// errSilent ends a command whose host says nothing any more.
var errSilent = domain.Errorf(domain.CodeUnavailable, "the repository can't be read: its host does not answer")

// remote runs a command that reaches the network, with the credentials. It ends when the
// host is silent for too long.
func (f *fetcher) remote(ctx context.Context, stdin *bytes.Buffer, args ...string) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := time.AfterFunc(f.store.silence, func() { cancel(errSilent) })
	defer alarm.Stop()
	heard := func() { alarm.Reset(f.store.silence) }
	cmd := f.store.git.command(ctx, remoteProtocols, append([]string{"--git-dir=" + f.repo.gitDir}, args...)...)
	cmd.Env = append(cmd.Env, f.env...)
	if stdin != nil {
		cmd.Stdin = stdin
	}
	var stdout bytes.Buffer
	stderr := &meter{report: f.req.Progress}
	cmd.Stdout, cmd.Stderr = hearing{&stdout, heard}, hearing{stderr, heard}
	if err := cmd.Run(); err != nil {
		if errors.Is(context.Cause(ctx), errSilent) {
			return nil, errSilent
		}
		return nil, classify(ctx, err, stderr.String())
	}
	return stdout.Bytes(), nil
}

// hearing notes that something is written.
type hearing struct {
	io.Writer
	heard func()
}

func (h hearing) Write(p []byte) (int, error) {
	h.heard()
	return h.Writer.Write(p)
}
