package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Whoever decides wrongly, or may not, decides nothing: both actions wait as before.
func TestRefusedDecisions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	a := o.asks(t)
	one, two := a.Actions[0], a.Actions[1]
	if !strings.Contains(one.Description, "\n  artifact: Plan\\u{202e} <b>\n  kind: markdown\n  versions: 1,") {
		t.Errorf("described as\n%s", one.Description)
	}
	other := o.asks(t) // of another conversation
	foreign, err := o.store.CreateProject(t.Context(), domain.Project{Name: "foreign", GroupID: o.project.GroupID, CreatedBy: o.ada.ID})
	if err != nil {
		t.Fatal(err)
	}
	resume := a.talk + "/confirm-action/resume"
	for name, c := range map[string]struct {
		who    member
		path   string
		body   string
		status int
		says   string
	}{
		"a wrong nonce":               {o.ada, resume, decisions(decision(one, true, "wrong", one.Hash)), 403, "nonce"},
		"another's nonce":             {o.ada, resume, decisions(decision(one, true, two.Nonce, one.Hash)), 403, "nonce"},
		"no nonce":                    {o.ada, resume, decisions(decision(one, true, "", one.Hash)), 400, "nonce"},
		"a changed hash":              {o.ada, resume, decisions(decision(one, true, one.Nonce, two.Hash)), 409, "hash"},
		"neither yes nor no":          {o.ada, resume, decisions(`{"id":"` + one.ID + `","nonce":"` + one.Nonce + `","hash":"` + one.Hash + `"}`), 400, "approved"},
		"an empty list":               {o.ada, resume, decisions(), 400, "decisions"},
		"nothing":                     {o.ada, resume, `{}`, 400, "decisions"},
		"fields that nobody knows":    {o.ada, resume, `{"approve":[` + yes(one) + `]}`, 400, "decisions"},
		"the same twice":              {o.ada, resume, decisions(yes(one), yes(one)), 400, "only once"},
		"decided and reported":        {o.ada, resume, `{"decisions":[` + yes(one) + `],"results":[{"tool_call_id":"` + one.ID + `","status":"done"}]}`, 400, "only once"},
		"by two names":                {o.ada, resume, decisions(yes(one), strings.Replace(yes(one), one.ID, one.CallID, 1)), 400, "only once"},
		"one right, one wrong":        {o.ada, resume, decisions(yes(one), decision(two, true, "wrong", two.Hash)), 403, "nonce"},
		"one right, one unknown":      {o.ada, resume, decisions(yes(one), strings.Replace(yes(two), two.ID, "none", 1)), 404, "no action"},
		"of another conversation":     {o.ada, other.talk + "/confirm-action/resume", decisions(yes(one)), 404, "no action"},
		"by another project":          {o.ada, strings.Replace(resume, o.project.ID, foreign.ID, 1), decisions(yes(one)), 404, "no conversation"},
		"of another group":            {o.eve, resume, decisions(yes(one)), 404, "no project"},
		"of another group, by its id": {o.eve, "/actions/" + one.ID + "/decide", yes(one), 404, "no action"},
		"by a personal path":          {o.ada, "/conversations/" + a.talk[strings.LastIndex(a.talk, "/")+1:] + "/confirm-action/resume", decisions(yes(one)), 404, "no conversation"},
	} {
		if status, text := c.who.do(t, "POST", c.path, c.body); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %s, want %d %s", name, status, text, c.status, c.says)
		}
	}
	for rule, who := range map[domain.Approvers]member{domain.ApproveAdmins: o.grace, domain.ApproveOthers: o.ada} {
		o.settle(t, rule)
		who.wants(t, 403, "in this project", "POST", resume, decisions(yes(one)))
		who.wants(t, 403, "in this project", "POST", resume, `{"results":[{"tool_call_id":"`+one.CallID+`","status":"done"}]}`)
		who.wants(t, 403, "in this project", "POST", "/actions/"+one.ID+"/decide", yes(one))
	}
	for _, action := range a.Actions {
		o.grace.wants(t, 200, `"status":"pending"`, "GET", "/projects/"+o.project.ID+"/actions/"+action.ID, "")
	}
	if n := o.left(t); n != 2 {
		t.Errorf("%d artifacts are left", n)
	}
	o.decideInTheEnd(t, a)
}

