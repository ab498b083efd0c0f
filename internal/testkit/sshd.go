package testkit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"testing"
	"time"
)

// SSHServer is a running OpenSSH server on the loopback interface.
type SSHServer struct {
	Port int
	User string // whose files it serves: the one who runs the test
	Key  []byte // the one private key that it takes

	program, dir string
	process      *exec.Cmd
}

// requireSSHD makes a missing server a failure: continuous integration sets it.
const requireSSHD = "HARVEST_REQUIRE_SSHD"

// SSHD starts an OpenSSH server of the test's own. Where none is installed the test is skipped,
// or fails if HARVEST_REQUIRE_SSHD is 1.
func SSHD(t testing.TB) *SSHServer {
	t.Helper()
	program, err := findSSHD()
	if err != nil && os.Getenv(requireSSHD) != "1" {
		t.Skipf("%v; set %s=1 to make this a failure", err, requireSSHD)
	}
	if err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatalf("look up the user: %v", err)
	}
	s := &SSHServer{User: me.Username, program: program, dir: t.TempDir()}
	if err := s.setUp(me); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// findSSHD looks where servers are installed: not on everybody's PATH.
func findSSHD() (string, error) {
	for _, name := range []string{"sshd", "/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path) // sshd refuses to be called by another
		}
	}
	return "", errors.New("no OpenSSH server (sshd) is installed")
}

func (s *SSHServer) setUp(me *user.User) (err error) {
	if me.Uid == "0" { // sshd wants it as root, and a packaged one makes it at the start of the system
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return fmt.Errorf("make the folder of sshd: %w", err)
		}
	}
	if err := s.newHostKey(); err != nil {
		return err
	}
	if err := makeKey(filepath.Join(s.dir, "user")); err != nil {
		return err
	}
	if s.Key, err = os.ReadFile(filepath.Join(s.dir, "user")); err != nil {
		return err
	}
	if s.Port, err = freePort(); err != nil {
		return err
	}
	config := fmt.Sprintf(`ListenAddress 127.0.0.1:%d
HostKey %s/host
AuthorizedKeysFile %s/user.pub
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
`, s.Port, s.dir, s.dir)
	return os.WriteFile(filepath.Join(s.dir, "config"), []byte(config), 0o600)
}

func (s *SSHServer) newHostKey() error { return makeKey(filepath.Join(s.dir, "host")) }

func makeKey(path string) error {
	_ = os.Remove(path) // else ssh-keygen would ask
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("make an ssh key: %w: %s", err, out)
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// start runs the server until it listens.
func (s *SSHServer) start() error {
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.process = exec.Command(s.program, "-D", "-e", "-f", filepath.Join(s.dir, "config"))
	s.process.Stderr = log
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("start sshd: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port))
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			said, _ := os.ReadFile(log.Name())
			return fmt.Errorf("sshd does not listen: %w\n%s", err, said)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *SSHServer) stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait() // it was killed
}

// Renew starts the server again as another one at the same port: with another host key.
func (s *SSHServer) Renew(t testing.TB) {
	t.Helper()
	s.stop()
	if err := s.newHostKey(); err != nil {
		t.Fatal(err)
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}
