package settings_test

import (
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

func TestMachineIsMadeOnce(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "state")
	one, err := settings.Machine(folder)
	if err != nil {
		t.Fatal(err)
	}
	two, err := settings.Machine(folder)
	if err != nil || one != two || len(one) != 32 {
		t.Errorf("the machine is %q, and then %q, %v", one, two, err)
	}
	other, err := settings.Machine(t.TempDir())
	if err != nil || other == one {
		t.Errorf("another machine is %q, %v", other, err)
	}
}
