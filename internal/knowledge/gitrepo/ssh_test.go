package gitrepo_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// A real server: its key is remembered at the first sight, and another one is refused from then
// on; only the key that was given opens it.
func TestFetchBySSH(t *testing.T) {
	t.Parallel()
	server := testkit.SSHD(t)
	o := newOrigin(t)
	o.write("a.txt", "a")
	first := o.commit("one")
	dir := filepath.Join(t.TempDir(), "it's mirrors")
	store := gitrepo.NewStore(gitrepo.Config{Dir: dir, Environ: os.Environ()})
	addr, err := gitrepo.ParseAddress(fmt.Sprintf("ssh://%s@127.0.0.1:%d%s", server.User, server.Port, o.dir))
	if err != nil {
		t.Fatal(err)
	}
	fetch := func(creds gitrepo.Credentials) ([]gitrepo.Ref, error) {
		_, refs, err := store.Fetch(t.Context(), gitrepo.Request{Address: addr, Credentials: creds})
		return refs, err
	}
	right := gitrepo.Credentials{SSHKey: server.Key}
	refused := func(what, says string, creds gitrepo.Credentials) {
		t.Helper()
		if _, err := fetch(creds); domain.CodeOf(err) != domain.CodeForbidden || !strings.Contains(domain.PublicMessage(err), says) {
			t.Errorf("%s: %v", what, err)
		}
	}

	refused("no key", "key was refused", gitrepo.Credentials{})
	refused("a key of somebody else", "key was refused", gitrepo.Credentials{SSHKey: newKey(t, "")})
	refused("a key with a passphrase", "no passphrase", gitrepo.Credentials{SSHKey: newKey(t, "secret")})
	refused("what is no key", "without passphrase", gitrepo.Credentials{SSHKey: []byte("not a key")})

	refs, err := fetch(right)
	if err != nil || len(refs) != 1 || refs[0].Commit != first {
		t.Fatalf("refs %v, %v; want %s", refs, err, first)
	}
	known, err := os.ReadFile(filepath.Join(dir, "known_hosts"))
	if err != nil || !strings.Contains(string(known), "ed25519") {
		t.Errorf("the host's key was not remembered: %q, %v", known, err)
	}
	path := filepath.Join(t.TempDir(), "a key")
	if err := os.WriteFile(path, server.Key, 0o600); err != nil {
		t.Fatal(err)
	}
	second := o.commit("two")
	if refs, err := fetch(gitrepo.Credentials{SSHKeyPath: path}); err != nil || refs[0].Commit != second {
		t.Errorf("by a key in a file: %v, %v; want %s", refs, err, second)
	}
	if tips, err := store.Tips(t.Context(), gitrepo.Request{Address: addr, Credentials: right}); err != nil || tips[0].Commit != second {
		t.Errorf("tips %v, %v", tips, err)
	}

	server.Renew(t)
	refused("another host at the same place", "known_hosts", right)
	if err := os.Remove(filepath.Join(dir, "known_hosts")); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch(right); err != nil {
		t.Errorf("once the old key is forgotten: %v", err)
	}
}

func newKey(t *testing.T, passphrase string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", path).CombinedOutput(); err != nil {
		t.Fatalf("make a key: %v: %s", err, out)
	}
	key, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
