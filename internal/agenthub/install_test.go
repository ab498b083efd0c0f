package agenthub_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agenthub"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/testkit/built"
)

// standIn is a program that stands for the agent.
func standIn(t *testing.T) []byte {
	t.Helper()
	path, err := built.Static("internal/agenthub/testdata/agent")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// site is a server that machines are installed from, and a machine: a folder that stands for
// its root, with the programs that it has.
type site struct {
	hub      *agenthub.Hub
	server   *httptest.Server
	root     string
	path     string // PATH of the machine
	binaries string
	corrupt  atomic.Bool // what is downloaded is another file
	knows    atomic.Bool // the server knows the machine's permanent token
	asked    atomic.Int64
	left     atomic.Int64
	fetched  atomic.Int64
}

// newSite makes one; without are programs that the machine lacks.
func newSite(t *testing.T, without ...string) *site {
	t.Helper()
	program := standIn(t)
	s := &site{root: t.TempDir(), binaries: t.TempDir()}
	write(t, filepath.Join(s.binaries, "harvest-agent-"+runtime.GOARCH), string(program), 0o755)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /agents/binary/harvest-agent", s.download)
	mux.HandleFunc("POST /agent/ping", func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		if !s.knows.Load() || r.Header.Get("Authorization") != "Bearer hva_permanent" || r.URL.Query().Get("machine") != "m1" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	mux.HandleFunc("POST /agent/leave", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hva_joined" || r.URL.Query().Get("machine") != "m1" {
			w.WriteHeader(http.StatusUnauthorized)
		} else if s.left.Add(1) == 1 {
			w.WriteHeader(http.StatusConflict) // the connection that has just ended is still seen
		}
	})
	s.server = httptest.NewServer(mux)
	s.hub = newHub(newMemory(), "one", func(c *agenthub.Config) { c.PublicURL, c.BinaryPath = s.server.URL+"/", s.binaries })
	s.path = tools(t, without)
	t.Cleanup(func() {
		s.run(t, nil, "--uninstall") // whatever happened, nothing goes on
		s.server.Close()
	})
	return s
}

func (s *site) download(w http.ResponseWriter, r *http.Request) {
	s.fetched.Add(1)
	binary, err := s.hub.Binary(r.URL.Query().Get("arch"))
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if s.corrupt.Load() {
		_, _ = w.Write([]byte("#!/bin/sh\necho something else\n"))
		return
	}
	http.ServeFile(w, r, binary.Path)
}

