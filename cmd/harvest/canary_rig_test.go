package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
	"github.com/harvest-engine/harvest/internal/testkit"
	"github.com/harvest-engine/harvest/tools"
	"github.com/harvest-engine/harvest/workflows"
)

// vaultRig is a rig with a project, whose model is a puppet.
type vaultRig struct {
	*rig
	puppet  *puppet
	project string
	turns   []string
	answers strings.Builder // every answer of the API
}

func newVaultRig(t *testing.T, toml string, play func(prompted) reply, beside ...tools.Tool) *vaultRig {
	t.Helper()
	p := newPuppet(t, play)
	r := &vaultRig{rig: runRigWith(t, rigConfig(t, oneRound, toml+p.toml()), testkit.Stack(t), beside...), puppet: p}
	project, err := r.store.CreateProject(t.Context(), domain.Project{Name: domain.NewID(), GroupID: "everyone", CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	r.project = project.ID
	return r
}

// keep keeps a secret of the project.
func (r *vaultRig) keep(t *testing.T, name, value string) domain.Secret {
	t.Helper()
	secret, err := r.secrets.Save(t.Context(), r.project, name, domain.NewSecretValue(value), domain.Author{UserID: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// send makes a request of the API and keeps what it answers.
func (r *vaultRig) send(t *testing.T, method, path string, body any) (status int, head http.Header, text string) {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, r.base+path, strings.NewReader(string(encoded)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	request.Header.Set("Content-Type", "application/json")
	apart := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	answer, err := apart.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&r.answers, "%s %s %s\n%s\n", method, path, answer.Status, raw)
	return answer.StatusCode, answer.Header, string(raw)
}

// query starts a turn of a conversation of its own and waits until it ends or waits.
func (r *vaultRig) query(t *testing.T, question string, files ...domain.Attachment) domain.Turn {
	t.Helper()
	body := map[string]any{"query": question, "conversation_id": "about " + domain.NewID()}
	var attached []map[string]string
	for _, f := range files {
		attached = append(attached, map[string]string{"name": f.Name, "mime_type": f.MimeType, "data": base64.StdEncoding.EncodeToString(f.Data)})
	}
	if attached != nil {
		body["attachments"] = attached
	}
	status, head, text := r.send(t, http.MethodPost, "/projects/"+r.project+"/query/stream", body)
	id := head.Get("X-Turn-Id")
	if status != http.StatusOK || id == "" {
		t.Fatalf("the query gives %d %s", status, text)
	}
	r.turns = append(r.turns, id)
	return r.wait(t, id)
}

// wait waits until a turn ends, or waits for a person.
func (r *vaultRig) wait(t *testing.T, id string) domain.Turn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	turn, err := r.engine.WaitTurn(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// decide decides what a turn waits for, and waits until it goes on to its end.
func (r *vaultRig) decide(t *testing.T, turn domain.Turn, approved bool, reason string, more map[string]any) domain.Turn {
	t.Helper()
	actions, err := r.store.WaitingActions(t.Context(), turn.ID)
	if err != nil || len(actions) == 0 {
		t.Fatalf("turn %s (%s, %s) waits for %+v, %v", turn.ID, turn.Status, turn.Error, actions, err)
	}
	for _, a := range actions {
		body := map[string]any{"approved": approved, "nonce": a.Nonce, "hash": a.Hash, "reason": reason}
		for name, value := range more {
			body[name] = value
		}
		if status, _, text := r.send(t, http.MethodPost, "/actions/"+a.ID+"/decide", body); status != http.StatusOK {
			t.Fatalf("the decision gives %d %s", status, text)
		}
	}
	return r.end(t, turn.ID)
}

// end waits for the end of a turn.
func (r *vaultRig) end(t *testing.T, id string) domain.Turn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, err := range r.engine.Follow(ctx, id, domain.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return r.wait(t, id)
}

// places gives, by kind, all that is left of what was done.
func (r *vaultRig) places(t *testing.T) map[string]string {
	t.Helper()
	r.settle(t)
	return map[string]string{
		"histories": r.histories(t), "blobs": r.blobs(t), "streams": r.streams(t), "tables": r.everything(t),
		"logs": r.logs(t), "requests": r.puppet.requests(), "answers": r.answers.String(),
	}
}

// settle waits until the afterwords of the turns are written: they are part of what is left.
func (r *vaultRig) settle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for due := 1; due > 0; {
		if err := r.pool.QueryRow(ctx, "select count(*) from turns where afterword_due").Scan(&due); err != nil {
			t.Fatalf("the afterwords are not written: %v", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// histories gives the decoded histories of the turns' workflows.
func (r *vaultRig) histories(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, id := range r.turns {
		for _, workflow := range []string{workflows.TurnWorkflowID(id), workflows.AfterwordWorkflowID(id)} {
			pages := r.temporal.GetWorkflowHistory(t.Context(), workflow, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			h := &history.History{}
			for pages.HasNext() {
				event, err := pages.Next()
				if err != nil {
					break // a turn without an afterword has no such workflow
				}
				h.Events = append(h.Events, event)
			}
			all.WriteString(r.decoded(t, h))
		}
	}
	return all.String()
}

// decoded renders a history with its payloads opened.
func (r *vaultRig) decoded(t *testing.T, h *history.History) string {
	t.Helper()
	var data strings.Builder
	err := proxy.VisitPayloads(t.Context(), h, proxy.VisitPayloadsOptions{
		Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*common.Payload) ([]*common.Payload, error) {
			open, err := r.codec.Decode(payloads)
			for _, p := range open {
				data.Write(p.GetData())
				data.WriteByte('\n')
			}
			return open, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := protojson.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	return data.String() + string(text)
}

// blobs gives what large values hold.
func (r *vaultRig) blobs(t *testing.T) string {
	t.Helper()
	seal, err := newSealer(r.keys)
	if err != nil {
		t.Fatal(err)
	}
	unpack, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unpack.Close()
	rows, err := r.pool.Query(t.Context(), "select sha256, body from large_values")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		var sum, body []byte
		if err := rows.Scan(&sum, &body); err != nil {
			t.Fatal(err)
		}
		packed, err := seal.Open(body, sum)
		if err != nil {
			t.Fatal(err)
		}
		if body, err = unpack.DecodeAll(packed, nil); err != nil {
			t.Fatal(err)
		}
		all.Write(body)
		all.WriteByte('\n')
	}
	return all.String()
}

// streams reads the turns' events by HTTP: as they are, and each turn's texts put together.
func (r *vaultRig) streams(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, id := range r.turns {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+"/turns/"+id+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+r.token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		var texts strings.Builder
		for events := sse.NewReader(answer.Body, 8<<20); ; {
			e, err := events.Next()
			if err != nil {
				break
			}
			all.Write(e.Data)
			all.WriteByte('\n')
			var body struct{ Text string }
			if json.Unmarshal(e.Data, &body) == nil {
				texts.WriteString(body.Text)
			}
		}
		answer.Body.Close()
		all.WriteString(texts.String() + "\n")
	}
	return all.String()
}

func (r *vaultRig) logs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.cfg.Data.Dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// clean checks that no place holds any of the values.
func clean(t *testing.T, places, values map[string]string) {
	t.Helper()
	for place, text := range places {
		if found := leaks(text, values); len(found) > 0 {
			slices.Sort(found)
			t.Errorf("the %s hold %s", place, strings.Join(found, ", "))
		}
	}
}

// runEnv is a tool that takes environment variables, and shows them in every form.
type runEnv struct{}

func (runEnv) Spec() tools.Spec {
	return tools.Spec{
		ToolSpec: domain.ToolSpec{Name: "run_env", Description: "Prints its environment.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Policy:   domain.PolicyNever, Timeout: 10 * time.Second, MaxResult: 24 << 10, SecretEnv: "env", Project: true,
	}
}

func (runEnv) Run(ctx context.Context, _ domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	var in struct {
		Fail string
		Pad  int
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return domain.ToolResult{}, err
	}
	var out strings.Builder
	out.WriteString(strings.Repeat("x", in.Pad))
	for name, value := range tools.Environment(ctx) {
		for form, text := range displays(value.Reveal()) {
			fmt.Fprintf(&out, "%s in %s: %s\n", name, form, text)
		}
	}
	switch in.Fail {
	case "fault":
		return domain.ToolResult{}, errors.New("it broke: " + out.String())
	case "refusal":
		return domain.ToolResult{}, domain.Invalid("env", "is wrong: %s", out.String())
	case "panic":
		panic(out.String())
	}
	return domain.ToolResult{Text: "It ran.\n" + out.String(), Preview: out.String()}, nil
}
