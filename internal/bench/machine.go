package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

const (
	commandLimit = 60.0 // ms, from the request to the answer
	longOutput   = 1_000_000_000
	rateOutput   = 256 << 20
	outputLimit  = 64.0 // MB that a process may grow by while a command writes longOutput
)

// machineSite is the program with a project, and the agent of a machine, which is this one.
type machineSite struct {
	*runningProgram
	owner   string // token
	project string
	agent   string // id
	daemon  *exec.Cmd
	http    *http.Client
}

// machines measures commands on machines: beside a workflow that is started, signalled and ends,
// and beside ssh to this machine.
func (b *bench) machines(ctx context.Context) (rows []Row, err error) {
	dir, err := os.MkdirTemp("", "harvest-machines-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	m, err := b.openMachines(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer m.close()
	shell, err := startSSH(ctx, filepath.Join(dir, "ssh"))
	if err != nil {
		return nil, err
	}
	defer shell.stop()
	for _, measure := range []func() ([]Row, error){
		func() ([]Row, error) { return b.manyAgents(ctx, m) }, // first: what a process freed before is room that hides what they take
		func() ([]Row, error) { return b.roundTrips(ctx, m, shell) },
		func() ([]Row, error) { return b.outputRate(ctx, m, shell) },
		func() ([]Row, error) { return b.longOutput(ctx, m) },
	} {
		found, err := measure()
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

func (b *bench) openMachines(ctx context.Context, dir string) (m *machineSite, err error) {
	m = &machineSite{http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: hands}}}
	m.runningProgram, err = startProgram(ctx, b.servers, dir, func(address string) string {
		return fmt.Sprintf("[agents]\npublic_url = %q\n", address)
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	if m.owner, err = m.token(); err != nil {
		return nil, err
	}
	var made struct{ ID string }
	if err := m.call(ctx, http.MethodPost, "/projects", map[string]any{"name": "bench machines", "group_id": "everyone"}, &made); err != nil {
		return nil, err
	}
	m.project = made.ID
	token, err := m.installToken(ctx)
	if err != nil {
		return nil, err
	}
	return m, m.startAgent(ctx, token)
}

var installToken = regexp.MustCompile(`hvi_[0-9a-z]+`)

// installToken gives what any number of machines can join by.
func (m *machineSite) installToken(ctx context.Context) (string, error) {
	var answer struct{ Command string }
	if err := m.call(ctx, http.MethodGet, "/projects/"+m.project+"/agents/install-command", nil, &answer); err != nil {
		return "", err
	}
	if token := installToken.FindString(answer.Command); token != "" {
		return token, nil
	}
	return "", fmt.Errorf("no token in the install command %q", answer.Command)
}

// startAgent starts the real agent and waits until it is connected.
func (m *machineSite) startAgent(ctx context.Context, token string) error {
	program, err := buildProgram(ctx, m.dir, "harvest-agent")
	if err != nil {
		return err
	}
	home := filepath.Join(m.dir, "agent")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	config := filepath.Join(home, "config.toml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "server_url = %q\nagent_token = %q\n", m.address, token), 0o600); err != nil {
		return err
	}
	m.daemon = exec.CommandContext(ctx, program, "-c", config)
	m.daemon.Cancel = func() error { return m.daemon.Process.Signal(syscall.SIGTERM) }
	if err := m.daemon.Start(); err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	return poll(ctx, 1, func() (int, error) {
		var list []struct {
			ID     string
			Online bool
		}
		if err := m.call(ctx, http.MethodGet, "/projects/"+m.project+"/agents", nil, &list); err != nil || len(list) == 0 || !list[0].Online {
			return 0, err
		}
		m.agent = list[0].ID
		return 1, nil
	})
}

func (m *machineSite) close() {
	if m.daemon != nil && m.daemon.Process != nil {
		_ = m.daemon.Process.Signal(syscall.SIGTERM)
		_ = m.daemon.Wait()
	}
	m.stop()
}

// call makes a request of the API as the owner, and decodes the answer.
func (m *machineSite) call(ctx context.Context, method, path string, body, answer any) error {
	doc, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, m.address+path, bytes.NewReader(doc))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+m.owner)
	response, err := m.http.Do(req)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s is answered %s: %s", method, path, response.Status, text)
	}
	return json.Unmarshal(text, answer)
}

// execute runs a command and gives the time from the request to the answer.
func (m *machineSite) execute(ctx context.Context, command string) (time.Duration, error) {
	var answer struct {
		ExitCode *int `json:"exit_code"`
	}
	started := time.Now()
	err := m.call(ctx, http.MethodPost, "/projects/"+m.project+"/agents/"+m.agent+"/execute", map[string]any{"command": command, "timeout_secs": 300}, &answer)
	took := time.Since(started)
	if err == nil && (answer.ExitCode == nil || *answer.ExitCode != 0) {
		err = fmt.Errorf("%q did not end with 0", command)
	}
	return took, err
}
