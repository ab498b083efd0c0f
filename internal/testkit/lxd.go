package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// requireLXD makes a missing LXD a failure: continuous integration sets it.
const requireLXD = "HARVEST_REQUIRE_LXD"

// LXDServer is a private LXD daemon, with a pool of folders and an image of a few programs.
type LXDServer struct {
	Endpoint string // https, on the loopback interface
	Image    string // the alias of its image: busybox, bash, and a wget, or what Debian makes
	Profile  string // for containers of the image
	// Network are options of bridges that work on any machine; Gateway is the address of this
	// machine in them. There can be one such bridge at a time.
	Network map[string]string
	Gateway string

	dir     string
	process *exec.Cmd
	ended   chan struct{}
	log     *os.File
}

// LXD starts an LXD daemon of the test's own; it needs root, and Debian's packages lxd,
// lxd-client, nftables, dnsmasq-base and busybox-static. Where these are missing the test is
// skipped, or fails if HARVEST_REQUIRE_LXD is 1.
func LXD(t testing.TB) *LXDServer {
	t.Helper()
	if err := findLXD(); err != nil {
		skipWithout(t, err, requireLXD)
	}
	s, err := newLXD()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			said, _ := os.ReadFile(s.log.Name())
			t.Logf("the daemon said:\n%s", said)
		}
		s.remove(t)
	})
	if err := s.setUp(); err != nil {
		t.Fatal(err)
	}
	return s
}

func findLXD() error {
	if os.Getuid() != 0 {
		return errors.New("only root can run an LXD daemon")
	}
	for _, name := range []string{"lxd", "lxc", "nft", "dnsmasq", "busybox", "bash"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("LXD can't be run: there is no %s; install lxd, lxd-client, nftables, dnsmasq-base and busybox-static", name)
		}
	}
	return nil
}

func newLXD() (*LXDServer, error) {
	dir, err := os.MkdirTemp("", "lxd") // short: it holds sockets
	if err != nil {
		return nil, err
	}
	// By chance, as other test binaries run beside this one, and killed ones leave theirs behind.
	subnet := fmt.Sprintf("10.%d.%d", 100+rand.IntN(100), 1+rand.IntN(250))
	s := &LXDServer{dir: dir, Image: "tiny", Profile: "default", Gateway: subnet + ".1", Network: map[string]string{
		"ipv4.address": subnet + ".1/24", "ipv4.nat": "false", "ipv4.firewall": "false", "ipv6.address": "none",
	}}
	if err := os.Chmod(dir, 0o711); err != nil { // containers run under other users
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s.Endpoint = "https://" + net.JoinHostPort("127.0.0.1", fmt.Sprint(port))
	s.log, err = os.Create(filepath.Join(dir, "log"))
	return s, err
}

// setUp starts the daemon and gives it storage and the image.
func (s *LXDServer) setUp() error {
	if err := s.Start(); err != nil {
		return err
	}
	seed := fmt.Sprintf(`
config: {core.https_address: %q}
storage_pools: [{name: default, driver: dir}]
profiles: [{name: default, config: {raw.lxc: lxc.signal.halt=SIGUSR2}, devices: {root: {path: /, pool: default, type: disk}}}]
`, strings.TrimPrefix(s.Endpoint, "https://"))
	if err := s.command(strings.NewReader(seed), "lxd", "init", "--preseed"); err != nil {
		return err
	}
	image := filepath.Join(s.dir, "image.tar.gz")
	if err := makeImage(filepath.Join(s.dir, "image"), image); err != nil {
		return err
	}
	return s.command(nil, "lxc", "image", "import", image, "--alias", s.Image)
}

// Start starts the daemon, again after Kill or Stop.
func (s *LXDServer) Start() error {
	s.process = exec.Command("lxd", "--group", "root")
	s.process.Env = s.env()
	s.process.Stdout, s.process.Stderr = s.log, s.log
	s.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("start lxd: %w", err)
	}
	process, ended := s.process, make(chan struct{})
	s.ended = ended
	go func() {
		_ = process.Wait() // it ends when it is stopped
		close(ended)
	}()
	return s.command(nil, "lxd", "waitready", "--timeout=60")
}

