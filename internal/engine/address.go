package engine

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

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
func (e *Engine) address(text string, anyPath bool) (string, error) {
	switch {
	case text == "":
		return "", domain.Invalid("url", "give the address or the path of a repository")
	case len(text) > maxAddress:
		return "", domain.Invalid("url", "is longer than %d bytes", maxAddress)
	case strings.HasPrefix(text, "-"), strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", domain.Invalid("url", "%q is not an address", text)
	case filepath.IsAbs(text):
		return e.localPath(text, anyPath)
	case scpForm.MatchString(text):
		return text, nil
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme == "" {
		return "", domain.Invalid("url", "%q is neither an https, ssh or git address nor an absolute path", text)
	}
	switch parsed.Scheme {
	case "https", "ssh", "git":
	case "file":
		return e.localPath(filepath.FromSlash(parsed.Path), anyPath)
	default:
		return "", domain.Invalid("url", "addresses of kind %q are not read; use https, ssh, git or a local path", parsed.Scheme)
	}
	if _, secret := parsed.User.Password(); secret || parsed.Scheme == "https" && parsed.User != nil {
		return "", domain.Invalid("url", "leave credentials out of the address: it is shown to everybody; set a token or an SSH key in [[repositories]]")
	}
	if parsed.Host == "" || strings.Trim(parsed.Path, "/") == "" {
		return "", domain.Invalid("url", "%q names no repository", text)
	}
	return text, nil
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
	}
	switch {
	case name == "", name == ".", name == "/":
		return "", domain.Invalid("name", "the address suggests no name; give one")
	case len(name) > maxName:
		return "", domain.Invalid("name", "is longer than %d bytes", maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !nameRune(r) }):
		return "", domain.Invalid("name", "%q has blanks or one of []:?#%%\\, which citations and addresses can't hold", name)
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" || part == "." || part == ".." {
			return "", domain.Invalid("name", "%q has an empty part, \".\" or \"..\" between its slashes", name)
		}
	}
	return name, nil
}

func nameRune(r rune) bool {
	return r > ' ' && r != 0x7f && !strings.ContainsRune("[]:?#%\\\u00a0", r)
}
