package shellpolicy

import (
	"slices"
	"strings"
)

// servicePrograms tell of services and their logs. None of them pages where its output is no
// terminal, as that of a command here never is.
var servicePrograms = map[string]program{
	"systemctl": verbs("-alqrx0 -n: -o: -p: -P: -t: --all --failed --full --lines: --no-legend --no-pager --output: --plain --property: --quiet --state: --system --type: --user --value --with-dependencies --reverse --recursive --show-types --after --before --timestamp:",
		"status", "is-active", "is-enabled", "is-failed", "is-system-running", "list-units", "list-unit-files", "list-timers", "list-sockets", "list-dependencies",
		"list-jobs", "list-machines", "show", "cat", "get-default"),
	"journalctl": {options: known("-abefkmqrx -# -n? -o: -p: -t: -u: -S: -U: -g: -c: -F: --all --no-pager --follow --lines? --output: --priority: --unit: --user-unit: --since: --until: --boot? --dmesg --grep: --case-sensitive? --identifier: " +
		"--reverse --pager-end --catalog --quiet --utc --list-boots --disk-usage --no-hostname --no-full --full --system --user --merge --output-fields: --facility: --fields --field: --no-tail --header --after-cursor: --cursor: --show-cursor"),
		words: journalFields},
	"systemd-analyze": exactly("", "time", "blame", "critical-chain", "blame --no-pager", "critical-chain --no-pager"),
	"systemd-cgls":    bare("-alk --no-pager --all --full"),
	"hostnamectl":     exactly("", "status", "--static", "hostname"),
	"timedatectl":     exactly("", "status", "show", "timesync-status", "list-timezones", "--no-pager", "status --no-pager"),
	"localectl":       exactly("", "status"),
	"loginctl":        exactly("", "list-sessions", "list-users", "list-seats", "--no-pager", "list-sessions --no-pager", "list-users --no-pager"),
	"service":         {judge: service},
	"chronyc":         exactly("tracking", "sources", "sources -v", "sourcestats", "-n sources", "-n tracking"),
	"ntpq":            exactly("-p", "-pn", "-np"),
	"ufw":             exactly("status", "status verbose", "status numbered", "version"),
	"zpool":           {subs: map[string]program{"status": lists("-vxLPD"), "list": lists("-HvpLP -o:"), "iostat": lists("-vlLP")}},
	"zfs":             {subs: map[string]program{"list": lists("-Hprd -o: -s: -S: -t:"), "get": lists("-Hpr -o: -s: -t: -d:")}},
	"crictl":          {subs: map[string]program{"ps": lists("-aqv"), "images": lists("-qv"), "pods": lists("-qv"), "version": bare("")}},
}

// journalFields judges what journalctl looks for: fields, and no files, of which some are
// devices.
func journalFields(words []word) string {
	for _, w := range words {
		name, _, assigned := strings.Cut(w.text, "=")
		if number(w.text) || w.fixed && w.text == "all" { // behind -n and -b
			continue
		}
		if !w.fixed || w.text != "+" && (!assigned || name == "" || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") != "") {
			return "it is not known what it does when it is given " + w.text
		}
	}
	return ""
}

// service judges service NAME status.
func service(words []word) string {
	switch {
	case len(words) == 1 && words[0].fixed && words[0].text == "--status-all":
		return ""
	case len(words) == 2 && words[0].fixed && !words[0].option() && !strings.Contains(words[0].text, "/") && words[1].fixed && words[1].text == "status":
		return ""
	}
	return "it is known to only read as service NAME status"
}

// versionPrograms are those that are known to tell their version, and nothing else, without
// looking into the folder that they are called in.
func versionPrograms() map[string]program {
	table := map[string]program{
		"java": exactly("-version", "--version"), "nginx": exactly("-v"), "ssh": exactly("-V"), "haproxy": exactly("-v"),
		"node": exactly("--version", "-v"), "php": exactly("--version", "-v"), "python3": exactly("--version", "-V"),
	}
	for _, name := range []string{
		"bash", "python", "perl", "ruby", "gcc", "g++", "clang", "make", "cmake", "curl", "wget", "rsync", "psql", "postgres", "mysql",
		"sqlite3", "redis-server", "redis-cli", "pip", "pip3", "podman", "vim", "nano", "less", "tmux", "strace", "gdb", "sudo",
	} {
		table[name] = exactly("--version")
	}
	return table
}

// kubeOptions are those that all the questions of kubectl take here. None names a file: one
// with a cluster's address may name a program to be run.
const kubeOptions = "-Awp -n: -o: -l: -c: -L: --all-namespaces --namespace: --output: --selector: --container: --context: --cluster: --watch --no-headers --show-labels --show-kind " +
	"--sort-by: --field-selector: --label-columns: --ignore-not-found --all-containers? --previous --timestamps? --tail: --since: --since-time: --follow --prefix? --limit-bytes: --max-log-requests: --containers --sum --short --client --show-events? --chunk-size: --recursive --api-group: --namespaced? --verbs: --list"

var kubectlOptions = known(kubeOptions)

// kubePlaces are options of kubectl itself, whose values it knows before it knows the verb. Any
// other option before the verb takes the next word along, and the verb is a later one.
var kubePlaces = []string{"-n", "--namespace", "--context", "--cluster"}

// kubectl judges a call of kubectl, and keeps secrets from being shown.
func kubectl(words []word) string {
	rest, reason := kubectlOptions.scan("", words, false)
	if reason != "" {
		return reason
	}
	if len(rest) == 0 {
		return ""
	}
	for _, w := range words {
		if !w.fixed {
			return "it can't be told what " + w.text + " is"
		}
		if strings.Contains(strings.ToLower(w.text), "secret") || strings.Contains(w.text, "-file") || strings.Contains(w.text, "templatefile") {
			return "it may show secrets, or read a file, when it is given " + w.text
		}
	}
	for len(words) > 1 && words[0].option() {
		name, _, assigned := strings.Cut(words[0].text, "=")
		if !slices.Contains(kubePlaces, name) {
			return "its option " + words[0].text + " may hide what it is asked, unless it stands behind that"
		}
		words = words[map[bool]int{true: 1, false: 2}[assigned]:]
	}
	verb, second := rest[0].text, ""
	if len(words) > 1 {
		second = words[1].text
	}
	for both, seconds := range map[string][]string{
		"config":  {"get-contexts", "current-context", "get-clusters"},
		"rollout": {"status", "history"},
		"auth":    {"can-i", "whoami"},
	} {
		if verb == both && slices.Contains(seconds, second) {
			return ""
		}
	}
	if verb == "cluster-info" && len(rest) == 1 || slices.Contains([]string{"get", "describe", "logs", "top", "version", "api-resources", "api-versions", "explain", "events"}, verb) {
		return ""
	}
	return verb + " " + second + " is not known to only read"
}
