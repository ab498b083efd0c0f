package gitrepo_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
)

// origin is a repository that tests make by hand.
type origin struct {
	t   *testing.T
	dir string
}

func newOrigin(t *testing.T) origin {
	t.Helper()
	o := origin{t: t, dir: filepath.Join(t.TempDir(), "origin")}
	o.run("init", "--quiet", "--initial-branch=main", o.dir)
	return o
}

func (o origin) run(args ...string) string {
	o.t.Helper()
	cmd := exec.Command("git", args...)
	if _, err := os.Stat(o.dir); err == nil {
		cmd.Dir = o.dir
	}
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@b", "GIT_AUTHOR_DATE=2024-05-01T10:00:00Z", "GIT_COMMITTER_DATE=2024-05-01T10:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		o.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (o origin) write(name, text string) {
	o.t.Helper()
	path := filepath.Join(o.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		o.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		o.t.Fatal(err)
	}
}

func (o origin) commit(message string) string {
	o.t.Helper()
	o.run("add", "-A")
	o.run("commit", "--quiet", "--allow-empty", "-m", message)
	return o.run("rev-parse", "HEAD")
}

func newStore(t *testing.T) *gitrepo.Store {
	t.Helper()
	return gitrepo.NewStore(gitrepo.Config{Dir: filepath.Join(t.TempDir(), "mirrors"), Environ: os.Environ()})
}

func openLocal(t *testing.T, dir string) *gitrepo.Repo {
	t.Helper()
	repo, err := newStore(t).Local(t.Context(), gitrepo.Address{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func contents(t *testing.T, repo *gitrepo.Repo, commit string) map[string]string {
	t.Helper()
	entries, err := repo.Tree(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := repo.Blobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	oids := make([]string, len(entries))
	for i, e := range entries {
		oids[i] = e.OID
	}
	got := map[string]string{}
	if err := blobs.Each(oids, func(i int, data []byte) error {
		got[entries[i].Path] = string(data)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestLocalReadsCommittedFilesInPlace(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.write("a.go", "package a\n")
	o.write("dir/with space/ü.txt", "text")
	o.write("empty", "")
	if err := os.Symlink("/etc/passwd", filepath.Join(o.dir, "link")); err != nil {
		t.Fatal(err)
	}
	first := o.commit("one")
	o.run("tag", "-a", "v1", "-m", "v1")
	o.write("a.go", "package b\n")
	second := o.commit("two")
	o.run("branch", "feature/x")
	o.write("a.go", "not committed")

	repo := openLocal(t, o.dir)
	refs, err := repo.Refs(t.Context(), gitrepo.Wanted{})
	if err != nil || len(refs) != 1 || refs[0] != (gitrepo.Ref{Name: "main", Full: "refs/heads/main", Commit: second}) {
		t.Fatalf("default ref %v, %v", refs, err)
	}
	refs, err = repo.Refs(t.Context(), gitrepo.Wanted{Refs: []string{"feature/x", first}, AllTags: true})
	if err != nil || len(refs) != 3 || refs[0].Name != "feature/x" || refs[1].Name != first || refs[2] != (gitrepo.Ref{Name: "v1", Full: "refs/tags/v1", Commit: first}) {
		t.Fatalf("refs %v, %v", refs, err)
	}
	got := contents(t, repo, first)
	if len(got) != 3 || got["a.go"] != "package a\n" || got["dir/with space/ü.txt"] != "text" {
		t.Errorf("files of the first commit: %q", got)
	}
	commit, err := repo.Commit(t.Context(), first)
	if err != nil || commit.Time.Format("2006-01-02T15:04") != "2024-05-01T10:00" {
		t.Errorf("commit %v, %v", commit, err)
	}
	if _, err := repo.Refs(t.Context(), gitrepo.Wanted{Refs: []string{"nope"}}); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("an unknown ref: %v", err)
	}
}

// A branch and a tag of one name are two versions of two names.
func TestBranchAndTagOfOneName(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	tagged := o.commit("one")
	o.run("tag", "v1")
	o.run("checkout", "--quiet", "-b", "v1")
	ahead := o.commit("two")
	repo := openLocal(t, o.dir)
	tag, branch := gitrepo.Ref{Name: "v1", Full: "refs/tags/v1", Commit: tagged}, gitrepo.Ref{Name: "heads/v1", Full: "refs/heads/v1", Commit: ahead}
	for _, c := range []struct {
		want gitrepo.Wanted
		refs []gitrepo.Ref
	}{
		{gitrepo.Wanted{Refs: []string{"v1"}}, []gitrepo.Ref{tag}},
		{gitrepo.Wanted{Refs: []string{"refs/heads/v1", "refs/tags/v1"}}, []gitrepo.Ref{branch, tag}},
		{gitrepo.Wanted{Refs: []string{"refs/heads/v1"}, AllTags: true}, []gitrepo.Ref{branch, tag}},
		{gitrepo.Wanted{}, []gitrepo.Ref{branch}},
	} {
		refs, err := repo.Refs(t.Context(), c.want)
		if err != nil || !slices.Equal(refs, c.refs) {
			t.Errorf("%+v gives %v, %v; want %v", c.want, refs, err, c.refs)
		}
	}
}

// What is wrong with a repository is said so that its owner can mend it.
func TestDamagedRepositories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(o origin, commit, blob string)
		says   string
	}{
		"a lost content": {func(o origin, _, blob string) { remove(t, o.dir+"/.git/objects/"+blob[:2]+"/"+blob[2:]) }, "git fsck"},
		"a lost commit":  {func(o origin, commit, _ string) { remove(t, o.dir+"/.git/objects/"+commit[:2]+"/"+commit[2:]) }, "commit"},
		"a broken configuration": {func(o origin, _, _ string) {
			o.write(".git/config", "[broken")
		}, "git config"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			o.write("a.go", "package a\n")
			commit := o.commit("one")
			c.damage(o, commit, o.run("rev-parse", "HEAD:a.go"))
			repo, err := newStore(t).Local(t.Context(), gitrepo.Address{Path: o.dir})
			if err == nil {
				_, err = repo.Commit(t.Context(), commit)
			}
			if err == nil {
				_, err = repo.Tree(t.Context(), commit)
			}
			if code := domain.CodeOf(err); code != domain.CodeUnprocessable && code != domain.CodeNotFound || !strings.Contains(domain.PublicMessage(err), c.says) {
				t.Errorf("got %v (%s), want a message with %q", err, code, c.says)
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Error(err)
	}
}

func TestHostileConfigurationRunsNothing(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.write(".gitattributes", "* filter=evil diff=evil\n")
	o.write("a.txt", "x")
	commit := o.commit("one")
	mark := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\ntouch "+mark+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "core.sshCommand", "core.pager", "core.editor"} {
		o.run("config", key, evil)
	}
	for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout"} {
		if err := os.WriteFile(filepath.Join(o.dir, ".git/hooks", hook), []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	repo := openLocal(t, o.dir)
	if _, err := repo.Refs(t.Context(), gitrepo.Wanted{}); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, repo, commit); got["a.txt"] != "x" {
		t.Errorf("files: %q", got)
	}
	folder, err := repo.Folder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if len(folder.Entries) != 2 {
		t.Errorf("entries %v", folder.Entries)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a command of the repository's configuration was run")
	}
}

func TestFolderOfWorkingTree(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.write(".gitignore", "ignored/\n")
	o.write("kept.txt", "old")
	o.write("deleted.txt", "x")
	o.commit("one")
	o.write("kept.txt", "new")
	o.write("untracked.txt", "u")
	o.write("ignored/x.txt", "i")
	if err := os.Remove(filepath.Join(o.dir, "deleted.txt")); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": filepath.Join(outside, "secret"), "folder": outside} {
		if err := os.Symlink(to, filepath.Join(o.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if got := folderContents(t, openLocal(t, o.dir)); len(got) != 3 || got["kept.txt"] != "new" || got["untracked.txt"] != "u" {
		t.Errorf("files %q", got)
	}
}

func TestFolderNeverLeavesItsRoot(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	write := func(path string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(filepath.Base(path)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "b.txt"))
	write(filepath.Join(dir, "sub", "b.txt"))
	write(filepath.Join(dir, "node_modules", "x.js"))
	repo := openLocal(t, dir)
	if !repo.Plain() {
		t.Fatal("a folder without git is not plain")
	}
	folder, err := repo.Folder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if len(folder.Entries) != 1 || folder.Entries[0].Path != "sub/b.txt" {
		t.Fatalf("entries %v", folder.Entries)
	}
	// The folder is swapped for a link to one outside, after it was listed.
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if data, err := folder.Read(folder.Entries[0], 100); err == nil {
		t.Errorf("read %q through a link that leads outside", data)
	}
}

func folderContents(t *testing.T, repo *gitrepo.Repo) map[string]string {
	t.Helper()
	folder, err := repo.Folder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	got := map[string]string{}
	for _, e := range folder.Entries {
		data, err := folder.Read(e, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		got[e.Path] = string(data)
	}
	return got
}

func TestEachStopsAtAnError(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.write("a", strings.Repeat("a", 1<<20))
	commit := o.commit("one")
	repo := openLocal(t, o.dir)
	entries, err := repo.Tree(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := repo.Blobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	many := make([]string, 50_000)
	for i := range many {
		many[i] = entries[0].OID
	}
	stop := context.DeadlineExceeded
	if err := blobs.Each(many, func(int, []byte) error { return stop }); err != stop {
		t.Errorf("got %v", err)
	}
	again, err := repo.Blobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Each([]string{strings.Repeat("0", 40)}, func(int, []byte) error { return nil }); domain.CodeOf(err) != domain.CodeUnprocessable {
		t.Errorf("a missing object: %v", err)
	}
	var got bytes.Buffer
	if err := again.Each([]string{entries[0].OID}, func(_ int, data []byte) error { got.Write(data); return nil }); err == nil {
		t.Error("a stream that failed goes on")
	}
}