// tools makes a folder with all programs of this machine but some.
func tools(t *testing.T, without []string) string {
	t.Helper()
	dir := t.TempDir()
	lacks := map[string]bool{"systemctl": true}
	for _, name := range without {
		lacks[name] = true
	}
	for _, from := range []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"} {
		entries, _ := os.ReadDir(from) // not every machine has each
		for _, e := range entries {
			if !lacks[e.Name()] {
				_ = os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())) // the first wins
			}
		}
	}
	return dir
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// run runs the script of now, as a person does, and gives what it says and its exit code.
func (s *site) run(t *testing.T, env []string, args ...string) (string, int) {
	t.Helper()
	script, err := s.hub.Script("p1")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", append([]string{"-s", "--"}, args...)...)
	cmd.Stdin = strings.NewReader(string(script))
	cmd.Env = append([]string{"PATH=" + s.path, "HARVEST_PREFIX=" + s.root}, env...)
	out, err := os.CreateTemp(t.TempDir(), "out") // a pipe would be held open by what is started
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	_ = cmd.Run() // the exit code says it
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func (s *site) in(path string) string { return filepath.Join(s.root, path) }

func (s *site) read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(s.in(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// started waits for the agent and its shim to say that they run, n times in all.
func (s *site) started(t *testing.T, n int) []string {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for look := time.NewTicker(10 * time.Millisecond); ; <-look.C {
		text, _ := os.ReadFile(s.in("etc/harvest-agent/notes"))
		if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); len(lines) >= n && lines[0] != "" {
			return lines
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(s.in("var/log/harvest-agent.log"))
			t.Fatalf("the agent did not start: %s\n%s", text, log)
		}
	}
}

func alive(t *testing.T, line string) bool {
	t.Helper()
	text, _, _ := strings.Cut(line, " ")
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%q names no process", line)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !regexp.MustCompile(`\) Z `).Match(status) && syscall.Kill(pid, 0) == nil
}

const goodToken = "hvi_goodgoodgoodgood"

// Without systemd the agent is started by itself; installing again leaves the machine as it
// is, and commands go on under their shims; uninstalling leaves nothing.
func TestInstallAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out, code := s.run(t, []string{"HARVEST_INSTALL_TOKEN=" + goodToken})
	if code != 0 || !strings.Contains(out, "rc.local") {
		t.Fatalf("%d: %s", code, out)
	}
	config := s.read(t, "etc/harvest-agent/config.toml")
	want := fmt.Sprintf("server_url = %q\nagent_token = %q\nstate_dir = %q\n", s.server.URL, "hva_joined", s.in("var/lib/harvest-agent"))
	if config != want {
		t.Errorf("the configuration is %q, want %q", config, want)
	}
	for path, mode := range map[string]os.FileMode{"etc/harvest-agent/config.toml": 0o600, "usr/local/bin/harvest-agent": 0o755} {
		if info, err := os.Stat(s.in(path)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	first := s.started(t, 2)
	for _, line := range first {
		if !strings.Contains(line, `token=""`) {
			t.Errorf("the token is in the environment of %s", line)
		}
	}

	// The agent has joined, and keeps its permanent token, whatever token comes.
	s.knows.Store(true)
	write(t, s.in("etc/harvest-agent/config.toml"), strings.Replace(config, "hva_joined", "hva_permanent", 1), 0o644)
	if out, code := s.run(t, nil, "--token", "hvi_expired"); code != 0 {
		t.Fatalf("again: %d: %s", code, out)
	}
	if text := s.read(t, "etc/harvest-agent/config.toml"); !strings.Contains(text, "hva_permanent") {
		t.Errorf("then the configuration is %q", text)
	}
	if info, _ := os.Stat(s.in("etc/harvest-agent/config.toml")); info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}
	if s.fetched.Load() != 1 {
		t.Errorf("the same program was fetched %d times", s.fetched.Load())
	}
	all := s.started(t, 4)
	for _, line := range all {
		shim, old := strings.Contains(line, " shim "), line == first[0] || line == first[1]
		if got := alive(t, line); got != (shim || !old) {
			t.Errorf("%s: alive is %v", line, got)
		}
	}

	// Where the server knows it no longer, it joins anew.
	s.knows.Store(false)
	if out, code := s.run(t, nil, "--token="+goodToken); code != 0 {
		t.Fatalf("anew: %d: %s", code, out)
	}
	if text := s.read(t, "etc/harvest-agent/config.toml"); text != config {
		t.Errorf("then the configuration is %q", text)
	}
	all = s.started(t, 6)

	// So it does where its files are those of another machine, which the server knows.
	s.knows.Store(true)
	write(t, s.in("etc/harvest-agent/config.toml"), strings.Replace(config, "hva_joined", "hva_permanent", 1), 0o600)
	write(t, s.in("etc/harvest-agent/copied"), "", 0o600)
	if out, code := s.run(t, nil, "--token="+goodToken); code != 0 || s.read(t, "etc/harvest-agent/config.toml") != config {
		t.Errorf("on a copied disk: %d: %s", code, out)
	}
	if err := os.Remove(s.in("etc/harvest-agent/copied")); err != nil {
		t.Fatal(err)
	}
	all = append(all, s.started(t, 8)...)
	full := []string{"TMPDIR=" + s.in("nowhere")} // where nothing can be written
	if out, code := s.run(t, full, "--uninstall"); code != 0 || !strings.Contains(out, "removed, from its project too") || s.left.Load() != 2 {
		t.Fatalf("uninstall: %d: %s, after %d requests", code, out, s.left.Load())
	}
	s.isClean(t, all)
	if out, code := s.run(t, nil, "--uninstall"); code != 0 || !strings.Contains(out, "harvest agents delete NAME") {
		t.Errorf("uninstall again: %d: %s", code, out)
	}
}

// isClean finds what is left of an installation.
func (s *site) isClean(t *testing.T, lines []string) {
	t.Helper()
	err := filepath.WalkDir(s.root, func(path string, e os.DirEntry, err error) error {
		if err == nil && (!e.IsDir() || strings.HasSuffix(path, "harvest-agent")) {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, line := range lines {
		if alive(t, line) {
			t.Errorf("%s still runs", line)
		}
	}
}

// Where systemd rules, it runs the agent, and a restart ends the agent alone.
func TestInstallWithSystemd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	calls := s.in("calls")
	write(t, filepath.Join(s.path, "systemctl"), "#!/bin/sh\necho \"$*\" >>"+calls+
		"\nif [ \"$1\" = restart ]; then sed -i s/hvi_[a-z]*/hva_joined/ "+s.in("etc/harvest-agent/config.toml")+"; fi\n", 0o755)
	if err := os.MkdirAll(s.in("run/systemd/system"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if out, code := s.run(t, []string{"HARVEST_INSTALL_TOKEN=" + goodToken}); code != 0 || !strings.Contains(out, "systemd runs it") {
			t.Fatalf("%d: %s", code, out)
		}
	}
	unit := s.read(t, "etc/systemd/system/harvest-agent.service")
	for _, line := range []string{
		"ExecStart=" + s.in("usr/local/bin/harvest-agent") + " --config " + s.in("etc/harvest-agent/config.toml"),
		"KillMode=process", "Restart=always", "WantedBy=multi-user.target",
	} {
		if !strings.Contains(unit, "\n"+line+"\n") {
			t.Errorf("the unit lacks %s:\n%s", line, unit)
		}
	}
	round := "stop harvest-agent.service\ndaemon-reload\nenable --quiet harvest-agent.service\nrestart harvest-agent.service\n"
	if got := s.read(t, "calls"); got != round+round {
		t.Errorf("systemctl was called so:\n%s", got)
	}
	if out, code := s.run(t, nil, "--uninstall"); code != 0 {
		t.Fatalf("uninstall: %d: %s", code, out)
	}
	if got := s.read(t, "calls"); !strings.HasSuffix(got, "disable --now harvest-agent.service\nstop harvest-agent.service\ndaemon-reload\n") {
		t.Errorf("systemctl was called so:\n%s", got)
	}
	os.Remove(calls)
	s.isClean(t, nil)
}

// A machine without curl is served by wget.
func TestInstallByWget(t *testing.T) {
	t.Parallel()
	s := newSite(t, "curl")
	for _, known := range []bool{false, true, false} {
		s.knows.Store(known)
		if out, code := s.run(t, []string{"HARVEST_INSTALL_TOKEN=" + goodToken}); code != 0 {
			t.Fatalf("%d: %s", code, out)
		}
		if text := s.read(t, "etc/harvest-agent/config.toml"); strings.Contains(text, "hva_permanent") != known {
			t.Errorf("the configuration is %q", text)
		}
		config := s.read(t, "etc/harvest-agent/config.toml")
		write(t, s.in("etc/harvest-agent/config.toml"), strings.Replace(config, "hva_joined", "hva_permanent", 1), 0o600)
	}
	if s.asked.Load() != 2 {
		t.Errorf("the server was asked %d times", s.asked.Load())
	}
}

// What is not as it should be is not installed, and the script says why and what to do.
func TestInstallRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*site)
		args   []string
		want   string
	}{
		"no token":        {nil, nil, "/projects/p1/agents/install-command"},
		"a wrong token":   {nil, []string{"--token", "hvk_key"}, "begins with hvi_"},
		"a strange token": {nil, []string{"--token", `hvi_"; rm -rf /`}, "no install token"},
		"an option":       {nil, []string{"--tokn", goodToken}, "no option --tokn"},
		"another file":    {func(s *site) { s.corrupt.Store(true) }, []string{"--token", goodToken}, "not what the server announced"},
		"no server":       {func(s *site) { s.server.Close() }, []string{"--token", goodToken}, "can't be downloaded"},
		"no program":      {func(s *site) { os.RemoveAll(s.binaries) }, []string{"--token", goodToken}, "set"},
		"half an option":  {nil, []string{"--token"}, "needs a token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			if c.change != nil {
				c.change(s)
			}
			out, code := s.run(t, nil, c.args...)
			if code == 0 || !strings.Contains(out, c.want) {
				t.Errorf("%d: %s", code, out)
			}
			s.isClean(t, nil)
		})
	}
}

