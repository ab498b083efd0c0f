package machinetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// asked is a turn whose model runs a command on a machine.
type asked struct {
	*stack
	*job
	turn domain.Turn
}

// newAsked makes a site with a machine, whose model runs a job there, and asks a question.
func newAsked(t *testing.T, rules domain.CommandRules) *asked {
	t.Helper()
	folder, host := t.TempDir(), "box-"+domain.NewID()
	line := "bash " + filepath.Join(folder, "job.sh")
	input, err := json.Marshal(map[string]any{"agent_id": host, "command": line, "description": "see", "timeout_secs": 600})
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{stack: newStackOf(t, fmt.Sprintf(`{"rounds": [{"text": "I run it.", "calls": [{"name": "run_command", "input": %s}]}, {"text": "It is run."}]}`, input))}
	settings := domain.DefaultConfirmSettings()
	if settings.Commands = rules; rules.Policy == domain.CommandsAllowListed {
		settings.Commands.Allowed = []string{line}
	}
	if err := a.store.SetConfirmSettings(context.Background(), a.project, settings); err != nil {
		t.Fatal(err)
	}
	m := a.installed(a.api.address)
	m.hostname = host
	m.configure(a.api.address, a.install)
	m.join()
	a.job = m.prepare()
	a.dir, a.stdout, a.stderr = folder, []byte("the first words\nthe last words\n"), []byte("some errors\n")
	a.gate()
	a.write("job.sh", fmt.Appendf(nil, "cd %s\necho run >>runs\necho the first words\nread -r word <gate\necho the last words\necho some errors >&2\nexit %d\n", folder, exitCode))
	a.turn, err = a.StartTurn(context.Background(), domain.TurnRequest{Query: "Please run it.", UserID: domain.OwnerID, ProjectID: a.project, ConversationID: domain.NewID()})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// approve approves the command once the turn waits for that, and gives its id.
func (a *asked) approve() string {
	t := a.job.s.t
	t.Helper()
	var waiting []domain.Action
	eventually(t, "the turn waits for an approval", func() bool {
		waiting, _ = a.WaitingActions(context.Background(), a.turn.ID)
		return len(waiting) == 1
	})
	_, err := a.DecideActions(context.Background(), domain.Actor{UserID: domain.OwnerID, Name: "owner", Role: domain.UserAdmin}, []domain.Decision{
		{ActionID: waiting[0].ID, Status: domain.ActionApproved, Nonce: waiting[0].Nonce, Hash: waiting[0].Hash},
	})
	if err != nil {
		t.Fatal(err)
	}
	return waiting[0].ID
}

// answered checks that the turn ends with what the command has written.
func (a *asked) answered() {
	t := a.job.s.t
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var results []string
	for e, err := range a.store.Follow(ctx, a.turn.ID, domain.Cursor{}) {
		if err != nil {
			t.Fatalf("follow the turn: %v; saw %s", err, results)
		}
		if e.Type == domain.EventToolResult || e.Type.Terminal() {
			results = append(results, string(e.Type)+" "+string(e.Payload))
		}
	}
	if len(results) != 2 || !strings.Contains(results[0], fmt.Sprint("exit code ", exitCode)) {
		t.Errorf("the turn has %s", results)
	}
	var outcome string
	if err := a.pool.QueryRow(ctx, "select outcome::text from turn_calls where turn_id = $1 and kind = 'tool'", a.turn.ID).Scan(&outcome); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(outcome, `the first words\nthe last words`) || !strings.Contains(outcome, "some errors") {
		t.Errorf("the model is told %s", outcome)
	}
	turn, err := a.Turn(ctx, a.turn.ID)
	if err != nil || turn.Status != domain.TurnDone || !strings.HasPrefix(turn.Answer, "It is run.") {
		t.Errorf("the turn is %s with the answer %q: %q, %v", turn.Status, turn.Answer, turn.Error, err)
	}
}

// A turn whose worker is killed while its command runs goes on waiting for that one, whether it
// had to be approved or not, and whoever is killed beside.
func TestTurnOfAKilledWorker(t *testing.T) {
	t.Parallel()
	for _, approved := range []bool{false, true} {
		for _, when := range []string{"while it runs", "and it ends meanwhile", "and all others with it"} {
			name := when
			if approved {
				name += ", approved"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				rules := domain.CommandRules{Policy: domain.CommandsAllowListed}
				if approved {
					rules.Policy = domain.CommandsChangesAsk
				}
				a := newAsked(t, rules)
				if approved {
					a.job.id = a.approve()
				}
				a.begins()
				if !approved {
					a.job.id = a.found()
				}
				killed := []*process{a.worker}
				if when == "and all others with it" {
					killed = append(killed, a.api.process, a.m.process)
				}
				for _, p := range killed {
					p.kill()
				}
				if when == "and it ends meanwhile" {
					a.release()
					a.over()
				}
				for _, p := range killed {
					p.start()
				}
				if when != "and it ends meanwhile" {
					a.release()
				}
				a.answered()
				a.ended()
			})
		}
	}
}

// found gives the id of the only command of the machine.
func (a *asked) found() string {
	t := a.job.s.t
	t.Helper()
	list, err := a.store.Commands(context.Background(), a.project, a.m.id, domain.Page{})
	if err != nil || len(list) != 1 {
		t.Fatalf("the machine has the commands %+v, %v", list, err)
	}
	return list[0].ID
}
