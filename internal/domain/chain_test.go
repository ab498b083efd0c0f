package domain_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
)

func logOf(events ...string) (list []domain.Event) {
	for i := 0; i < len(events); i += 2 {
		list = append(list, domain.Event{Type: domain.EventType(events[i]), Payload: json.RawMessage(events[i+1])})
	}
	return list
}

func TestChain(t *testing.T) {
	t.Parallel()
	action := domain.Action{ID: "a1", CallID: "c2", Status: domain.ActionApplying, DecidedByName: "Ada"}
	ended := action
	ended.Status, ended.Outcome = domain.ActionApplied, "It is gone"
	asked := []string{
		"thinking_delta", `{"text":"Hm."}`, "text_delta", `{"text":"I look."}`,
		"tool_call", `{"id":"c1","name":"look","input":{},"description":"Looking"}`,
		"confirm_action", `{"id":"a1","call_id":"c2","name":"drop","input":{"id":"x"},"description":"Run drop"}`,
		"tool_result", `{"id":"c1","preview":"found","error":false}`,
	}
	before := []domain.ChainEntry{
		{Type: domain.ChainThinking, Text: "Hm."}, {Type: domain.ChainThinking, Text: "I look."},
		{Type: domain.ChainToolCall, ID: "c1", Name: "look", Input: json.RawMessage("{}"), Description: "Looking", Status: "done", Preview: "found"},
	}
	step := func(status, result string, a *domain.Action) domain.ChainEntry {
		return domain.ChainEntry{Type: domain.ChainAction, ID: "a1", Name: "drop", Input: json.RawMessage(`{"id":"x"}`), Description: "Run drop",
			Status: status, Steps: []string{}, ResultText: result, Action: a}
	}
	result := []string{"tool_result", `{"id":"c2","preview":"gone","error":false,"action_id":"a1","status":"applied"}`}
	for name, c := range map[string]struct {
		events  []string
		actions []domain.Action
		want    domain.ChainEntry
	}{
		"asked":                  {asked, nil, step("pending", "", nil)},
		"begun":                  {asked, []domain.Action{action}, step("applying", "", &action)},
		"ended":                  {append(asked, result...), []domain.Action{ended}, step("applied", "It is gone", &ended)},
		"ended, of another turn": {asked, []domain.Action{{CallID: "c9", Status: domain.ActionApplied}}, step("pending", "", nil)},
	} {
		if diff := cmp.Diff(append(before[:3:3], c.want), domain.Chain(logOf(c.events...), c.actions)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := domain.Chain(logOf("thinking_delta", `{"text":"No."}`, "text_delta", `{"text":"Wrong."}`, "retry", `{"discard":true}`, "text_delta", `{"text":"The answer."}`), nil); len(got) != 0 {
		t.Errorf("what was dropped, and the answer, are in the chain: %+v", got)
	}
}