// A download that is cut off after a good installation leaves what was there.
func TestUpdateFails(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if out, code := s.run(t, nil, "--token", goodToken); code != 0 {
		t.Fatalf("%d: %s", code, out)
	}
	first := s.started(t, 2)
	path := filepath.Join(s.binaries, "harvest-agent-"+runtime.GOARCH)
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(program)+"newer", 0o755)
	s.corrupt.Store(true)
	if out, code := s.run(t, nil, "--token", goodToken); code == 0 {
		t.Errorf("a wrong download passes: %s", out)
	}
	if got := s.read(t, "usr/local/bin/harvest-agent"); got != string(program) {
		t.Error("the program was replaced")
	}
	for _, line := range first {
		if !alive(t, line) {
			t.Errorf("%s was ended", line)
		}
	}
	s.corrupt.Store(false)
	if out, code := s.run(t, nil, "--token", goodToken); code != 0 {
		t.Errorf("then: %d: %s", code, out)
	}
	if got := s.read(t, "usr/local/bin/harvest-agent"); got != string(program)+"newer" {
		t.Error("the program is not up to date")
	}
}

// A configuration that was copied from another machine, without the id of that, is no reason to
// believe that this one has joined; what people have set in it stays.
func TestInstallOverACopy(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.knows.Store(true)
	theirs := fmt.Sprintf("server_url = %q\nagent_token = %q\nhostname = \"web\"\n", s.server.URL, "hva_permanent")
	write(t, s.in("etc/harvest-agent/config.toml"), theirs, 0o600)
	out, code := s.run(t, nil, "--token", goodToken)
	if code != 0 || !strings.Contains(out, "this machine is in the project as web") {
		t.Fatalf("%d: %s", code, out)
	}
	want := fmt.Sprintf("server_url = %q\nagent_token = %q\nstate_dir = %q\nhostname = \"web\"\n", s.server.URL, "hva_joined", s.in("var/lib/harvest-agent"))
	if got := s.read(t, "etc/harvest-agent/config.toml"); got != want {
		t.Errorf("the configuration is %q, want %q", got, want)
	}
}

