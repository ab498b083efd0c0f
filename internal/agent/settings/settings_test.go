package settings_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/agent/settings"
)

func write(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSettingsThatAreWrongSayHow(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		`agent_token = "t"`:                                                                 "server_url is missing",
		"server_url = \"https://h.example\"\n":                                              "agent_token is missing",
		"server_url = \"h.example\"\nagent_token = \"t\"\n":                                 "no address",
		"server_url = \"https://u:p@h.example\"\nagent_token = \"t\"\n":                     "no user",
		"server_url = \"https://h.example\"\nagent_token = \"a b\"\n":                       "holds what no token has",
		"server_url = \"https://h.example\"\nagent_token = \"t\"\nmax_commands = 0\n":       "from 1 to 1000",
		"server_url = \"https://h.example\"\nagent_token = \"t\"\nserver_uri = \"x\"\n":     "unknown setting server_uri (line 3)",
		"server_url = \"https://h.example\"\nagent_token = \"t\"\n[tls]\ninsecure = true\n": "unknown setting tls",
		"server_url = \"https://h.example\"\nagent_token = 7\n":                             "line 2",
		"server_url = ": "line 1",
	} {
		_, err := settings.Load(write(t, text, 0o600))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q gives %v, without %q", text, err, says)
		}
	}
	if _, err := settings.Load(filepath.Join(t.TempDir(), "none.toml")); err == nil || !strings.Contains(err.Error(), "there is no configuration at") {
		t.Errorf("a missing file gives %v", err)
	}
}

func TestTokenIsReplacedInItsPlace(t *testing.T) {
	t.Parallel()
	const text = "# ours\nserver_url = \"https://h.example/\" # the one\n\n  agent_token=\"hvi_x$1\" # at first\nmax_commands = 3\n"
	path := write(t, text, 0o644)
	link := filepath.Join(filepath.Dir(path), "link.toml")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	file, err := settings.Load(link)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("a file with a token is left at %v", info.Mode())
	}
	if err := file.SetToken("hva_new$2"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := "# ours\nserver_url = \"https://h.example/\" # the one\n\nagent_token = \"hva_new$2\"\nmax_commands = 3\n"; string(got) != want {
		t.Errorf("the file is now\n%s", got)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is one no more")
	}
	if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 2 {
		t.Errorf("there are %d files", len(names))
	}
	again, err := settings.Load(path)
	if err != nil || again.Token() != "hva_new$2" || again.Values().MaxCommands != 3 || again.Values().StateDir != filepath.Join(filepath.Dir(path), "state") {
		t.Errorf("read again it is %+v, %v", again.Values(), err)
	}
}

func TestTokenCountsWhereItCannotBeStored(t *testing.T) {
	t.Parallel()
	path := write(t, "server_url = \"https://h.example\"\nagent_token = \"hvi_x\"\n", 0o600)
	file, err := settings.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := file.SetToken("hva_new"); err == nil {
		t.Error("nobody is told that it is not stored")
	}
	if file.Token() != "hva_new" {
		t.Errorf("the token is %s", file.Token())
	}
}

func machine(t *testing.T, folder, root string) settings.Machine {
	t.Helper()
	m, err := settings.ReadMachine(folder, root)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMachineIsMadeOnce(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "state")
	one, two := machine(t, folder, "/"), machine(t, folder, "/")
	if one.ID != two.ID || len(one.ID) != 32 || two.Copied {
		t.Errorf("the machine is %+v, and then %+v", one, two)
	}
	if other := machine(t, t.TempDir(), "/"); other.ID == one.ID {
		t.Errorf("another machine is %q too", other.ID)
	}
}

