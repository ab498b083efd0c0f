package gitrepo

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Address says where a repository is: behind a URL, or in a local folder.
type Address struct {
	URL  string // https, ssh or git; "" for a local folder. Never holds a password
	Path string // absolute; "" for a URL
}

// Local reports whether a is a folder of this machine.
func (a Address) Local() bool { return a.Path != "" }

// String gives the URL or the path.
func (a Address) String() string {
	if a.Local() {
		return a.Path
	}
	return a.URL
}

// scpLike is the short form of an ssh address: user@host:path.
var scpLike = regexp.MustCompile(`^([A-Za-z0-9._-]+)@([A-Za-z0-9][A-Za-z0-9.-]*):([^:\s][^\s]*)$`)

var hostName = regexp.MustCompile(`^(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?$`)

// ParseAddress reads an https, ssh or git address (also user@host:path), a file address, or
// a local path. Errors are invalid errors of the field "url".
func ParseAddress(text string) (Address, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Address{}, domain.Invalid("url", "an address or a path is needed")
	case strings.HasPrefix(text, "-"), strings.ContainsAny(text, "\x00\n\r"):
		return Address{}, domain.Invalid("url", "%q is not an address", text)
	case strings.HasPrefix(text, "file://"):
		return localAddress(strings.TrimPrefix(text, "file://"))
	case strings.Contains(text, "://"):
		return parseURL(text)
	}
	if m := scpLike.FindStringSubmatch(text); m != nil {
		return parseURL("ssh://" + m[1] + "@" + m[2] + "/" + strings.TrimPrefix(m[3], "/"))
	}
	if strings.Contains(text, "::") {
		return Address{}, domain.Invalid("url", "remote helpers are not supported")
	}
	return localAddress(text)
}

func localAddress(path string) (Address, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Address{}, domain.Wrap(domain.CodeInvalid, err, "%q is not a path", path)
	}
	return Address{Path: abs}, nil
}

func parseURL(text string) (Address, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The cause would repeat the text, which may hold a password.
		return Address{}, domain.Invalid("url", "the address is malformed")
	}
	switch u.Scheme {
	case "https", "ssh", "git":
	default:
		return Address{}, domain.Invalid("url", "%q addresses are not supported; use https, ssh or git", u.Scheme)
	}
	if _, has := u.User.Password(); has || (u.User != nil && u.Scheme != "ssh") {
		return Address{}, domain.Invalid("url", "the address holds credentials; give a token or a key in the configuration instead")
	}
	if user := u.User.Username(); strings.HasPrefix(user, "-") || !hostName.MatchString(u.Host) {
		return Address{}, domain.Invalid("url", "the address names no valid host")
	}
	if u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") == "" || strings.HasPrefix(u.Path, "/-") {
		return Address{}, domain.Invalid("url", "the address names no repository")
	}
	return Address{URL: u.String()}, nil
}

// DefaultName derives a repository's name from its address: the last element without ".git".
func (a Address) DefaultName() string {
	text := strings.TrimRight(filepath.ToSlash(a.String()), "/")
	name := strings.TrimSuffix(text[strings.LastIndexByte(text, '/')+1:], ".git")
	if name == "" {
		return "repository"
	}
	return name
}

var fullCommit = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
