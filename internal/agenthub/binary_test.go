package agenthub_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/harvest-engine/harvest/internal/agenthub"
	"github.com/harvest-engine/harvest/internal/domain"
)

// elfOf makes the beginning of a program for a machine: all that is read of it.
func elfOf(machine byte, text string) string {
	head := make([]byte, 64)
	copy(head, "\x7fELF\x02\x01\x01")
	head[16], head[18], head[20], head[52] = 2, machine, 1, 64
	return string(head) + text
}

const (
	forAMD64 = 62
	forARM64 = 183
	forRISCV = 243
)

// Machines can be installed as soon as the server knows its address and has a program.
func TestInstalls(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "later")
	installs := agenthub.Installs("https://harvest.example.com", dir)
	for _, refused := range []func() error{installs, agenthub.Installs("", dir), agenthub.Installs("https://harvest.example.com", "")} {
		if err := refused(); domain.CodeOf(err) != domain.CodeUnavailable {
			t.Errorf("nothing is in the way: %v", err)
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "harvest-agent"), elfOf(forAMD64, "amd"), 0o755)
	if err := installs(); err != nil {
		t.Errorf("in the way is %v", err)
	}
}

// The programs say themselves for which architecture they are, whatever their names.
func TestBinary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) string {
		write(t, filepath.Join(dir, name), text, 0o755)
		return filepath.Join(dir, name)
	}
	amd := put("harvest-agent-a", elfOf(forAMD64, "amd"))
	put("harvest-agent-b", elfOf(forAMD64, "second"))
	arm := put("harvest-agent.zz", elfOf(forARM64, "arm"))
	put("harvest-agent-riscv", elfOf(forRISCV, "other"))
	put("harvest-agent.sha256", "no program")
	put("other", elfOf(forAMD64, "other"))
	if err := os.Mkdir(filepath.Join(dir, "harvest-agent-folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, arch, want string }{
		"a folder":                 {dir, "amd64", amd},
		"as uname says it":         {dir, "aarch64", arm},
		"by default":               {dir, "", amd},
		"another":                  {dir, "riscv64", ""},
		"a pattern":                {filepath.Join(dir, "*.zz"), "arm64", arm},
		"of a pattern not":         {filepath.Join(dir, "*.zz"), "amd64", ""},
		"the only one by default":  {arm, "", arm},
		"a file":                   {amd, "x86_64", amd},
		"of a file not":            {amd, "arm64", ""},
		"nothing there":            {filepath.Join(dir, "none"), "amd64", ""},
		"nothing set":              {"", "amd64", ""},
		"what is no agent's":       {filepath.Join(dir, "harvest-agent.sha256"), "", ""},
		"a way out of the pattern": {filepath.Join(dir, "*.zz"), "../../etc/passwd", ""},
	} {
		h := newHub(newMemory(), "one", func(cfg *agenthub.Config) { cfg.BinaryPath = c.path })
		got, err := h.Binary(c.arch)
		if c.want == "" {
			if domain.CodeOf(err) != domain.CodeNotFound {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
			continue
		}
		text, _ := os.ReadFile(c.want)
		sum := sha256.Sum256(text)
		if err != nil || got.Path != c.want || got.SHA256 != hex.EncodeToString(sum[:]) || got.Size != int64(len(text)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A program that is replaced is another one from then on.
func TestBinaryIsReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "harvest-agent")
	write(t, path, elfOf(forAMD64, "old"), 0o755)
	h := newHub(newMemory(), "one", func(cfg *agenthub.Config) { cfg.BinaryPath = path })
	first, err := h.Binary("")
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, elfOf(forARM64, "newer"), 0o755)
	second, err := h.Binary("")
	if err != nil || second.SHA256 == first.SHA256 || second.Arch != "arm64" {
		t.Errorf("%+v, %v", second, err)
	}
}
