package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// shownValue is the value that an admin lets models see.
const shownValue = "sH0wnToM0delsByAnAdmin55"

// An approval holds for the version of the secret that it was given for: what is shown as changed
// can't be approved, and where that happens behind the approval nothing is run.
func TestAnApprovalBindsTheVersion(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	r := newVaultRig(t, "", func(p prompted) reply {
		if p.round == 0 && p.tools {
			return reply{calls: []puppetCall{{"run_env", `{"env":{"A":"secret://plain"}}`}}}
		}
		return reply{text: p.told[len(p.told)-1]}
	}, counted{runEnv{}, &runs})
	owner := domain.Actor{UserID: domain.OwnerID, Name: "owner", Role: domain.UserAdmin}
	approved := func(turn domain.Turn, want string) domain.Turn {
		t.Helper()
		actions, err := r.store.WaitingActions(t.Context(), turn.ID)
		if err != nil || len(actions) != 1 {
			t.Fatalf("turn %s waits for %+v, %v", turn.ID, actions, err)
		}
		a := actions[0]
		body := map[string]any{"approved": true, "nonce": a.Nonce, "hash": a.Hash}
		if status, _, text := r.send(t, http.MethodPost, "/actions/"+a.ID+"/decide", body); status != http.StatusConflict || !strings.Contains(text, want) {
			t.Errorf("the approval gives %d %s", status, text)
		}
		decision := domain.Decision{ActionID: a.ID, Status: domain.ActionApproved, Nonce: a.Nonce, Hash: a.Hash}
		if _, err := r.store.Decide(t.Context(), owner, []domain.Decision{decision}); err != nil { // as if it came before the change
			t.Fatal(err)
		}
		return r.end(t, turn.ID)
	}
	r.keep(t, "PLAIN", plainValue)
	turn := r.query(t, "Run it.")
	r.keep(t, "PLAIN", givenValue)
	turn = approved(turn, "the secret PLAIN has changed")
	if turn.Status != domain.TurnDone || !strings.Contains(turn.Answer, "Not run: the secret PLAIN has changed") || runs.Load() != 0 {
		t.Errorf("with a changed secret the turn is %s: %s; the tool ran %d times", turn.Status, turn.Answer, runs.Load())
	}
	turn = r.query(t, "Run it again.")
	if err := r.secrets.Delete(t.Context(), r.project, "PLAIN"); err != nil {
		t.Fatal(err)
	}
	turn = approved(turn, "there is no secret PLAIN")
	if !strings.Contains(turn.Answer, "Not run: ") || runs.Load() != 0 {
		t.Errorf("without its secret: %s; the tool ran %d times", turn.Answer, runs.Load())
	}
	var statuses string
	if err := r.pool.QueryRow(t.Context(), "select string_agg(distinct status, ' ') from actions").Scan(&statuses); err != nil || statuses != "failed" {
		t.Errorf("the actions are %s, %v", statuses, err)
	}
}

// A value that an admin lets models see stands in their requests alone, and no longer than the
// permission. Each time is noted.
func TestAPermittedValue(t *testing.T) {
	t.Parallel()
	var heard atomic.Int32
	r := newVaultRig(t, "", func(p prompted) reply {
		told := strings.Join(p.told, "\n")
		if strings.Contains(told, shownValue) {
			heard.Add(1)
		}
		if p.round == 0 && p.tools && strings.Contains(p.question, "get") {
			return reply{calls: []puppetCall{{"get_secret", `{"name":"SHOWN"}`}}}
		}
		if !p.tools {
			return reply{text: "research"}
		}
		return reply{thinking: told, text: told}
	})
	r.keep(t, "SHOWN", shownValue)
	for permitted, want := range map[bool]int32{false: 0, true: 1} {
		if err := r.secrets.Permit(t.Context(), r.project, "SHOWN", permitted); err != nil {
			t.Fatal(err)
		}
		heard.Store(0)
		if turn := r.query(t, "Please get it."); turn.Status != domain.TurnDone || !strings.Contains(turn.Answer, "secret://SHOWN@1") {
			t.Errorf("the turn is %s: %s", turn.Status, turn.Answer)
		}
		if got := heard.Load(); got != want {
			t.Errorf("with the permission %t the model sees the value %d times", permitted, got)
		}
	}
	places := r.places(t)
	delete(places, "requests")
	clean(t, places, map[string]string{"what is shown": shownValue})
	var noted int
	if err := r.pool.QueryRow(t.Context(), "select count(*) from audit where route = 'get_secret' and outcome = $1", domain.OutcomeDone).Scan(&noted); err != nil || noted != 1 {
		t.Errorf("%d reveals are noted, %v", noted, err)
	}
	if !strings.Contains(places["tables"], fmt.Sprintf("[secret %s]", "SHOWN")) {
		t.Error("the model did not repeat the value")
	}
}

// What a call is about is named to people without values, also where the name is older than the
// secret.
func TestExplanationsHoldNoValue(t *testing.T) {
	t.Parallel()
	var id atomic.Value
	r := newVaultRig(t, "", func(p prompted) reply {
		if p.round == 0 && p.tools {
			return reply{calls: []puppetCall{{"delete_artifact", fmt.Sprintf(`{"id":%q}`, id.Load())}}}
		}
		return reply{text: "As you like."}
	})
	made, err := r.artifacts.Create(t.Context(), domain.Artifact{ProjectID: r.project, Title: "Notes on " + plainValue, Kind: domain.ArtifactMarkdown, Content: "none"}, domain.Author{UserID: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	id.Store(made.ID)
	r.keep(t, "PLAIN", plainValue)
	turn := r.query(t, "Delete the notes.")
	actions, err := r.store.WaitingActions(t.Context(), turn.ID)
	if err != nil || len(actions) != 1 || !strings.Contains(actions[0].Description, "artifact: Notes on [secret PLAIN]") {
		t.Errorf("the turn waits for %+v, %v", actions, err)
	}
	r.decide(t, turn, false, "", nil)
}
