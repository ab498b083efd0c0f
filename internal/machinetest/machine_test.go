package machinetest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// machine is a machine with an agent, whose files are in a folder of its own.
type machine struct {
	*process
	s        *site
	hostname string
	dir      string
	id       string // of its agent
}

// machine makes a machine that reaches the API by an address, and waits until it has joined.
func (s *site) machine(address string) *machine {
	s.t.Helper()
	m := s.installed(address)
	m.join()
	return m
}

// installed makes a machine whose agent does not run yet.
func (s *site) installed(address string) *machine {
	s.t.Helper()
	m := &machine{s: s, hostname: "box-" + domain.NewID(), dir: s.t.TempDir()}
	m.configure(address, s.install)
	return m
}

// configure writes the agent's configuration.
func (m *machine) configure(address, token string) {
	m.s.t.Helper()
	text := fmt.Sprintf("server_url = %q\nagent_token = %q\nhostname = %q\n", "http://"+address, token, m.hostname)
	if err := os.WriteFile(m.config(), []byte(text), 0o600); err != nil {
		m.s.t.Fatal(err)
	}
}

func (m *machine) config() string { return filepath.Join(m.dir, "config.toml") }

// join starts the agent for the first time, and waits until it is connected.
func (m *machine) join() {
	m.s.t.Helper()
	m.launch()
	m.comes()
}

// launch starts the agent for the first time.
func (m *machine) launch() {
	m.s.t.Helper()
	path := program(m.s.t, "harvest-agent")
	m.process = startProcess(m.s.t, filepath.Join(m.dir, "agent.log"), "", func() *exec.Cmd {
		return exec.Command(path, "-c", m.config())
	})
}

// comes waits until the agent is connected.
func (m *machine) comes() {
	m.s.t.Helper()
	eventually(m.s.t, m.hostname+" is online", func() bool {
		list, err := m.s.store.Agents(context.Background(), m.s.project)
		if err != nil {
			return false
		}
		for _, a := range list {
			if a.Hostname == m.hostname {
				m.id = a.ID
				return a.Online
			}
		}
		return false
	})
}

// goes waits until the agent is seen to be away.
func (m *machine) goes(limit time.Duration) {
	m.s.t.Helper()
	within(m.s.t, limit, m.hostname+" is offline", func() bool {
		a, err := m.s.store.Agent(context.Background(), m.s.project, m.id)
		return err == nil && !a.Online
	})
}

// processesOf gives the processes that have one of some words in their environment or command
// line: a shim has the id of its command there, and so has all that descends from it, in
// whatever group or session.
func processesOf(words ...string) (found []string) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, entry := range entries {
		line, err := os.ReadFile(entry + "/cmdline")
		if err != nil {
			continue // it has ended
		}
		environment, _ := os.ReadFile(entry + "/environ")
		has := func(word string) bool {
			return bytes.Contains(line, []byte(word)) || bytes.Contains(environment, []byte(word))
		}
		if slices.ContainsFunc(words, has) {
			found = append(found, filepath.Base(entry)+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// nothingLeft waits for the end of all processes of some commands: their shims end a moment
// after it is told how these did.
func nothingLeft(t *testing.T, ids ...string) {
	t.Helper()
	within(t, 20*time.Second, "nothing is left of "+strings.Join(ids, ", "), func() bool { return len(processesOf(ids...)) == 0 })
}

// shimOf gives the process that watches over a command.
func shimOf(t *testing.T, id string) int {
	t.Helper()
	var pid int
	eventually(t, "command "+id+" has a shim", func() bool {
		for _, p := range processesOf(id) {
			number, line, _ := strings.Cut(p, " ")
			if strings.HasPrefix(line, "harvest-agent shim") {
				pid, _ = strconv.Atoi(number)
			}
		}
		return pid > 0
	})
	return pid
}