// decideInTheEnd decides a turn's actions as the rule "others" has it, in two requests.
func (o *office) decideInTheEnd(t *testing.T, a asked) {
	t.Helper()
	o.settle(t, domain.ApproveOthers)
	resume := a.talk + "/confirm-action/resume"
	o.ada.wants(t, 409, a.Actions[0].ID, "POST", "/projects/"+o.project.ID+"/query", `{"query":"And now?","conversation_id":"`+a.talk[strings.LastIndex(a.talk, "/")+1:]+`"}`)
	o.grace.wants(t, 200, `"resumed":false`, "POST", resume, strings.Replace(decisions(yes(a.Actions[0])), `"id"`, `"colour":"red","id"`, 1))
	o.chief.wants(t, 409, o.grace.Name+" has decided", "POST", resume, decisions(yes(a.Actions[0])))
	o.grace.wants(t, 200, `"resumed":true`, "POST", resume, decisions(decision(a.Actions[1], false, a.Actions[1].Nonce, a.Actions[1].Hash)))
	if status, outcomes := o.ends(t, a); !slices.Equal(status, []domain.ActionStatus{domain.ActionApplied, domain.ActionRejected}) || !strings.HasPrefix(outcomes[0], "Deleted Plan") {
		t.Errorf("they are %v: %q", status, outcomes)
	}
	if n := o.left(t); n != 1 {
		t.Errorf("%d artifacts are left", n)
	}
	o.grace.wants(t, 409, o.grace.Name+" has decided", "POST", resume, decisions(yes(a.Actions[0])))
}

// What is late, or was canceled, is not decided any more, and of two who decide at once one is
// told of the other.
func TestDecisionsThatComeLate(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	late, canceled, raced := o.asks(t), o.asks(t), o.asks(t)
	if _, err := o.pool.Exec(t.Context(), "update actions set expires_at = now() where turn_id = $1", late.TurnID); err != nil {
		t.Fatal(err)
	}
	o.ada.wants(t, 409, "expired", "POST", late.talk+"/confirm-action/resume", decisions(yes(late.Actions[0])))
	o.ada.wants(t, 409, "expired", "POST", late.talk+"/confirm-action/resume", `{"results":[{"tool_call_id":"`+late.Actions[0].ID+`","status":"done"}]}`)
	o.ada.wants(t, 202, "", "POST", "/turns/"+canceled.TurnID+"/cancel", "{}")
	o.ada.wants(t, 409, "canceled", "POST", "/actions/"+canceled.Actions[0].ID+"/decide", yes(canceled.Actions[0]))
	if status, _ := o.ends(t, canceled); !slices.Equal(status, []domain.ActionStatus{domain.ActionExpired, domain.ActionExpired}) {
		t.Errorf("the actions of a canceled turn are %v", status)
	}
	var both sync.WaitGroup
	people, answers := []member{o.ada, o.grace}, make([]string, 2)
	for i, who := range people {
		both.Go(func() {
			_, answers[i] = who.do(t, "POST", "/actions/"+raced.Actions[0].ID+"/decide", decision(raced.Actions[0], i == 0, raced.Actions[0].Nonce, raced.Actions[0].Hash))
		})
	}
	both.Wait()
	lost := func(i int) bool { return strings.Contains(answers[i], people[1-i].Name+" has decided") }
	if lost(0) == lost(1) {
		t.Errorf("the answers are %q", answers)
	}
}

