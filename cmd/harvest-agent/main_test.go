package main_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build builds the agent as a release does.
func build(t *testing.T, arch string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "harvest-agent-"+arch)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X main.version=v1.2.3", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build for %s: %v\n%s", arch, err, out)
	}
	return path
}

func TestBinariesAreSmallAndStatic(t *testing.T) {
	t.Parallel()
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			path := build(t, arch)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Size() > 15_000_000 {
				t.Errorf("it has %d bytes", info.Size())
			}
			file, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if file.Machine != machine {
				t.Errorf("it is for %s", file.Machine)
			}
			libraries, err := file.ImportedLibraries()
			if err != nil || len(libraries) > 0 {
				t.Errorf("it needs %v, %v", libraries, err)
			}
			for _, part := range file.Progs {
				if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
					t.Errorf("it has a %s", part.Type)
				}
			}
		})
	}
}

func TestVerbs(t *testing.T) {
	t.Parallel()
	binary := build(t, "amd64")
	unknown := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(unknown, []byte("server_url = \"https://h.example\"\nagent_token = \"t\"\ntoken = \"t\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"version"}, 0, "v1.2.3\n"},
		{[]string{"help"}, 0, "harvest-agent runs commands"},
		{[]string{"nothing"}, 1, `there is no "nothing"`},
		{[]string{"run", "more"}, 1, `"more" is one argument too many`},
		{[]string{"--nothing"}, 2, "harvest-agent runs commands"},
		{[]string{"-c", "/nowhere/config.toml"}, 1, "there is no configuration at /nowhere/config.toml"},
		{[]string{"run", "--config", unknown}, 1, "unknown setting token (line 3)"},
		{[]string{"shim"}, 1, "for harvest-agent itself"},
		{[]string{"console-shim"}, 1, "for harvest-agent itself"},
	} {
		cmd := exec.Command(binary, c.args...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.says) {
			t.Errorf("%v ends with %d, not %d, and says %q", c.args, code, c.code, out)
		}
	}
}
