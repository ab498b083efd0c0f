package activities

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Budgets caps what models may take. Costs are in the currency of the prices; 0 is no cap.
type Budgets struct {
	PerTurn    float64
	PerDay     float64 // of a person, by days of UTC
	TurnTokens int     // input and output
}

// rounding keeps what fits a day's budget from being refused for the last digit of a sum.
const rounding = 1e-9

// leastAnswer is the shortest answer, in tokens, that is worth a call.
const leastAnswer = 200

// claim takes a call over, within the budgets; the request is given as it may be made.
func (a *Model) claim(ctx context.Context, d domain.Dialogue, req domain.ModelRequest, callID string, round int) (domain.ModelRequest, domain.CallClaim, error) {
	call := domain.ModelCall{TurnID: d.Turn.ID, CallID: callID, Round: round, DayLimit: a.Budgets.PerDay}
	if a.Budgets != (Budgets{}) {
		room, err := a.room(ctx, d, callID)
		if err != nil {
			return req, domain.CallClaim{}, err
		}
		if req, call.Reserve, err = a.fit(d, req, room); err != nil {
			return req, domain.CallClaim{}, err
		}
	}
	claim, err := a.Store.ClaimModelCall(ctx, call)
	return req, claim, err
}

// room is what a call may cost at the most, and whose bound that is, for people.
type room struct {
	cost  float64
	bound string
}

// room gives the tightest bound on the cost of a call.
func (a *Model) room(ctx context.Context, d domain.Dialogue, callID string) (room, error) {
	tightest := room{cost: math.Inf(1)}
	if limit := a.Budgets.PerTurn; limit > 0 {
		tightest = room{limit - d.Turn.Usage.Cost, fmt.Sprintf("the turn's budget of %.4g", limit)}
	}
	if limit := a.Budgets.PerDay; limit > 0 {
		left, err := a.Store.DayLeft(ctx, d.Turn.ID, callID, limit)
		if err != nil {
			return tightest, err
		}
		if left < tightest.cost {
			tightest = room{left - rounding, fmt.Sprintf("the day's budget of %.4g, which begins anew at midnight UTC,", limit)}
		}
	}
	return tightest, nil
}

// fit shortens the longest answer of a call to what the budgets leave, and gives what the call
// may cost then; budget_exhausted where too little is left for an answer.
func (a *Model) fit(d domain.Dialogue, req domain.ModelRequest, in room) (domain.ModelRequest, float64, error) {
	quote := a.Models.Quote(d.Provider, req)
	longest, bound := quote.OutputTokens, ""
	if limit := a.Budgets.TurnTokens; limit > 0 {
		if left := limit - d.Turn.Usage.InputTokens - d.Turn.Usage.OutputTokens - quote.InputTokens; left < longest {
			longest, bound = left, fmt.Sprintf("the turn's budget of %d tokens", limit)
		}
	}
	if quote.Cost > max(0, in.cost) { // what is free needs no budget, even an overdrawn one
		affordable := sort.Search(max(0, quote.OutputTokens), func(n int) bool {
			req.MaxTokens = n + 1
			return a.Models.Quote(d.Provider, req).Cost > in.cost
		})
		if affordable < longest {
			longest, bound = affordable, in.bound
		}
	}
	switch {
	case longest < min(leastAnswer, quote.OutputTokens):
		return req, 0, domain.Errorf(domain.CodeBudgetExhausted, "%s leaves too little for a model's answer", bound)
	case longest < quote.OutputTokens:
		req.MaxTokens = longest
		quote = a.Models.Quote(d.Provider, req)
	}
	return req, quote.Cost, nil
}
