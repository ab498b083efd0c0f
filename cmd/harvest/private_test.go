package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/pem"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/proto"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

const gitToken = "glpat-s3cret-0123456789"

// servePrivately serves the repository in dir over https to those who bring the token, and
// gives its address. The test's git trusts the server.
func servePrivately(t *testing.T, dir string) string {
	t.Helper()
	execPath, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(execPath)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != gitToken {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_SSL_CAINFO", ca)
	return server.URL + "/sample/.git"
}

// read has a repository read and gives its run at the end.
func (r *rig) read(t *testing.T, s client.Source) domain.Ingest {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	run, err := r.api.AddRepository(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	for event, err := range r.api.FollowIngest(ctx, run.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(event.Data, []byte(gitToken)) {
			t.Errorf("an event holds the token: %s", event.Data)
		}
	}
	if run, err = r.api.Ingest(ctx, run.ID); err != nil {
		t.Fatal(err)
	}
	return run
}

// everything gives all rows of all tables as text.
func (r *rig) everything(t *testing.T) string {
	t.Helper()
	rows, err := r.pool.Query(t.Context(), "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'")
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	var all strings.Builder
	for _, table := range tables {
		var text string
		if err := r.pool.QueryRow(t.Context(), `select coalesce(string_agg(t::text, E'\n'), '') from "`+table+`" t`).Scan(&text); err != nil {
			t.Fatal(err)
		}
		all.WriteString(text)
	}
	return all.String()
}

// The token of a private repository is kept sealed: it opens the repository again later, and
// shows nowhere.
func TestTokenOfAPrivateRepository(t *testing.T) {
	h := home{dir: t.TempDir()}
	h.sample(t)
	address := servePrivately(t, h.dir)
	r := newRig(t, oneRound, scriptedModel)
	if run := r.read(t, client.Source{URL: address, Name: "private"}); run.Status != domain.IngestFailed || run.ErrorCode != domain.CodeForbidden || !strings.Contains(run.Error, "token") {
		t.Errorf("without a token: %+v", run)
	}
	if _, err := r.api.AddRepository(t.Context(), client.Source{URL: strings.Replace(address, "://", "://x:"+gitToken+"@", 1)}); err == nil || strings.Contains(err.Error(), gitToken) {
		t.Errorf("a token in the address: %v", err)
	}
	if run := r.read(t, client.Source{URL: address, Name: "private", Token: gitToken}); run.Status != domain.IngestDone {
		t.Fatalf("with the token: %+v", run)
	}
	again := r.read(t, client.Source{URL: address, Name: "private"})
	if again.Status != domain.IngestDone {
		t.Errorf("with the token that was kept: %+v", again)
	}
	listed, err := r.api.Repositories(t.Context())
	if err != nil || len(listed) != 1 || listed[0].URL != address {
		t.Errorf("listed are %+v, %v", listed, err)
	}
	if all := r.everything(t); strings.Contains(all, gitToken) || strings.Contains(all, hex.EncodeToString([]byte(gitToken))) {
		t.Error("the database holds the token in clear")
	}
	history := r.temporal.GetWorkflowHistory(t.Context(), workflows.IngestWorkflowID(again.ID), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		if err != nil {
			t.Fatal(err)
		}
		if raw, err := proto.Marshal(event); err != nil || bytes.Contains(raw, []byte(gitToken)) {
			t.Errorf("an event of the history holds the token: %s, %v", event.EventType, err)
		}
	}
	err = filepath.WalkDir(r.cfg.Data.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(gitToken)) {
			t.Errorf("%s holds the token", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
