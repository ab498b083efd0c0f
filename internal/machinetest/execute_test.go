package machinetest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// executed is the answer to a person who runs a command.
type executed struct {
	CommandID string `json:"command_id"`
	ExitCode  *int   `json:"exit_code"`
	Stdout    []byte `json:"stdout_base64"`
	Stderr    []byte `json:"stderr_base64"`
}

// execute has an API run a job, and waits for its answer; an error where the API goes away.
func (s *site) execute(a *api, token, key string, j *job) (status int, answer executed, err error) {
	body, err := json.Marshal(map[string]any{"command": j.line, "timeout_secs": 300})
	if err != nil {
		return 0, answer, err
	}
	req, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://%s/projects/%s/agents/%s/execute", a.address, s.project, j.m.id), bytes.NewReader(body))
	if err != nil {
		return 0, answer, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, answer, err
	}
	defer resp.Body.Close()
	return resp.StatusCode, answer, json.NewDecoder(resp.Body).Decode(&answer)
}

// A person asks one API for a command on a machine whose agent is at another one. Where the one
// with the agent is killed the answer comes all the same; where the one that was asked is, the
// same question to another one is answered by the same run.
func TestExecuteAtOneAPIAndAgentAtAnother(t *testing.T) {
	t.Parallel()
	for _, victim := range []string{"the one with the agent", "the one that was asked"} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			s := newStack(t)
			asked, third := s.serve(), s.serve()
			tokens := map[*api]string{asked: s.token(asked), third: s.token(third)}
			w := newWire(t, s.api.address)
			m := s.machine(w.address)
			j, key := m.newJob(), domain.NewID()
			type reply struct {
				status int
				answer executed
				err    error
			}
			replies := make(chan reply, 1)
			ask := func(a *api) {
				status, answer, err := s.execute(a, tokens[a], key, j)
				replies <- reply{status, answer, err}
			}
			go ask(asked)
			j.begins()
			if victim == "the one with the agent" {
				s.api.kill()
				w.lead(third.address)
			} else {
				asked.kill()
				if lost := <-replies; lost.err == nil {
					t.Errorf("a killed API answers %+v", lost)
				}
				go ask(third)
			}
			j.release()
			got := <-replies
			if got.err != nil || got.status != http.StatusOK || got.answer.ExitCode == nil || *got.answer.ExitCode != exitCode ||
				!bytes.Equal(got.answer.Stdout, j.stdout) || !bytes.Equal(got.answer.Stderr, j.stderr) {
				t.Fatalf("the answer is %d, %v, of command %q", got.status, got.err, got.answer.CommandID)
			}
			j.id = got.answer.CommandID
			j.ended()
		})
	}
}
