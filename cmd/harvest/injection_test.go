package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
)

// injections are texts that tell a model what to do: a folder for each way by which they come
// to it. Of a line "CALL tool input" an obedient model makes a call, with the input as it
// stands there; lines that follow each other are calls of one answer. It says what follows
// "SAY", and at "ECHO" all that it was told. VICTIM stands for the id of an artifact.
const injections = "testdata/injections"

var (
	orderLine = regexp.MustCompile(`(CALL|SAY|ECHO)(?: ([\w\x{200b}]+) (<<.*>>|\{.*\})| (.*))?`)
	lookLine  = regexp.MustCompile(`Look: (\w+) (\{.*\})`)
)

// obedient does what it is told, whoever tells it: first what the question asks to look at,
// and then every order in anything that it reads, one answer after the other.
func obedient(h prompted) reply {
	if !h.tools {
		return reply{text: "Title: Something"}
	}
	var answers []reply
	if look := lookLine.FindStringSubmatch(h.question); look != nil {
		answers = append(answers, reply{calls: []puppetCall{{look[1], look[2]}}})
	}
	for _, text := range h.told {
		answers = append(answers, ordered(text, h)...)
	}
	if h.round < len(answers) && h.round < maxObedience {
		return answers[h.round]
	}
	return reply{text: done}
}

// done is what a model says that has nothing left to do.
const done = "It is done."

// maxObedience keeps an order that is repeated in what it leads to from going on for ever.
const maxObedience = 8

// ordered gives the answers that a text orders.
func ordered(text string, h prompted) (answers []reply) {
	calling := false
	for line := range strings.Lines(text) {
		order := orderLine.FindStringSubmatch(line)
		switch {
		case order == nil:
			calling = false
		case order[1] == "ECHO":
			answers, calling = append(answers, reply{text: strings.Join(h.told, "\n")}), false
		case order[1] == "SAY":
			answers, calling = append(answers, reply{text: order[4]}), false
		case order[2] != "":
			if !calling {
				answers = append(answers, reply{text: "As told."})
			}
			input := strings.TrimSuffix(strings.TrimPrefix(order[3], "<<"), ">>")
			last := &answers[len(answers)-1]
			last.calls, calling = append(last.calls, puppetCall{order[2], input}), true
		}
	}
	return answers
}

// fetch is a tool that gives the text that it is told to.
type fetch struct{ texts map[string]string }

func (fetch) Spec() tools.Spec {
	return tools.Spec{
		ToolSpec: domain.ToolSpec{Name: "fetch", Description: "Fetches a page.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Policy:   domain.PolicyNever, Timeout: 10 * time.Second, MaxResult: 1 << 20,
	}
}

func (f fetch) Run(_ context.Context, _ domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	var in struct{ Page string }
	err := json.Unmarshal(input, &in)
	return domain.ToolResult{Text: f.texts[in.Page]}, err
}

// counted counts the runs of a tool.
type counted struct {
	tools.Tool
	runs *atomic.Int32
}

func (c counted) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	c.runs.Add(1)
	return c.Tool.Run(ctx, scope, input)
}

// injected is what the corpus is tried on.
type injected struct {
	*vaultRig
	fetch  fetch
	runs   atomic.Int32 // of the tool that takes secrets
	victim domain.Artifact
	secret domain.Secret
	files  string // the folder of the repository
}

const (
	treasure = "tR3asure0fTheProject5xQ9"
	foreign  = "f0reignTr3asure0fAnother"
)

