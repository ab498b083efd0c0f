package shellpolicy

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// networkPrograms tell of the machine's network without sending anything anywhere: what asks
// another machine, a name server too, can carry out what was read before.
var networkPrograms = map[string]program{
	"ip":         {judge: ip, names: true},
	"ss":         {options: known("-aehHilmnopstuwxzZ460bOTd"), words: socketFilter},
	"netstat":    bare("-aeginlopNrstuvwxcW46 --all --listening --numeric --programs --route --statistics --tcp --udp --interfaces"),
	"ifconfig":   {judge: oneName("-a", "-s")},
	"route":      exactly("", "-n", "-e", "-ne", "-en"),
	"arp":        exactly("", "-n", "-a", "-an", "-na", "-e"),
	"ethtool":    {judge: oneName("-i", "-S", "-k", "-g", "-c", "-a")},
	"iwconfig":   exactly(""),
	"bridge":     exactly("link", "link show", "fdb", "fdb show", "vlan", "vlan show"),
	"nft":        exactly("list ruleset", "list tables", "-a list ruleset"),
	"resolvectl": exactly("", "status", "dns", "domain", "statistics", "--no-pager", "status --no-pager"),
	"networkctl": exactly("", "list", "status", "--no-pager", "list --no-pager", "status --no-pager"),
	"nmcli":      exactly("", "general", "general status", "device", "device status", "device show", "dev", "dev status", "connection", "connection show", "con", "con show", "con show --active", "connection show --active"),
	"wg":         exactly("show interfaces"),
}

// ipObjects are those of ip that are asked about, in the forms that people use.
var ipObjects = []string{"a", "addr", "address", "l", "link", "r", "ro", "route", "rule", "n", "neigh", "neighbor", "neighbour", "maddr", "tunnel", "netns"}

// ip judges a call of ip. Its verbs may be abbreviated ("s" is set as well as show), and what
// stands behind none is a name: only whole verbs pass.
func ip(words []word) string {
	flags := []string{"-4", "-6", "-s", "-d", "-o", "-br", "-brief", "-c", "-j", "-p", "-json", "-pretty", "-stats", "-statistics", "-details", "-oneline", "-color", "-h", "-ts"}
	for _, w := range words {
		if !w.fixed {
			return "it can't be told what " + w.text + " is"
		}
	}
	for len(words) > 0 && slices.Contains(flags, words[0].text) {
		words = words[1:]
	}
	switch {
	case len(words) == 0:
		return "it has nothing to tell of"
	case !slices.Contains(ipObjects, words[0].text):
		return words[0].text + " is not known to only read"
	case len(words) == 1:
		return ""
	case words[0].text == "netns" && words[1].text != "list":
		return "netns " + words[1].text + " is not known to only read"
	case slices.Contains([]string{"show", "list", "ls", "lst"}, words[1].text), words[1].text == "get" && strings.HasPrefix(words[0].text, "r") && words[0].text != "rule":
		return ""
	}
	return words[0].text + " " + words[1].text + " is not known to only read"
}

var filterWord = regexp.MustCompile(`^(?:state|established|listening|listen|syn-sent|syn-recv|fin-wait-1|fin-wait-2|time-wait|close-wait|closed|closing|last-ack|all|connected|synchronized|exclude|` +
	`sport|dport|src|dst|dev|=|==|!=|eq|ne|gt|lt|and|or|not|\(|\)|[0-9.:*/]+|:[a-z0-9-]+)$`)

// address reports whether a word of a filter is an address with letters. What else has any is a
// name, which ss asks the network for: by one of the letters a to f too.
func address(text string) bool {
	host, _, _ := strings.Cut(text, "/")
	if _, err := netip.ParseAddrPort(host); err == nil {
		return true
	}
	_, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && !strings.Contains(host, "%")
}

// socketFilter judges the words of a filter of ss.
func socketFilter(words []word) string {
	for _, w := range words {
		if !w.fixed {
			return "it can't be told what " + w.text + " is"
		}
		for part := range strings.FieldsSeq(w.text) {
			if !filterWord.MatchString(part) && !address(part) {
				return "it is not known what it does when it is given " + part
			}
		}
	}
	return ""
}

var interfaceName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9@._-]{0,20}$`)

// oneName judges a program that tells of one interface, or of all, with one of these options.
func oneName(flags ...string) func([]word) string {
	return func(words []word) string {
		if len(words) > 0 && words[0].fixed && slices.Contains(flags, words[0].text) {
			words = words[1:]
		}
		if len(words) == 0 || len(words) == 1 && words[0].fixed && interfaceName.MatchString(words[0].text) {
			return ""
		}
		return "it is known to only read when it tells of one interface"
	}
}
