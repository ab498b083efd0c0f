package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"roots/inside", "outside"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(base, "outside"), filepath.Join(base, "roots", "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "roots", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	type want struct {
		name, url string
		code      domain.Code
	}
	cases := []struct {
		user, name, url string
		want            want
	}{
		{"owner", "", "https://git.example.com/team/app.git", want{"app", "https://git.example.com/team/app.git", ""}},
		{"owner", "", "https://git.example.com/team/app/", want{"app", "https://git.example.com/team/app/", ""}},
		{"owner", "team/app", "ssh://git@git.example.com/team/app.git", want{"team/app", "ssh://git@git.example.com/team/app.git", ""}},
		{"owner", "", "git@git.example.com:team/app.git", want{"app", "git@git.example.com:team/app.git", ""}},
		{"owner", "", "git@git.example.com:app", want{"app", "git@git.example.com:app", ""}},
		{"owner", "", "git://git.example.com/a%20b c", want{"a-20b-c", "git://git.example.com/a%20b c", ""}},
		{"owner", "", "$/outside", want{"outside", "$/outside", ""}},
		{"owner", "", "file://$/outside", want{"outside", "$/outside", ""}},
		{"owner", "", "$/roots/link", want{"outside", "$/outside", ""}},
		{"ada", "", "$/roots/inside", want{"inside", "$/roots/inside", ""}},
		{"ada", "", "$/roots", want{"roots", "$/roots", ""}},

		{"owner", "", "", want{code: domain.CodeInvalid}},
		{"owner", "", "app", want{code: domain.CodeInvalid}},
		{"owner", "", "../app", want{code: domain.CodeInvalid}},
		{"owner", "", "-uhttps://git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", "", "http://git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", "", "ext::sh -c touch% /tmp/pwned", want{code: domain.CodeInvalid}},
		{"owner", "", "https://user:secret@git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", "", "https://secret@git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", "", "https://git.example.com/", want{code: domain.CodeInvalid}},
		{"owner", "", "https://git.example.com/a\nb", want{code: domain.CodeInvalid}},
		{"owner", "", "https://git.example.com/" + strings.Repeat("a", 3000), want{code: domain.CodeInvalid}},
		{"owner", "", "ssh://-oProxyCommand=id/app", want{code: domain.CodeInvalid}},
		{"owner", "", "ssh://-l@git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", "", "git@-oProxyCommand=id:app", want{code: domain.CodeInvalid}},
		{"owner", "", "https://-x/app", want{code: domain.CodeInvalid}},
		{"owner", "", "$/missing", want{code: domain.CodeInvalid}},
		{"owner", "", "$/roots/file", want{code: domain.CodeInvalid}},
		{"ada", "", "$/outside", want{code: domain.CodeForbidden}},
		{"ada", "", "$/roots/link", want{code: domain.CodeForbidden}},
		{"ada", "", "$/roots/../outside", want{code: domain.CodeForbidden}},
		{"ada", "", "$/missing", want{code: domain.CodeForbidden}},
		{"ada", "", "file://$/outside", want{code: domain.CodeForbidden}},

		{"owner", "a b", "https://git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", "-rf", "https://git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", "a\u200bb", "https://git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", "\u202eppa", "https://git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", "a\u00a0b", "https://git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", "größe/日本", "https://git.example.com/app", want{"größe/日本", "https://git.example.com/app", ""}},
		{"owner", "", "https://git.example.com/-app", want{"app", "https://git.example.com/-app", ""}},
		{"owner", "a:b", "https://git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", "../etc", "https://git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", "a//b", "https://git.example.com/app", want{code: domain.CodeInvalid}},
		{"owner", strings.Repeat("a", 201), "https://git.example.com/app", want{code: domain.CodeInvalid}},
	}
	for _, c := range cases {
		e, fakes := newEngine(t, withRoots(filepath.Join(base, "roots")))
		req := domain.IngestRequest{UserID: c.user, Name: c.name, URL: strings.ReplaceAll(c.url, "$", base), AnyPath: c.user == "owner"}
		run, err := e.AddRepository(context.Background(), req)
		if got := domain.CodeOf(err); got != c.want.code {
			t.Errorf("%s adds %q as %q: error %v, want code %q", c.user, c.url, c.name, err, c.want.code)
			continue
		}
		if err != nil {
			continue
		}
		wantURL := strings.ReplaceAll(c.want.url, "$", base)
		if saved := fakes.repositories.saved[run.Repository]; run.Repository != c.want.name || saved.URL != wantURL {
			t.Errorf("%s adds %q: got %q at %q, want %q at %q", c.user, c.url, run.Repository, saved.URL, c.want.name, wantURL)
		}
	}
}

