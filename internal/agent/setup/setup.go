// Package setup takes the agent off its machine: all that the install script has put there.
package setup

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Installed are the places of an installed agent.
type Installed struct {
	Prefix string // "" but for one that was installed under another folder than /
	Config string // the configuration file
	State  string // the state folder
	Binary string
}

const configPath = "/etc/harvest-agent/config.toml"

// Of gives the places of an agent that runs with a configuration file and a state folder.
func Of(config, state, binary string) Installed {
	prefix, _ := strings.CutSuffix(config, configPath)
	if prefix == config {
		prefix = ""
	}
	return Installed{Prefix: prefix, Config: config, State: state, Binary: strings.TrimSuffix(binary, " (deleted)")}
}

// Remove removes all of it. What can't be removed does not keep the rest.
func (i Installed) Remove() error {
	unit := i.Prefix + "/etc/systemd/system/harvest-agent.service"
	systemd := i.systemd()
	if _, err := os.Stat(unit); err == nil && systemd {
		// Not --now, which would end this process amid its work.
		run("systemctl", "disable", "harvest-agent.service")
	}
	errs := []error{
		gone(os.Remove(unit)), gone(os.Remove(i.Config)), os.RemoveAll(i.State), gone(os.Remove(i.Binary)),
		gone(os.Remove(i.Prefix + "/run/harvest-agent.pid")), gone(os.Remove(i.Prefix + "/var/log/harvest-agent.log")),
	}
	if strings.HasSuffix(i.Config, configPath) {
		_ = os.Remove(filepath.Dir(i.Config)) // where nothing else is in it
	}
	if systemd {
		run("systemctl", "daemon-reload") // and with it forgets to start the agent again
	}
	return errors.Join(errs...)
}

func (i Installed) systemd() bool {
	_, err := os.Stat(i.Prefix + "/run/systemd/system")
	return err == nil
}

func gone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// run runs a program of the system, whose failure nothing can be done about here.
func run(name string, args ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	_ = cmd.Run()
}
