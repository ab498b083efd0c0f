package api_test

import (
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// A value goes in, and nothing that is said afterwards has it.
func TestSecrets(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.people.join("grace", domain.UserRegular, []string{"red"}, domain.KeyScopes()...)
	const value = "correct horse battery staple"
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "", "", 200, `[]`},
		{"POST", "", `{"name":"db_password","value":"` + value + `"}`, 201, `"name":"DB_PASSWORD","version":1,"revealable":false,"author":"owner"`},
		{"POST", "", `{"name":"DB_PASSWORD","generate":true}`, 201, `"version":2`},
		{"POST", "", `{"name":"DB_PASSWORD"}`, 400, `value: give a value`},
		{"POST", "", `{"name":"DB_PASSWORD","value":"` + value + `","generate":true}`, 400, `generate: can't be true`},
		{"POST", "", `{"name":"9LIVES","value":"` + value + `"}`, 400, `name: must be`},
		{"POST", "", `{"name":"` + value + `","value":"` + value + `"}`, 400, `name: must be`},
		{"POST", "", `{"name":"A","value":"horse"}`, 400, `value: must have at least 8 bytes`},
		{"POST", "", `{"name":"A","value":"correct\u0000horse"}`, 400, `value: must be UTF-8 without NUL`},
		{"POST", "", `{"name":"A","value":12345678}`, 400, `value: must be a string, not a number`},
		{"POST", "", `{"name":"A","value":"` + strings.Repeat("horse", 14_000) + `"}`, 413, `at most 65536 bytes`},
		{"POST", "", `{"name":"A","value":"` + value + `"`, 400, `not valid JSON`},
		{"GET", "", "", 200, `[{"name":"DB_PASSWORD","version":2`},
		{"GET", "/db_password/versions", "", 200, `"version":2`},
		{"GET", "/OTHER/versions", "", 404, `there is no secret OTHER`},
		{"PUT", "/db_password/reveal", `{"revealable":true}`, 200, `{"ok":true}`},
		{"PUT", "/db_password/reveal", `{}`, 400, `revealable`},
		{"GET", "", "", 200, `"revealable":true`},
		{"DELETE", "/db_password", "", 204, ``},
		{"DELETE", "/db_password", "", 404, `there is no secret DB_PASSWORD`},
	} {
		resp, text := f.call(t, c.method, "/projects/p1/secrets"+c.path, c.body)
		if resp.StatusCode != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %s %.80s: %d %s", c.method, c.path, c.body, resp.StatusCode, text)
		}
		if strings.Contains(strings.ToLower(text), "horse") {
			t.Errorf("%s %s %.80s repeats the value: %s", c.method, c.path, c.body, text)
		}
	}
	if log := f.log.String(); strings.Contains(log, "horse") {
		t.Errorf("the log has the value:\n%s", log)
	}
	if resp, text := f.call(t, "POST", "/admin/secrets/rotate", ""); resp.StatusCode != 200 || !strings.Contains(text, `{"key":"k1","resealed":0,"failed":[]}`) {
		t.Errorf("rotation: %d %s", resp.StatusCode, text)
	}
}

// Whoever sees a project saves and removes its secrets, but only admins let models see them;
// all of it is noted.
func TestSecretsAreAudited(t *testing.T) {
	t.Parallel()
	f := start(t)
	key := "Authorization: Bearer " + f.people.join("grace", domain.UserRegular, []string{"red"}, domain.KeyScopes()...)
	for _, c := range []struct {
		method, path, body string
		status             int
		outcome            domain.Outcome
	}{
		{"POST", "", `{"name":"A","generate":true}`, 201, domain.OutcomeDone},
		{"POST", "", `{"name":"A","value":"short"}`, 400, domain.OutcomeFailed},
		{"PUT", "/A/reveal", `{"revealable":true}`, 403, domain.OutcomeDenied},
		{"DELETE", "/A", "", 204, domain.OutcomeDone},
	} {
		resp, text := f.call(t, c.method, "/projects/p1/secrets"+c.path, c.body, key)
		if resp.StatusCode != c.status {
			t.Errorf("%s %s: %d %s", c.method, c.path, resp.StatusCode, text)
		}
		noted := f.people.entriesNow()
		if len(noted) == 0 {
			t.Fatalf("%s %s is not noted", c.method, c.path)
		}
		if e := noted[len(noted)-1]; e.Method != c.method || e.Outcome != c.outcome || e.UserID != "grace" || e.ProjectID != "p1" {
			t.Errorf("%s %s is noted as %+v", c.method, c.path, e)
		}
	}
}