// What can't be removed is said, and keeps nothing else.
func TestUninstallGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if out, code := s.run(t, nil, "--token", goodToken); code != 0 {
		t.Fatalf("%d: %s", code, out)
	}
	remove := filepath.Join(s.path, "rm")
	if err := os.Remove(remove); err != nil {
		t.Fatal(err)
	}
	write(t, remove, "#!/bin/sh\n/bin/rm \"$@\"\ncase $* in *local/bin*) echo busy >&2; exit 1 ;; esac\n", 0o755)
	if out, code := s.run(t, nil, "--uninstall"); code == 0 || !strings.Contains(out, "busy") || !strings.Contains(out, "by hand") {
		t.Errorf("%d: %s", code, out)
	}
	s.isClean(t, nil)
}

// What can't be written is said.
func TestInstallCantWrite(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"usr/local/bin/harvest-agent", "etc/harvest-agent/config.toml"} {
		s := newSite(t)
		if err := os.MkdirAll(s.in(path+".new"), 0o755); err != nil {
			t.Fatal(err)
		}
		if out, code := s.run(t, nil, "--token", goodToken); code == 0 || !strings.Contains(out, "can't be stored as "+s.in(path)) {
			t.Errorf("%d: %s", code, out)
		}
	}
}

// A token that the server does not take is said by the script, and not in the agent's log alone;
// a new command mends it, and what the log held before does not count.
func TestInstallDoesNotJoin(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out, code := s.run(t, nil, "--token", "hvi_expired")
	if code == 0 || !strings.Contains(out, "has not joined") || !strings.Contains(out, "it expired") {
		t.Errorf("%d: %s", code, out)
	}
	if out, code := s.run(t, nil, "--token", goodToken); code != 0 || strings.Contains(out, "has not joined") {
		t.Errorf("then: %d: %s", code, out)
	}
}

// Who is not root is told so.
func TestInstallNeedsRoot(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	script, err := s.hub.Script("p1")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/bash", "-s", "--", "--token", goodToken)
	cmd.Stdin, cmd.Dir = strings.NewReader(string(script)), "/"
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "put sudo before it") {
		t.Errorf("%v: %s", err, out)
	}
}