// No error repeats a secret that somebody put into an address, however wrong the rest is.
func TestAddressesWithSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"https://user:s3cret@git.example.com/app", "https://s3cret@git.example.com/app", "ssh://git:s3cret@git.example.com/app",
		"git://s3cret@git.example.com/app", "http://user:s3cret@git.example.com/app", "https://user:s3cret@", "https://user:s3cret@/app",
		"https://user:s3/cret@git.example.com/app", "https://user:s3cret@git.example.com:port/app", "https://user:s3cret%@git.example.com/app",
		"user:s3cret@git.example.com:app", "user:s3cret@git.example.com/app", "-https://user:s3cret@git.example.com/app",
		"https://user:s3cret@git.example.com/a\nb", "https://git.example.com/app?token=s3cret", "https:user:s3cret@git.example.com/app",
		"ftp://user:s3cret@git.example.com/app", "ext::https://user:s3cret@git.example.com/app", "file://user:s3cret@/app",
	} {
		e, _ := newEngine(t)
		_, err := e.AddRepository(t.Context(), domain.IngestRequest{UserID: "owner", URL: address})
		if domain.CodeOf(err) != domain.CodeInvalid || strings.Contains(err.Error(), "s3") || strings.Contains(domain.PublicMessage(err), "s3") {
			t.Errorf("%s: %v", address, err)
		}
	}
	e, _ := newEngine(t)
	_, err := e.AddRepository(t.Context(), domain.IngestRequest{UserID: "owner", URL: "https://user:s3cret@git.example.com/app"})
	for _, way := range []string{"--token-env", "--ssh-key", "ssh_key", "[[repositories]]"} {
		if err == nil || !strings.Contains(domain.PublicMessage(err), way) {
			t.Errorf("the refusal does not name %s: %v", way, err)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN OPENSSH PRIVATE KEY-----\ns3cret\n-----END OPENSSH PRIVATE KEY-----\n"
	for _, c := range []struct {
		url   string
		creds domain.Credentials
		field string // that is refused
	}{
		{"https://git.example.com/app", domain.Credentials{Token: "s3cret"}, ""},
		{"ssh://git@git.example.com/app", domain.Credentials{SSHKey: key}, ""},
		{"git@git.example.com:app", domain.Credentials{SSHKey: key}, ""},
		{"https://git.example.com/app", domain.Credentials{SSHKey: key}, "ssh_key"},
		{"git@git.example.com:app", domain.Credentials{Token: "s3cret"}, "token"},
		{"git://git.example.com/app", domain.Credentials{Token: "s3cret"}, "token"},
		{"https://git.example.com/app", domain.Credentials{Token: "s3cret\nX: y"}, "token"},
		{"https://git.example.com/app", domain.Credentials{Token: "s3cret", SSHKey: key}, "token"},
		{"git@git.example.com:app", domain.Credentials{SSHKey: "ssh-ed25519 s3cret"}, "ssh_key"},
		{t.TempDir(), domain.Credentials{Token: "s3cret"}, "url"},
	} {
		e, fakes := newEngine(t)
		req := domain.IngestRequest{UserID: "owner", Name: "app", URL: c.url, Credentials: c.creds, AnyPath: true}
		_, err := e.AddRepository(t.Context(), req)
		if c.field == "" {
			if err != nil || fakes.credentials.saved["app"] != c.creds {
				t.Errorf("%s: kept %v, %v", c.url, fakes.credentials.saved["app"], err)
			}
			continue
		}
		var refused *domain.Error
		if !errors.As(err, &refused) || refused.Field != c.field || strings.Contains(err.Error(), "s3cret") || len(fakes.credentials.saved) > 0 {
			t.Errorf("%s with %v: %v, want %s refused", c.url, c.creds, err, c.field)
		}
	}
}
