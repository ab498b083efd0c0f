package main

import (
	"fmt"
	"testing"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// thrifty is a model whose first round takes a million tokens.
const thrifty = `{"rounds": [
	{"text": "So far.", "usage": {"input": 1000000}, "calls": [{"name": "search_symbols", "input": {"query": "Greet"}}]},
	{"text": "Never said."}
]}`

// The budgets of the configuration end a turn whose partial answer is kept.
func TestConfiguredBudgetsEndATurn(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"max_turn_tokens = 900000", "max_turn_cost = 0.9", "max_day_cost = 0.9"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, thrifty, "[agent]\n"+setting+"\n"+scriptedModel+"price_input = 1.0\n")
			for turnOfDay, want := range []string{"So far.", "So far."} {
				if turnOfDay == 1 && setting == "max_day_cost = 0.9" {
					want = "The budget was used up before there was an answer: the day's budget of 0.9, which begins anew at midnight UTC, leaves too little for a model's answer."
				}
				events, turn := r.ask(t, client.Query{Query: "What is Greet?"})
				if turn.Status != domain.TurnDone || turn.Reason != domain.EndBudgetExhausted || turn.Answer != want {
					t.Errorf("turn %d ended %s, %s, with %q; %s", turnOfDay, turn.Status, turn.Reason, turn.Answer, turn.Error)
				}
				last := events[len(events)-1]
				var end struct {
					Reason domain.EndReason `json:"reason"`
					Answer string           `json:"answer"`
				}
				if err := last.Decode(&end); err != nil || last.Type != domain.EventDone || end.Reason != domain.EndBudgetExhausted || end.Answer != want {
					t.Errorf("turn %d: the last event is %s %s", turnOfDay, last.Type, fmt.Sprintf("%s", last.Data))
				}
			}
		})
	}
}
