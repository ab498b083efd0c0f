package shellpolicy

import (
	"path"
	"slices"
	"strings"
)

// confidential are parts of the names of files that hold keys and passwords. The list keeps the
// usual ones from being shown by the way; it can't be whole, and no promise is made of it.
var confidential = []string{
	"/etc/harvest-agent", "harvest-agent/config", "/etc/shadow", "/etc/gshadow", "/.ssh", ".ssh/", "id_rsa", "id_ed25519", "id_ecdsa",
	"/environ", "/etc/ssl/private", ".gnupg", ".netrc", ".pgpass", ".my.cnf", ".git-credentials", ".aws/", ".kube/", ".docker/config",
	"kubeconfig", "/etc/sudoers", "/etc/krb5.keytab",
}

// touchy says why a word should be looked at by a person, or "". Reading some files does
// something: a device, or a file of the kernel that gives each line once. names says that the
// program does not open what it is given.
func touchy(w word, names bool) string {
	for _, part := range confidential {
		if strings.Contains(w.text, part) {
			return w.text + " may hold keys or passwords"
		}
	}
	if names {
		return ""
	}
	for _, root := range []string{"dev", "proc", "sys"} {
		for _, path := range below(w.text, root) {
			if !quiet(root, path) {
				return w.text + " may be more than a file: reading it can do something"
			}
		}
		if strings.TrimRight(w.text, "/") == "/"+root {
			return w.text + " holds more than files: reading it can do something"
		}
	}
	if w.glob && vague(w.text) {
		return "it can't be told which folders " + w.text + " stands for"
	}
	return ""
}

// vague reports whether a pattern may lead into any folder of the machine.
func vague(pattern string) bool {
	first := ""
	for i, element := range strings.Split(pattern, "/") {
		switch {
		case mayClimb(element):
			return true
		case first == "" && element != "" && element != ".":
			first = element
			if strings.ContainsAny(element, "*?[") && i < strings.Count(pattern, "/") {
				return true
			}
		}
	}
	return false
}

// mayClimb reports whether a path has an element that is "..", or a pattern of which some shells make
// that.
func mayClimb(pattern string) bool {
	for element := range strings.SplitSeq(pattern, "/") {
		if !strings.HasPrefix(element, ".") {
			continue // a pattern's signs stand for no dot at a name's beginning
		}
		if matched, err := path.Match(element, ".."); matched || err != nil {
			return true
		}
	}
	return false
}

// below gives what stands behind each folder of this name in a text that may hold a path.
func below(text, folder string) (paths []string) {
	for i := 0; ; {
		at := strings.Index(text[i:], folder+"/")
		if at < 0 {
			return paths
		}
		at += i
		i = at + len(folder) + 1
		if at == 0 || strings.IndexByte("/=:~\"'(", text[at-1]) >= 0 || at == 2 && text[0] == '-' {
			paths = append(paths, text[i:])
		}
	}
}

// kernelTables are files of /proc that only tell.
var kernelTables = []string{
	"cpuinfo", "meminfo", "loadavg", "mounts", "version", "uptime", "stat", "swaps", "partitions", "filesystems", "modules",
	"interrupts", "diskstats", "vmstat", "cmdline", "devices", "mdstat", "slabinfo", "zoneinfo", "buddyinfo", "softirqs",
}

// processTables are files of a process that only tell.
var processTables = []string{"status", "stat", "statm", "limits", "cmdline", "comm", "cgroup", "io", "mounts", "mountinfo", "maps", "smaps_rollup", "oom_score", "sched"}

// quiet reports whether reading what stands at a path below dev, proc or sys only reads.
func quiet(root, path string) bool {
	parts := strings.Split(path, "/")
	if slices.Contains(parts, "..") || slices.Contains(parts, ".") || slices.Contains(parts, "") || strings.ContainsAny(path, "*?[~") {
		return false
	}
	switch root {
	case "dev":
		return path == "null"
	case "sys":
		return len(parts) > 1 && !slices.Contains(parts, "debug") && !slices.Contains(parts, "tracing")
	}
	switch {
	case len(parts) == 1:
		return slices.Contains(kernelTables, parts[0])
	case parts[0] == "sys", parts[0] == "net", parts[0] == "pressure":
		return true
	case parts[0] == "self", number(parts[0]):
		return len(parts) == 2 && slices.Contains(processTables, parts[1])
	}
	return false
}
