package main

import (
	"os/user"
	"strings"
)

// environment gives the environment of commands: that of the agent, with what a login would
// add where a service manager left it out.
func environment(own []string) []string {
	defaults := map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SHELL": "/bin/bash"}
	if me, err := user.Current(); err == nil {
		defaults["HOME"], defaults["USER"], defaults["LOGNAME"] = me.HomeDir, me.Username, me.Username
	}
	env := make([]string, 0, len(own)+len(defaults))
	for _, entry := range own {
		name, value, _ := strings.Cut(entry, "=")
		if value != "" {
			delete(defaults, name)
		}
		if _, replaced := defaults[name]; !replaced && !ofService(name) {
			env = append(env, entry)
		}
	}
	for name, value := range defaults {
		env = append(env, name+"="+value)
	}
	return env
}

// ofService reports whether a variable is the agent's alone, by its service manager.
func ofService(name string) bool {
	switch name {
	case "INVOCATION_ID", "JOURNAL_STREAM", "NOTIFY_SOCKET", "SYSTEMD_EXEC_PID", "WATCHDOG_PID", "WATCHDOG_USEC", "MAINPID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE":
		return true
	}
	return false
}