// facts are the files by which a machine is known, in a folder of its own.
func facts(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		path = filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text+"\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestCopiedMachine(t *testing.T) {
	t.Parallel()
	const (
		boot, id, product = "proc/sys/kernel/random/boot_id", "etc/machine-id", "sys/class/dmi/id/product_uuid"
		card, wire        = "sys/class/net/eth0/address", "sys/class/net/eth0/device/vendor"
		tunnel, bridge    = "sys/class/net/veth1/address", "sys/class/net/br0/address"
		isBridge          = "sys/class/net/br0/bridge/bridge_id"
	)
	const first = "proc/1/stat"
	began := func(ticks string) string {
		return "1 (a) b (c) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 " + ticks + " 1000 2000"
	}
	lxc := map[string]string{boot: "b1", id: "i1", first: began("100"), card: "00:16:3e:00:00:01", tunnel: "02:00:00:00:00:01"}
	pod := map[string]string{boot: "b1", id: "i1", first: began("100"), card: "0a:58:0a:00:00:01"}
	hardware := map[string]string{boot: "b1", id: "i1", product: "p1", card: "52:54:00:00:00:01", wire: "x"}
	container := map[string]string{boot: "b1", id: "i1", card: "00:16:3e:00:00:01", tunnel: "02:00:00:00:00:01", bridge: "02:42:00:00:00:01", isBridge: "x"}
	for name, c := range map[string]struct {
		before, now map[string]string
		copied      bool
	}{
		"started again":                      {hardware, map[string]string{boot: "b2", id: "i1", product: "p1", card: "52:54:00:00:00:01", wire: "x"}, false},
		"another card":                       {hardware, map[string]string{boot: "b2", id: "i1", product: "p1", card: "52:54:00:00:00:99", wire: "x"}, false},
		"a copied virtual machine":           {hardware, map[string]string{boot: "b2", id: "i1", product: "p2", card: "52:54:00:00:00:01", wire: "x"}, true},
		"a copy with an id of its own":       {hardware, map[string]string{boot: "b2", id: "i2", product: "p1", card: "52:54:00:00:00:01", wire: "x"}, true},
		"all changed while it ran":           {hardware, map[string]string{boot: "b1", id: "i2", product: "p2"}, false},
		"a container started again":          {container, map[string]string{boot: "b2", id: "i1", card: "00:16:3e:00:00:01", tunnel: "02:00:00:00:00:02"}, false},
		"a copied container":                 {container, map[string]string{boot: "b2", id: "i1", card: "00:16:3e:00:00:02", tunnel: "02:00:00:00:00:02", bridge: "02:42:00:00:00:01", isBridge: "x"}, true},
		"a container without a network":      {container, map[string]string{boot: "b2", id: "i1"}, false},
		"a copy beside its original":         {lxc, map[string]string{boot: "b1", id: "i1", first: began("900"), card: "00:16:3e:00:00:02", tunnel: "02:00:00:00:00:02"}, true},
		"started again beside others":        {lxc, map[string]string{boot: "b1", id: "i1", first: began("900"), card: "00:16:3e:00:00:01", tunnel: "02:00:00:00:00:02"}, false},
		"another card while it runs":         {lxc, map[string]string{boot: "b1", id: "i1", first: began("100"), card: "00:16:3e:00:00:02"}, false},
		"started again without its network":  {lxc, map[string]string{boot: "b1", id: "i1", first: began("900")}, false},
		"another id of its own in one boot":  {lxc, map[string]string{boot: "b1", id: "i2", first: began("900"), card: "00:16:3e:00:00:01"}, false},
		"addresses that are drawn each time": {pod, map[string]string{boot: "b1", id: "i1", first: began("900"), card: "0a:58:0a:00:00:02"}, false},
		"a container that is made each time": {map[string]string{boot: "b1", card: "02:42:ac:11:00:02"}, map[string]string{boot: "b2", card: "02:42:ac:11:00:03"}, false},
	} {
		folder := t.TempDir()
		before := machine(t, folder, facts(t, c.before))
		root := facts(t, c.now)
		now := machine(t, folder, root)
		if now.ID != before.ID || now.Copied != c.copied {
			t.Errorf("%s: it is %s, then %s, copied %v", name, before.ID, now.ID, now.Copied)
		}
		if !c.copied {
			continue
		}
		if again := machine(t, folder, root); !again.Copied {
			t.Errorf("%s: it is no copy the next time", name)
		}
		if err := now.Renew(); err != nil || now.ID == before.ID || now.Copied {
			t.Errorf("%s: its new id is %s, %v", name, now.ID, err)
		}
		if again := machine(t, folder, root); again.Copied || again.ID != now.ID {
			t.Errorf("%s: once renewed it is %s, copied %v", name, again.ID, again.Copied)
		}
	}
}

// A file of an agent that kept no facts is taken as this machine's.
func TestMachineWithoutFacts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "machine"), []byte("0123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m := machine(t, folder, facts(t, map[string]string{"etc/machine-id": "i1"})); m.ID != "0123" || m.Copied {
		t.Errorf("it is %+v", m)
	}
	if m := machine(t, folder, facts(t, map[string]string{"etc/machine-id": "i2"})); !m.Copied {
		t.Errorf("the facts were not kept: %+v", m)
	}
}
