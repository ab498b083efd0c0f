package engine_test

import (
	"context"
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
		{"owner", "", "$/missing", want{code: domain.CodeInvalid}},
		{"owner", "", "$/roots/file", want{code: domain.CodeInvalid}},
		{"ada", "", "$/outside", want{code: domain.CodeForbidden}},
		{"ada", "", "$/roots/link", want{code: domain.CodeForbidden}},
		{"ada", "", "$/roots/../outside", want{code: domain.CodeForbidden}},
		{"ada", "", "$/missing", want{code: domain.CodeForbidden}},
		{"ada", "", "file://$/outside", want{code: domain.CodeForbidden}},

		{"owner", "a b", "https://git.example.com/app", want{code: domain.CodeInvalid}},
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