// Half a script does nothing.
func TestHalfAScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	script, err := s.hub.Script("p1")
	if err != nil {
		t.Fatal(err)
	}
	for part := 1; part < 8; part++ {
		cmd := exec.Command("bash")
		cmd.Stdin = strings.NewReader(string(script[:len(script)*part/8]))
		cmd.Env = []string{"PATH=" + s.path, "HARVEST_PREFIX=" + s.root, "HARVEST_INSTALL_TOKEN=" + goodToken}
		_ = cmd.Run() // most parts are no script
		s.isClean(t, nil)
	}
}

// The command is made of the configured address alone, and its token is kept as a hash.
func TestInstallOrder(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := newHub(m, "one", func(c *agenthub.Config) { c.PublicURL = "https://harvest.example.com/sub/" })
	first, err := h.Install(t.Context(), domain.InstallOrder{ProjectID: "p1"})
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`^curl -fsSL https://harvest.example.com/sub/agents/p1/install.sh \| sudo HARVEST_INSTALL_TOKEN=(hvi_[a-z2-7]{32}) bash$`)
	found := pattern.FindStringSubmatch(first.Command)
	if found == nil || !strings.HasPrefix(first.Wget, "wget -nv -O- https://harvest.example.com/sub/agents/p1/install.sh |") || first.Uses != nil {
		t.Fatalf("the command is %+v", first)
	}
	kept := m.installs[string(domain.MachineTokenHash(found[1]))]
	if kept.ProjectID != "p1" || kept.UsesLeft != nil || time.Until(kept.ExpiresAt) > domain.DefaultInstallLife || time.Until(kept.ExpiresAt) < domain.DefaultInstallLife-time.Minute {
		t.Errorf("kept is %+v", kept)
	}
	if strings.Contains(fmt.Sprintf("%+v", kept), found[1]) {
		t.Error("the token itself is kept")
	}
	if _, err := h.Install(t.Context(), domain.InstallOrder{ProjectID: "p1", Uses: 1, Life: time.Hour}); err != nil || len(m.installs) != 2 {
		t.Errorf("beside it: %v, %d tokens", err, len(m.installs))
	}
	if _, err := h.Install(t.Context(), domain.InstallOrder{ProjectID: "p1", Rotate: true}); err != nil || len(m.installs) != 1 {
		t.Errorf("rotated: %v, %d tokens", err, len(m.installs))
	}
	for name, order := range map[string]domain.InstallOrder{
		"life": {Life: domain.MaxInstallLife + time.Second}, "short": {Life: time.Millisecond}, "uses": {Uses: -1}, "many": {Uses: domain.MaxInstallUses + 1},
	} {
		if _, err := h.Install(t.Context(), order); domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	nowhere := newHub(m, "one")
	if _, err := nowhere.Install(t.Context(), domain.InstallOrder{}); domain.CodeOf(err) != domain.CodeNotConfigured || !strings.Contains(domain.PublicMessage(err), "public_url") {
		t.Errorf("without an address: %v", err)
	}
	if _, err := nowhere.Install(t.Context(), domain.InstallOrder{ProjectID: "p1", Rotate: true}); domain.CodeOf(err) != domain.CodeNotConfigured ||
		!strings.HasPrefix(domain.PublicMessage(err), "the install commands of this project have ended") || len(m.installs) != 0 {
		t.Errorf("rotated without an address: %v, %d tokens", err, len(m.installs))
	}
	if _, err := nowhere.Script("p1"); domain.CodeOf(err) != domain.CodeNotFound || !strings.Contains(domain.PublicMessage(err), "public_url") {
		t.Errorf("without an address the script: %v", err)
	}
}

// What a configuration and a project are called can't leave the script's quotes.
func TestScriptIsQuoted(t *testing.T) {
	t.Parallel()
	h := newHub(newMemory(), "one", func(c *agenthub.Config) { c.PublicURL = "https://x/'$(touch a)" })
	script, err := h.Script("p'; echo hi")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`server='https://x/'\''$(touch a)'`, `project='p'\''; echo hi'`, `sha256_amd64=''`} {
		if !strings.Contains(string(script), "\n"+line+"\n") {
			t.Errorf("the script lacks %s", line)
		}
	}
}