// An artifact that a person deletes meanwhile is not there to be deleted; where the person's
// client reports that it was this, it is believed.
func TestADeletionByAPerson(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	a := o.asks(t)
	for _, id := range []string{o.plan, o.guide} {
		o.grace.wants(t, 204, "", "DELETE", "/artifacts/"+id, "")
	}
	resume := a.talk + "/confirm-action/resume"
	o.grace.wants(t, 200, `"verified":true`, "POST", resume, `{"results":[{"tool_call_id":"`+a.Actions[1].CallID+`","status":"done","result_text":"It is gone."}]}`)
	o.ada.wants(t, 200, `"resumed":true`, "POST", resume, decisions(yes(a.Actions[0])))
	status, outcomes := o.ends(t, a)
	if !slices.Equal(status, []domain.ActionStatus{domain.ActionFailed, domain.ActionApplied}) || !strings.Contains(outcomes[0], "no artifact") {
		t.Errorf("they are %v: %q", status, outcomes)
	}
	var told string
	if err := o.pool.QueryRow(t.Context(), "select outcome->>'text' from turn_calls where turn_id = $1 and call_id = $2", a.TurnID, a.Actions[1].CallID).Scan(&told); err != nil || !strings.Contains(told, "verified: the server saw the call") || !strings.Contains(told, "It is gone.") {
		t.Errorf("the model is told %q, %v", told, err)
	}
}

// The commands show and decide what waits, and tell other programs in JSON.
func TestActionCommands(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	a := o.asks(t)
	h := home{dir: t.TempDir()}
	run := func(code int, args ...string) (out, errs string) {
		t.Helper()
		cmd := h.program(t.Context(), append([]string{"actions"}, args...)...)
		cmd.Env = append(cmd.Env, urlVariable+"="+o.base, tokenVariable+"="+o.grace.key, "HOME="+h.dir, "XDG_CONFIG_HOME="+h.dir)
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // the code tells
		wantCode(t, code, cmd.ProcessState.ExitCode(), strings.Join(args, " ")+": "+stderr.String())
		return stdout.String(), stderr.String()
	}
	id, second := a.Actions[0].ID, a.Actions[1].ID
	out, _ := run(exitOK, "list", "--project", o.project.ID, "--status", "pending")
	wantParts(t, out, id+"  pending ", second, "delete_artifact")
	out, _ = run(exitOK, "list", "--project", o.project.ID, "--json")
	var list []domain.Action
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 2 || list[1].ID != id {
		t.Errorf("the list as JSON: %v\n%s", err, out)
	}
	out, _ = run(exitOK, "show", id)
	wantParts(t, out, "Run delete_artifact with:\n  id: "+o.plan, `artifact: Plan\u{202e} <b>`, "status       pending", "expires      ")
	out, _ = run(exitOK, "approve", id)
	wantParts(t, out, "Run delete_artifact", "approved; it is run now: see harvest actions show "+id)
	_, errs := run(exitFailed, "approve", id)
	wantParts(t, errs, o.grace.Name+" has decided")
	out, _ = run(exitOK, "reject", second, "--reason", "not\x1b[31m today")
	wantParts(t, out, "rejected; it will not be run")
	o.ends(t, a)
	out, _ = run(exitOK, "show", second)
	wantParts(t, out, "status       rejected", "decided by   "+o.grace.Name, `reason       not\u{1b}[31m today`)
	out, _ = run(exitOK, "show", id, "--json")
	var one domain.Action
	if err := json.Unmarshal([]byte(out), &one); err != nil || one.Status != domain.ActionApplied || one.Nonce != "" {
		t.Errorf("an action as JSON: %v\n%s", err, out)
	}
	out, errs = run(exitOK, "list")
	if out != "" || !strings.Contains(errs, "there are no such actions") {
		t.Errorf("of no actions: %q %q", out, errs)
	}
	_, errs = run(exitFailed, "show", "none")
	wantParts(t, errs, "no action")
	_, errs = run(exitFailed, "list", "--status", "open")
	wantParts(t, errs, "status")
	run(exitUsage, "approve")
	if text, err := os.ReadFile(o.cfg.Data.Dir + "/log"); err != nil || strings.Contains(string(text), a.Actions[0].Nonce) {
		t.Errorf("the log tells the nonce (%v)", err)
	}
}
