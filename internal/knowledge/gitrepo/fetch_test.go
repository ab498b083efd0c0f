package gitrepo_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
)

// serveGit speaks the git protocol for one repository, and counts connections.
func serveGit(t *testing.T, dir string) (addr gitrepo.Address, connections *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	connections = &atomic.Int32{}
	var open sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); open.Wait() })
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			open.Go(func() { uploadPack(conn, dir) })
		}
	})
	return gitrepo.Address{URL: "git://" + listener.Addr().String() + "/origin"}, connections
}

// uploadPack reads the request line "LLLLgit-upload-pack PATH NUL host=… NUL NUL version=2 NUL" and serves dir.
func uploadPack(conn net.Conn, dir string) {
	defer conn.Close()
	head := make([]byte, 4)
	if _, err := io.ReadFull(conn, head); err != nil {
		return
	}
	size, err := strconv.ParseInt(string(head), 16, 32)
	if err != nil {
		return
	}
	request := make([]byte, size-4)
	if _, err := io.ReadFull(conn, request); err != nil {
		return
	}
	cmd := exec.Command("git", "upload-pack", "--strict", dir)
	if strings.Contains(string(request), "version=2") {
		cmd.Env = append(os.Environ(), "GIT_PROTOCOL=version=2")
	}
	cmd.Stdin, cmd.Stdout = conn, conn
	_ = cmd.Run()
}

func TestFetchMirrorsWhatIsWanted(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.write("a.txt", strings.Repeat("some text\n", 1000))
	first := o.commit("one")
	o.run("tag", "v1")
	o.run("tag", "-a", "v1-again", "-m", "the same commit")
	o.run("tag", "of-a-blob", o.run("rev-parse", "HEAD:a.txt"))
	o.write("b.txt", "b")
	second := o.commit("two")
	addr, connections := serveGit(t, filepath.Join(o.dir, ".git"))
	store := newStore(t)

	var last gitrepo.Progress
	repo, refs, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr, Progress: func(p gitrepo.Progress) { last = p }})
	if err != nil || len(refs) != 1 || refs[0].Commit != second || refs[0].Name != "main" {
		t.Fatalf("refs %v, %v", refs, err)
	}
	if last.Total == 0 || last.Objects != last.Total {
		t.Errorf("last progress %+v", last)
	}
	if got := contents(t, repo, second); len(got) != 2 || got["b.txt"] != "b" {
		t.Errorf("files %v", got)
	}
	if _, err := repo.Commit(t.Context(), first); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("history was fetched: %v", err)
	}
	before := connections.Load()
	if _, _, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr}); err != nil || connections.Load() != before+1 {
		t.Errorf("a second fetch made %d connections, %v; want the listing alone", connections.Load()-before, err)
	}
	_, refs, err = store.Fetch(t.Context(), gitrepo.Request{Address: addr, Want: gitrepo.Wanted{AllTags: true}})
	names := []string{}
	for _, r := range refs {
		names = append(names, r.Name)
	}
	if err != nil || !slices.Equal(names, []string{"v1", "v1-again"}) || refs[1].Commit != first {
		t.Errorf("tags %v, %v", refs, err)
	}

	o.write("b.txt", "moved")
	third := o.commit("three")
	repo, refs, err = store.Fetch(t.Context(), gitrepo.Request{Address: addr, Want: gitrepo.Wanted{Refs: []string{"main", second}}})
	if err != nil || refs[0].Commit != third || refs[1].Commit != second {
		t.Fatalf("refs after a move: %v, %v", refs, err)
	}
	for commit, want := range map[string]string{second: "b", third: "moved"} {
		if got := contents(t, repo, commit); got["b.txt"] != want {
			t.Errorf("b.txt at %s is %q, want %q", commit, got["b.txt"], want)
		}
	}
}

func TestFetchGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.write("a.txt", "a")
	o.commit("one")
	addr, _ := serveGit(t, filepath.Join(o.dir, ".git"))
	dir := filepath.Join(t.TempDir(), "mirrors")
	store := gitrepo.NewStore(gitrepo.Config{Dir: dir, Environ: os.Environ()})
	if _, _, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr}); err != nil {
		t.Fatal(err)
	}
	mirrors, _ := filepath.Glob(filepath.Join(dir, "*.git"))
	for _, left := range []string{"shallow.lock", "packed-refs.lock", "objects/pack/tmp_pack_x"} {
		if err := os.WriteFile(filepath.Join(mirrors[0], left), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.write("a.txt", "b")
	want := o.commit("two")
	_, refs, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr})
	if err != nil || refs[0].Commit != want {
		t.Fatalf("refs %v, %v", refs, err)
	}
	if _, err := os.Stat(filepath.Join(mirrors[0], "objects/pack/tmp_pack_x")); err == nil {
		t.Error("a pack that was cut off is still there")
	}
}

func TestFetchesOfOneMirrorAtOnce(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.write("a.txt", "a")
	commit := o.commit("one")
	addr, _ := serveGit(t, filepath.Join(o.dir, ".git"))
	dir := filepath.Join(t.TempDir(), "mirrors")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			store := gitrepo.NewStore(gitrepo.Config{Dir: dir, Environ: os.Environ()})
			if _, refs, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr}); err != nil || refs[0].Commit != commit {
				t.Errorf("refs %v, %v", refs, err)
			}
		})
	}
	all.Wait()
}

// A host that takes the connection and says nothing is given up.
func TestASilentHostIsGivenUp(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
		}
	}()
	store := gitrepo.NewStore(gitrepo.Config{Dir: t.TempDir(), Environ: os.Environ(), Silence: 300 * time.Millisecond})
	for _, scheme := range []string{"git", "https", "ssh"} {
		addr := gitrepo.Address{URL: fmt.Sprintf("%s://%s/x", scheme, listener.Addr())}
		_, _, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr})
		if domain.CodeOf(err) != domain.CodeUnavailable || !strings.Contains(domain.PublicMessage(err), "does not answer") {
			t.Errorf("%s: got %v", scheme, err)
		}
	}
}

// Mirrors go with the last repository of their address, and never beside a fetch.
func TestMirrorsOfForgottenAddressesAreRemoved(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("one")
	kept, _ := serveGit(t, filepath.Join(o.dir, ".git"))
	forgotten, _ := serveGit(t, filepath.Join(o.dir, ".git"))
	store := newStore(t)
	for _, addr := range []gitrepo.Address{kept, forgotten} {
		if _, _, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr}); err != nil {
			t.Fatal(err)
		}
	}
	asked := 0 // a repository that comes back while its mirror is about to go
	back := func(context.Context) ([]gitrepo.Address, error) {
		if asked++; asked == 1 {
			return []gitrepo.Address{kept}, nil
		}
		return []gitrepo.Address{kept, forgotten}, nil
	}
	if removed, err := store.RemoveOthers(t.Context(), back); err != nil || removed != 0 {
		t.Errorf("removed %d, %v; want none that is known again", removed, err)
	}
	known := func(context.Context) ([]gitrepo.Address, error) { return []gitrepo.Address{kept}, nil }
	for _, want := range []int{1, 0} {
		if removed, err := store.RemoveOthers(t.Context(), known); err != nil || removed != want {
			t.Errorf("removed %d, %v; want %d", removed, err, want)
		}
	}
	if _, err := store.Mirror(kept); err != nil {
		t.Errorf("the mirror that is needed: %v", err)
	}
	if _, err := store.Mirror(forgotten); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("the mirror that is not: %v", err)
	}
}

func TestFetchIsCanceled(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // accepts, and never answers
		if conn, err := listener.Accept(); err == nil {
			cancel()
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	}()
	addr := gitrepo.Address{URL: fmt.Sprintf("git://%s/x", listener.Addr())}
	if _, _, err := newStore(t).Fetch(ctx, gitrepo.Request{Address: addr}); err == nil || ctx.Err() == nil {
		t.Errorf("got %v", err)
	}
}

