package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// server is as much of a Harvest as a login needs.
type loginServer struct {
	mu    sync.Mutex
	keys  map[string]bool
	local bool // there are passwords
	looks int  // for the key of the terminal
}

func (s *loginServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	refuse := func() {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"wrong","code":"unauthorized"}`)
	}
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch r.Method + " " + r.URL.Path {
	case "POST /auth/login":
		if !strings.Contains(string(body), `"the password"`) {
			refuse()
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "token", Value: "t"})
		fmt.Fprint(w, `{"ok":true}`)
	case "GET /auth/config":
		fmt.Fprintf(w, `{"local_login":%t}`, s.local)
	case "POST /auth/device":
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"device_code":"d","user_code":"BCDF-GHJK","verification_uri_complete":"/auth/device?user_code=BCDF-GHJK","expires_in":600,"interval":0}`)
	case "POST /auth/device/token":
		if s.looks++; s.looks < 3 {
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{"status":"waiting"}`)
			return
		}
		s.keys["hvk_1"] = true
		fmt.Fprint(w, `{"id":"k1","key":"hvk_1"}`)
	case "POST /auth/keys":
		if cookie, err := r.Cookie("token"); err != nil || cookie.Value != "t" {
			refuse()
			return
		}
		s.keys["hvk_1"] = true
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":"k1","key":"hvk_1"}`)
	case "GET /auth/me":
		if !s.keys[key] {
			refuse()
			return
		}
		fmt.Fprint(w, `{"id":"u","name":"Ada"}`)
	case "DELETE /auth/keys/k1":
		delete(s.keys, key)
		fmt.Fprint(w, `{"ok":true}`)
	default:
		fmt.Fprint(w, `{"ok":true}`)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	fake := &loginServer{keys: map[string]bool{}, local: true}
	server := httptest.NewServer(fake)
	defer server.Close()
	dir := t.TempDir()
	run := func(input string, args ...string) (string, int) {
		t.Helper()
		in, errs := filepath.Join(dir, "in"), filepath.Join(dir, "errs")
		if err := os.WriteFile(in, []byte(input), 0o600); err != nil {
			t.Fatal(err)
		}
		stdin, err := os.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close()
		stderr, err := os.Create(errs)
		if err != nil {
			t.Fatal(err)
		}
		defer stderr.Close()
		p := loginProgram(dir)
		p.in, p.out, p.errs = stdin, stderr, stderr
		code := p.run(t.Context(), args)
		said, err := os.ReadFile(errs)
		if err != nil {
			t.Fatal(err)
		}
		return string(said), code
	}
	if said, code := run("another\n", "login", server.URL, "--email", "ada@example.com"); code != exitFailed {
		t.Errorf("a wrong password: %d %s", code, said)
	}
	if said, code := run("", "login", "harvest.example.com"); code != exitFailed || !strings.Contains(said, "https://") {
		t.Errorf("no address: %d %s", code, said)
	}
	said, code := run("ada@example.com\nthe password\n", "login", server.URL+"/")
	if code != exitOK || !strings.Contains(said, "as Ada") || strings.Contains(said, "hvk_1") {
		t.Fatalf("login: %d %s", code, said)
	}
	file := filepath.Join(dir, "harvest", "logins.json")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	p := loginProgram(dir)
	if base, token, err := p.find(); err != nil || base != server.URL || token != "hvk_1" {
		t.Errorf("found %q %q, %v", base, token, err)
	}
	if said, code := run("", "logout"); code != exitOK || len(fake.keys) > 0 {
		t.Errorf("logout: %d %s; left %v", code, said, fake.keys)
	}
	text, err := os.ReadFile(file)
	var kept logins
	if err != nil || json.Unmarshal(text, &kept) != nil || len(kept.Servers) > 0 {
		t.Errorf("kept: %s, %v", text, err)
	}
	fake.mu.Lock()
	fake.local = false
	fake.mu.Unlock()
	said, code = run("", "login", server.URL)
	if code != exitOK || !strings.Contains(said, server.URL+"/auth/device?user_code=BCDF-GHJK") || strings.Contains(said, "hvk_1") || fake.looks != 3 {
		t.Errorf("in a browser: %d %s", code, said)
	}
	if said, code := run("", "logout"); code != exitOK || len(fake.keys) > 0 {
		t.Errorf("logout: %d %s; left %v", code, said, fake.keys)
	}
	fake.mu.Lock()
	fake.keys["hvk_given"] = true
	fake.mu.Unlock()
	if said, code := run("hvk_given\n", "login", server.URL, "--key"); code != exitOK {
		t.Errorf("by a key: %d %s", code, said)
	}
	if said, code := run("", "logout", server.URL); code != exitOK || len(fake.keys) != 1 {
		t.Errorf("a given key was ended: %d %s", code, said)
	}
}

func loginProgram(dir string) *program {
	return &program{dataDir: filepath.Join(dir, "data"), env: func(name string) (string, bool) {
		if name == configVariable {
			return dir, true
		}
		return "", false
	}}
}
