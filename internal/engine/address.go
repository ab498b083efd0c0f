package engine

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	maxAddress = 2000 // bytes
	maxName    = 200  // bytes
)

// scpForm is git's short form of an ssh address: user@host:path.
var scpForm = regexp.MustCompile(`^[A-Za-z0-9._-]+@[A-Za-z0-9._-]+:[^:\s-][^\s]*$`)

// address checks where a repository is to be read from and gives it in the form in which it
// is kept: https, ssh and git addresses as they are, local paths absolute and without links.
// An address is shown to everybody and stands in logs, so it must hold no secret, and no
// error repeats one.
func (e *Engine) address(text string, anyPath bool) (string, error) {
	switch {
	case text == "":
		return "", domain.Invalid("url", "give the address or the path of a repository")
	case len(text) > maxAddress:
		return "", domain.Invalid("url", "is longer than %d bytes", maxAddress)
	case strings.HasPrefix(text, "-"), strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", domain.Invalid("url", "%q is not an address", shown(text))
	case filepath.IsAbs(text):
		return e.localPath(text, anyPath)
	case scpForm.MatchString(text):
		return text, nil
	}
	parsed, err := url.Parse(text)
	switch {
	case err != nil && strings.Contains(text, "@"), err == nil && secretUser(parsed):
		return "", errSecretAddress
	case err != nil || parsed.Scheme == "":
		return "", domain.Invalid("url", "%q is neither an https, ssh or git address nor an absolute path", shown(text))
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return "", domain.Invalid("url", "leave out what follows the path of the address, from \"?\" or \"#\" on")
	}
	switch parsed.Scheme {
	case "https", "ssh", "git":
	case "file":
		return e.localPath(filepath.FromSlash(parsed.Path), anyPath)
	default:
		return "", domain.Invalid("url", "addresses of kind %q are not read; use https, ssh, git or a local path", parsed.Scheme)
	}
	if strings.HasPrefix(parsed.Host, "-") || strings.HasPrefix(parsed.User.Username(), "-") { // ssh would take it for an option
		return "", domain.Invalid("url", "%q is not an address: no host and no user begins with a dash", shown(text))
	}
	if parsed.Host == "" || strings.Trim(parsed.Path, "/") == "" {
		return "", domain.Invalid("url", "%q names no repository", shown(text))
	}
	return text, nil
}

var errSecretAddress = domain.Invalid("url", "leave user name, password and token out of the address, which everybody sees. "+
	"Give them apart: with harvest ingest by --token-env NAME or --ssh-key FILE, with POST /repositories as token or ssh_key, in [[repositories]] as token or ssh_key")

// secretUser reports whether an address holds credentials. The user of an ssh address is
// part of it; elsewhere a user name alone may be a token.
func secretUser(u *url.URL) bool {
	_, password := u.User.Password()
	return password || u.User != nil && u.Scheme != "ssh" || u.Scheme != "" && u.Opaque != "" && strings.Contains(u.Opaque, "@")
}

// shown gives what of a refused address may be repeated: nothing before a "@" or behind a "?".
func shown(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		text = "…" + text[at:]
	}
	text, _, _ = strings.Cut(text, "?")
	return text
}

// checkCredentials refuses credentials that the address has no use for, so that a mistake is
// told at once and not by a server that refuses the caller.
func checkCredentials(address string, c domain.Credentials) error {
	scheme, _, remote := strings.Cut(address, "://")
	if scpForm.MatchString(address) {
		scheme, remote = "ssh", true
	}
	switch {
	case c.Token != "" && c.SSHKey != "":
		return domain.Invalid("token", "give a token or an SSH key, not both")
	case !c.Empty() && !remote:
		return domain.Invalid("url", "a folder of this machine needs no credentials")
	case c.Token != "" && scheme != "https":
		return domain.Invalid("token", "a token is for https addresses; give an SSH key for this one")
	case c.SSHKey != "" && scheme != "ssh":
		return domain.Invalid("ssh_key", "an SSH key is for ssh addresses, such as git@host:path; give a token for this one")
	case strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return domain.Invalid("token", "holds blanks or line breaks, which no token has")
	case c.SSHKey != "" && !strings.Contains(c.SSHKey, "PRIVATE KEY-----"):
		return domain.Invalid("ssh_key", "is not a private key in PEM form; a public one ends in .pub and is of no use here")
	}
	return nil
}

// localPath resolves a folder of this machine and checks that it may be read: where not
// anyPath, it must lie under a root.
func (e *Engine) localPath(text string, anyPath bool) (string, error) {
	resolved, err := filepath.EvalSymlinks(filepath.Clean(text))
	if !anyPath && (err != nil || !e.underRoots(resolved)) {
		return "", domain.Errorf(domain.CodeForbidden, "%s is not under a folder that may be read; set [ingest] roots in the configuration", text)
	}
	if err != nil {
		return "", domain.Invalid("url", "there is no folder %s on this machine", text)
	}
	if info, err := os.Stat(resolved); err != nil || !info.IsDir() {
		return "", domain.Invalid("url", "%s is not a folder", text)
	}
	return resolved, nil
}

func (e *Engine) underRoots(resolved string) bool {
	for _, root := range e.Roots {
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(real, resolved)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// repositoryName checks a name, or derives it from the address. Names stand in citations and
// in paths of the API.
func repositoryName(name, address string) (string, error) {
	if name == "" {
		base := strings.TrimRight(filepath.ToSlash(address), "/")
		if scpForm.MatchString(address) {
			_, base, _ = strings.Cut(address, ":")
		}
		name = strings.TrimSuffix(path.Base(base), ".git")
		name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return !nameRune(r) }), "-")
		name = strings.TrimLeft(name, "-")
	}
	switch {
	case name == "", name == ".", name == "/":
		return "", domain.Invalid("name", "the address suggests no name; give one")
	case len(name) > maxName:
		return "", domain.Invalid("name", "is longer than %d bytes", maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !nameRune(r) }):
		return "", domain.Invalid("name", "%q has blanks, characters that can't be seen, or one of []:?#%%\\: citations and addresses can't hold them", name)
	}
	if strings.HasPrefix(name, "-") {
		return "", domain.Invalid("name", "%q begins with a dash, which commands take for an option", name)
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" || part == "." || part == ".." {
			return "", domain.Invalid("name", "%q has an empty part, \".\" or \"..\" between its slashes", name)
		}
	}
	return name, nil
}

func nameRune(r rune) bool {
	return r != ' ' && unicode.IsPrint(r) && !strings.ContainsRune("[]:?#%\\", r)
}