// privateHTTPS serves a repository to those who bring the token under that name.
func privateHTTPS(t *testing.T, dir, name, token string) (addr gitrepo.Address, environ []string) {
	t.Helper()
	execPath, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(execPath)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != name || password != token {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return gitrepo.Address{URL: server.URL + "/.git"}, append(os.Environ(), "GIT_SSL_CAINFO="+ca)
}

func TestTokenOpensAPrivateRepository(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.write("a.txt", "a")
	commit := o.commit("one")
	addr, environ := privateHTTPS(t, o.dir, "x-access-token", "s3cret")
	dir := filepath.Join(t.TempDir(), "mirrors")
	store := gitrepo.NewStore(gitrepo.Config{Dir: dir, Environ: environ})

	for _, token := range []string{"", "wrong"} {
		_, _, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr, Credentials: gitrepo.Credentials{Token: token}})
		if domain.CodeOf(err) != domain.CodeForbidden || strings.Contains(err.Error(), "wrong") {
			t.Errorf("with token %q: %v", token, err)
		}
	}
	creds := gitrepo.Credentials{Token: "s3cret"}
	_, refs, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr, Credentials: creds})
	if err != nil || refs[0].Commit != commit {
		t.Fatalf("refs %v, %v", refs, err)
	}
	if text := fmt.Sprintf("%v %+v %#v", creds, creds, creds); strings.Contains(text, "s3cret") {
		t.Errorf("credentials print as %s", text)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "s3cret") {
			t.Errorf("%s holds the token", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Hosts that know tokens by a name get it before the token.
func TestTokenWithAName(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	commit := o.commit("one")
	addr, environ := privateHTTPS(t, o.dir, "deploy", "s3:cret")
	store := gitrepo.NewStore(gitrepo.Config{Dir: filepath.Join(t.TempDir(), "mirrors"), Environ: environ})
	for token, code := range map[string]domain.Code{"deploy:s3:cret": "", "s3:cret": domain.CodeForbidden, ":s3:cret": domain.CodeForbidden} {
		_, refs, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr, Credentials: gitrepo.Credentials{Token: token}})
		if domain.CodeOf(err) != code || err == nil && refs[0].Commit != commit {
			t.Errorf("with token %q: %v, %v", token, refs, err)
		}
	}
}

func TestKeyIsGivenToSSH(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.write("a.txt", "a")
	commit := o.commit("one")
	bin := t.TempDir()
	log := filepath.Join(bin, "log")
	// Stands for ssh: notes its arguments and the key, and runs the command on this machine.
	script := "#!/bin/sh\nfor a; do last=$a; if [ \"$prev\" = -i ]; then stat -c %a \"$a\" >>" + log + "; cat \"$a\" >>" + log + "; fi; prev=$a; done\n" +
		"printf '%s\\n' \"$*\" >>" + log + "\nexec sh -c \"$last\"\n"
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	environ := append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "PATH=") }), "PATH="+bin+":"+os.Getenv("PATH"))
	store := gitrepo.NewStore(gitrepo.Config{Dir: filepath.Join(t.TempDir(), "it's mirrors"), Environ: environ})
	addr := gitrepo.Address{URL: "ssh://git@example.com" + o.dir}
	_, refs, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr, Credentials: gitrepo.Credentials{SSHKey: []byte("the key")}})
	if err != nil || refs[0].Commit != commit {
		t.Fatalf("refs %v, %v", refs, err)
	}
	got, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(got); !strings.Contains(text, "600\nthe key\n") || !strings.Contains(text, "IdentitiesOnly=yes") || !strings.Contains(text, "BatchMode=yes") {
		t.Errorf("ssh was called with\n%s", text)
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "harvest-key-*", "key"))
	for _, path := range left {
		if data, _ := os.ReadFile(path); string(data) == "the key\n" {
			t.Errorf("the key was left at %s", path)
		}
	}
	for _, wrong := range []gitrepo.Credentials{{Token: "t"}} {
		if _, _, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr, Credentials: wrong}); domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

func TestRemoveLeavesNoCode(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.write("a.txt", "a")
	o.commit("one")
	addr, _ := serveGit(t, filepath.Join(o.dir, ".git"))
	dir := filepath.Join(t.TempDir(), "mirrors")
	store := gitrepo.NewStore(gitrepo.Config{Dir: dir, Environ: os.Environ()})
	if _, _, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second time there is nothing left to remove
		if err := store.Remove(t.Context(), addr); err != nil {
			t.Fatal(err)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
	if _, err := store.Mirror(addr); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("opening what was removed: %v", err)
	}
}