// Kill ends the daemon as a crash does. Containers go on.
func (s *LXDServer) Kill() {
	_ = s.process.Process.Kill()
	<-s.ended
}

func (s *LXDServer) env() []string { return append(os.Environ(), "LXD_DIR="+filepath.Join(s.dir, "d")) }

func (s *LXDServer) command(in *strings.Reader, name string, args ...string) error {
	_, err := s.output(in, name, args...)
	return err
}

func (s *LXDServer) output(in *strings.Reader, name string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(s.env(), "LXD_CONF="+filepath.Join(s.dir, "conf"))
	if in != nil {
		c.Stdin = in
	}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

// Client runs a command of lxc, as an administrator of the server does, and gives its output.
func (s *LXDServer) Client(t testing.TB, args ...string) string {
	t.Helper()
	out, err := s.output(nil, "lxc", args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// TrustToken makes a token by which a client can join.
func (s *LXDServer) TrustToken(t testing.TB) string {
	t.Helper()
	lines := strings.Fields(s.Client(t, "config", "trust", "add", "--name", "harvest"))
	return lines[len(lines)-1]
}

// Trust makes the server trust a certificate, as an administrator does.
func (s *LXDServer) Trust(t testing.TB, certificate string) {
	t.Helper()
	file := filepath.Join(s.dir, "trusted.crt")
	if err := os.WriteFile(file, []byte(certificate), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Client(t, "config", "trust", "add", file)
}

// Certificate gives the server's certificate, as PEM.
func (s *LXDServer) Certificate(t testing.TB) string {
	t.Helper()
	pem, err := os.ReadFile(filepath.Join(s.dir, "d", "server.crt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(pem)
}

// RenewCertificate gives the server another certificate, as an administrator does who makes it
// anew. Connections that are open stay.
func (s *LXDServer) RenewCertificate(t testing.TB) {
	t.Helper()
	s.Kill()
	for _, name := range []string{"server.crt", "server.key"} {
		if err := os.Remove(filepath.Join(s.dir, "d", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
}

// Names lists what there is of a kind (instances, networks …) in a project of the server.
func (s *LXDServer) Names(t testing.TB, kind, project string) []string {
	t.Helper()
	var paths []string
	if err := json.Unmarshal([]byte(s.Client(t, "query", "/1.0/"+kind+"?project="+project)), &paths); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, path := range paths {
		path, _, _ = strings.Cut(path, "?")
		names = append(names, path[strings.LastIndex(path, "/")+1:])
	}
	slices.Sort(names)
	return names
}

// remove ends the daemon with all that it made on this machine.
func (s *LXDServer) remove(t testing.TB) {
	for _, project := range []string{"default", "harvest"} {
		out, err := s.output(nil, "lxc", "list", "--project", project, "--format", "csv", "-c", "n")
		if err != nil {
			continue // there is no such project
		}
		for _, name := range strings.Fields(out) {
			if err := s.command(nil, "lxc", "delete", "--force", "--project", project, name); err != nil {
				t.Errorf("clean up: %v", err)
			}
		}
	}
	if out, err := s.output(nil, "lxc", "network", "list", "--format", "csv"); err == nil {
		for line := range strings.Lines(out) {
			if fields := strings.Split(line, ","); len(fields) > 2 && fields[2] == "YES" {
				_ = s.command(nil, "lxc", "network", "delete", fields[0])
			}
		}
	}
	_ = s.process.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(20 * time.Second):
		s.Kill()
	}
	unmountBelow(s.dir)
	if err := os.RemoveAll(s.dir); err != nil {
		t.Errorf("clean up: %v", err)
	}
	s.log.Close()
}

// unmountBelow takes away what a daemon has mounted in its folder, the last first.
func unmountBelow(dir string) {
	table, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return
	}
	lines := strings.Split(string(table), "\n")
	slices.Reverse(lines)
	for _, line := range lines {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], dir+"/") {
			_ = syscall.Unmount(fields[1], syscall.MNT_DETACH)
		}
	}
}
