package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// sshServer is an OpenSSH server on this machine, for this run.
type sshServer struct {
	dir    string
	port   int
	server *exec.Cmd
}

// startSSH makes keys and starts a server that takes them.
func startSSH(ctx context.Context, dir string) (*sshServer, error) {
	const daemon = "/usr/sbin/sshd"
	if _, err := os.Stat(daemon); err != nil {
		return nil, errors.New("the reference needs an OpenSSH server: install openssh-server")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{"host", "user"} {
		if out, err := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("make a key: %w\n%s", err, out)
		}
	}
	if err := os.Rename(filepath.Join(dir, "user.pub"), filepath.Join(dir, "allowed")); err != nil {
		return nil, err
	}
	_ = os.MkdirAll("/run/sshd", 0o755) // the server wants it where it runs as root; else it says so itself
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &sshServer{dir: dir, port: port}
	s.server = exec.CommandContext(ctx, daemon, "-D", "-f", "/dev/null", "-h", filepath.Join(dir, "host"), "-p", strconv.Itoa(port),
		"-o", "ListenAddress=127.0.0.1", "-o", "AuthorizedKeysFile="+filepath.Join(dir, "allowed"), "-o", "StrictModes=no",
		"-o", "PidFile=none", "-o", "UsePAM=no", "-o", "PermitRootLogin=yes", "-o", "MaxStartups=100")
	if err := s.server.Start(); err != nil {
		return nil, fmt.Errorf("start the SSH server: %w", err)
	}
	if err := s.await(ctx); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// await waits until the server takes connections.
func (s *sshServer) await(ctx context.Context) error {
	return poll(ctx, 1, func() (int, error) {
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
		if err != nil {
			return 0, nil // it is not there yet
		}
		return 1, conn.Close()
	})
}

func (s *sshServer) stop() {
	_ = s.server.Process.Kill()
	_ = s.server.Wait()
}

// run runs a command by a connection of its own, receives its output, and gives the time it took.
func (s *sshServer) run(ctx context.Context, command string) (time.Duration, error) {
	client := exec.CommandContext(ctx, "ssh", "-F", "none", "-i", filepath.Join(s.dir, "user"), "-p", strconv.Itoa(s.port), "-o", "BatchMode=yes",
		"-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "127.0.0.1", command)
	client.Stdout, client.Stderr = io.Discard, os.Stderr
	started := time.Now()
	if err := client.Run(); err != nil {
		return 0, fmt.Errorf("ssh: %w", err)
	}
	return time.Since(started), nil
}
