package gitrepo_test

import (
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	good := map[string]gitrepo.Address{
		"https://example.com/a/b.git":        {URL: "https://example.com/a/b.git"},
		"https://example.com:8443/b":         {URL: "https://example.com:8443/b"},
		"ssh://git@example.com:2222/a/b":     {URL: "ssh://git@example.com:2222/a/b"},
		"git@example.com:a/b.git":            {URL: "ssh://git@example.com/a/b.git"},
		"git://127.0.0.1:9418/r":             {URL: "git://127.0.0.1:9418/r"},
		"/srv/code":                          {Path: "/srv/code"},
		"file:///srv/code":                   {Path: "/srv/code"},
		"  https://example.com/x/y%20z.git ": {URL: "https://example.com/x/y%20z.git"},
	}
	for text, want := range good {
		if got, err := gitrepo.ParseAddress(text); err != nil || got != want {
			t.Errorf("ParseAddress(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
	bad := []string{
		"", "-u", "--upload-pack=touch x", "ext::sh -c id", "fd::3", "http://example.com/a", "ftp://example.com/a",
		"https://user:secret@example.com/a", "https://token@example.com/a", "ssh://-oProxyCommand=id/a", "ssh://-x@host/a",
		"https://example.com", "https://example.com/a?x=1", "https:///a", "ssh://host/-a", "https://exa mple.com/a",
		"https://example.com/a\nb", "git://h:99999999/a",
	}
	for _, text := range bad {
		_, err := gitrepo.ParseAddress(text)
		if domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("ParseAddress(%q): error %v, want an invalid error", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats a password: %v", err)
		}
	}
}

func TestDefaultName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"https://h/a/b.git": "b", "https://h/a/b/": "b", "/srv/code": "code", "git@h:x/y.git": "y"} {
		addr, err := gitrepo.ParseAddress(text)
		if err != nil || addr.DefaultName() != want {
			t.Errorf("name of %q is %q, %v; want %q", text, addr.DefaultName(), err, want)
		}
	}
}