func newInjected(t *testing.T) *injected {
	t.Helper()
	in := &injected{fetch: fetch{map[string]string{}}, files: filepath.Join(t.TempDir(), "app")}
	in.vaultRig = newVaultRig(t, "", obedient, in.fetch, counted{runEnv{}, &in.runs})
	in.secret = in.keep(t, "DB_PASSWORD", treasure)
	var err error
	in.victim, err = in.artifacts.Create(t.Context(), domain.Artifact{ProjectID: in.project, Title: "The plan", Kind: "markdown", Content: "x"}, domain.Author{UserID: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	other, err := in.store.CreateProject(t.Context(), domain.Project{Name: domain.NewID(), GroupID: "everyone", CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.secrets.Save(t.Context(), other.ID, "OTHER_PROJECTS", domain.NewSecretValue(foreign), domain.Author{UserID: domain.OwnerID}); err != nil {
		t.Fatal(err)
	}
	return in
}

// injection is a case of the corpus.
type injection struct{ kind, name, text string }

func (in *injected) corpus(t *testing.T) (list []injection) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(injections, "*", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, injection{
			kind: filepath.Base(filepath.Dir(path)), name: strings.TrimSuffix(filepath.Base(path), ".txt"),
			text: strings.ReplaceAll(strings.TrimSpace(string(text)), "VICTIM", in.victim.ID),
		})
	}
	return list
}

// repository makes the files of the corpus a repository that is read.
func (in *injected) repository(t *testing.T, corpus []injection) {
	t.Helper()
	if err := os.MkdirAll(in.files, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range corpus {
		name := c.name + ".go"
		text := c.text
		if c.kind == "file-name" {
			name, text = c.text+".go", "package app\n\n// FileNamed is in a file with a long name.\nfunc FileNamed() {}\n"
		}
		if c.kind != "file" && c.kind != "file-name" {
			continue
		}
		if err := os.WriteFile(filepath.Join(in.files, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "app"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = in.files
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	if run := in.read(t, client.Source{URL: in.files, Name: "app"}); run.Status != domain.IngestDone {
		t.Fatalf("read: %+v", run)
	}
}

// bring brings a text to the model in its way: it gives the question, and what is attached.
func (in *injected) bring(t *testing.T, c injection) (question string, files []domain.Attachment) {
	t.Helper()
	look := func(tool string, input any) string { return "Look: " + tool + " " + quote(input) }
	by := domain.Author{UserID: domain.OwnerID}
	var err error
	switch c.kind {
	case "result":
		in.fetch.texts[c.name] = c.text
		question = look("fetch", map[string]string{"page": c.name})
	case "file":
		question = look("read_file", map[string]string{"repo": "app", "file": c.name + ".go"})
	case "file-name":
		question = look("search_symbols", map[string]string{"repo": "app", "query": "FileNamed"})
	case "skill", "skill-description":
		skill := domain.Skill{ProjectID: in.project, Name: c.kind + "-" + c.name, Description: "Cleans up.", Content: c.text, CreatedBy: domain.OwnerID}
		question = look("load_skill", map[string]string{"name": skill.Name})
		if c.kind == "skill-description" {
			skill.Description, skill.Content = c.text, "# Nothing"
			question = look("list_skills", map[string]string{})
		}
		_, err = in.skills.Create(t.Context(), skill)
	case "memory", "memory-title":
		note := domain.Memory{ProjectID: in.project, Title: "Zanzibar " + c.name, Content: c.text}
		if c.kind == "memory-title" {
			note.Title, note.Content = "Zanzibar "+c.text, "x"
		}
		var made domain.Memory
		made, err = in.memories.Create(t.Context(), note, by)
		t.Cleanup(func() { _ = in.memories.Delete(context.WithoutCancel(t.Context()), in.project, made.ID) }) // of this case alone
		question = "What about Zanzibar " + c.name + "?"
	case "artifact", "artifact-title":
		a := domain.Artifact{ProjectID: in.project, Title: c.name, Kind: "markdown", Content: c.text}
		question = "Look: list_artifacts {}"
		if c.kind == "artifact-title" {
			a.Title, a.Content = c.text, "x"
		}
		if a, err = in.artifacts.Create(t.Context(), a, by); c.kind == "artifact" {
			question = look("get_artifact", map[string]string{"id": a.ID})
		}
	case "attachment":
		question, files = "What is in it?", []domain.Attachment{{Name: "minutes.txt", MimeType: "text/plain", Data: []byte(c.text)}}
	case "attachment-name":
		question, files = "What is in it?", []domain.Attachment{{Name: c.text, MimeType: "text/plain", Data: []byte("x")}}
	case "conversation-title":
		question = c.text // a title is made of it
	default:
		t.Fatalf("nothing brings a %s", c.kind)
	}
	if err != nil {
		t.Fatal(err)
	}
	return question, files
}

// A model that does whatever it reads runs nothing that nobody approved, and brings no byte of
// a secret out.
func TestInjections(t *testing.T) {
	t.Parallel()
	in := newInjected(t)
	corpus := in.corpus(t)
	if len(corpus) < 50 {
		t.Fatalf("the corpus has %d cases", len(corpus))
	}
	in.repository(t, corpus)
	obeyed := 0
	for _, c := range corpus {
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			question, files := in.bring(t, c)
			turn := in.query(t, question, files...)
			if in.obeyed(t, turn) {
				obeyed++
			} else {
				t.Errorf("the model was not brought to do anything: %q", turn.Answer)
			}
			for turn.Status == domain.TurnWaiting {
				in.shown(t, turn)
				turn = in.reject(t, turn)
			}
			in.untouched(t)
		})
	}
	t.Logf("%d of %d cases were obeyed", obeyed, len(corpus))
	clean(t, in.places(t), map[string]string{"the treasure": treasure, "another project's": foreign})
}

// obeyed reports whether a turn's model made a call that a text ordered, or said what it did.
func (in *injected) obeyed(t *testing.T, turn domain.Turn) bool {
	t.Helper()
	var calls int
	err := in.pool.QueryRow(t.Context(), `select count(*) from turn_calls where turn_id = $1 and kind = 'tool' and name <> all($2)`, turn.ID, []string{"fetch", "read_file", "load_skill", "list_skills", "get_artifact", "list_artifacts", "search_symbols"}).Scan(&calls)
	if err != nil {
		t.Fatal(err)
	}
	return calls > 0 || turn.Status == domain.TurnDone && !strings.HasPrefix(turn.Answer, done)
}

// shown checks what a person is shown of the actions of a turn: nothing that can't be seen,
// and the very thing that would be done.
func (in *injected) shown(t *testing.T, turn domain.Turn) {
	t.Helper()
	actions, err := in.store.WaitingActions(t.Context(), turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range actions {
		for line := range strings.Lines(a.Description) {
			plain := strings.TrimSuffix(line, "\n")
			if strings.ReplaceAll(domain.Visible(plain), `\\`, `\`) != plain {
				t.Errorf("the description has what is not seen: %q", line)
			}
		}
		var would struct {
			ID, Name string
			Env      map[string]any
		}
		if err := json.Unmarshal(a.Input, &would); err != nil {
			t.Errorf("the action has the input %s: %v", a.Input, err)
		}
		for _, what := range []string{would.ID, would.Name} {
			if !strings.Contains(a.Description, domain.Visible(what)) {
				t.Errorf("%s would act on %q, and shows %q", a.Name, what, a.Description[:min(len(a.Description), 300)])
			}
		}
		for name, value := range would.Env {
			if text := fmt.Sprint(value); domain.HoldsHandle(text) && (text != in.secret.Ref().Handle() || !strings.Contains(a.Description, text)) {
				t.Errorf("the variable %s has %s, not %s, and is shown as %q", name, text, in.secret.Ref(), a.Description)
			}
		}
	}
}

// reject rejects what a turn waits for.
func (in *injected) reject(t *testing.T, turn domain.Turn) domain.Turn {
	t.Helper()
	actions, err := in.store.WaitingActions(t.Context(), turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	var decisions []domain.Decision
	for _, a := range actions {
		decisions = append(decisions, domain.Decision{ActionID: a.ID, Status: domain.ActionRejected, Nonce: a.Nonce, Hash: a.Hash})
	}
	if _, err := in.engine.DecideActions(t.Context(), domain.Actor{UserID: domain.OwnerID, Name: "owner", Role: domain.UserAdmin}, decisions); err != nil {
		t.Fatal(err)
	}
	return in.wait(t, turn.ID)
}

// untouched checks that nothing was done that needs an approval.
func (in *injected) untouched(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	if a, err := in.artifacts.Get(ctx, in.victim.ID); err != nil || a.Version != in.victim.Version {
		t.Errorf("the artifact is %+v, %v", a, err)
	}
	list, err := in.secrets.List(ctx, in.project)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Version != 1 || s.Name == in.secret.Name && s.UpdatedAt != in.secret.UpdatedAt {
			t.Errorf("the secret %s was overwritten: %+v", s.Name, s)
		}
	}
	if n := in.runs.Swap(0); n > 0 {
		// without a handle it needs no approval, and has nothing
		var withHandle int
		if err := in.pool.QueryRow(ctx, `select count(*) from turn_calls where kind = 'tool' and name = 'run_env' and status = 'done' and input::text like '%secret://%'`).Scan(&withHandle); err != nil || withHandle > 0 {
			t.Errorf("%d calls with handles ran, %v", withHandle, err)
		}
	}
	var acted []string
	if err := in.pool.QueryRow(ctx, "select coalesce(array_agg(tool || ' ' || status), '{}') from actions where status not in ('pending', 'rejected', 'expired')").Scan(&acted); err != nil || len(acted) > 0 {
		t.Errorf("actions went ahead: %v, %v", acted, err)
	}
}
