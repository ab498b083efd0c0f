package activities

import (
	"context"
	"sort"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Budgets caps what models may take. Costs are in the currency of the prices; 0 is no cap.
type Budgets struct {
	PerTurn    float64
	PerDay     float64 // of a person, by days of UTC
	TurnTokens int     // input and output
}

// leastAnswer is the shortest answer, in tokens, that is worth a call.
const leastAnswer = 200

// claim takes a call over, within the budgets; the request is given as it may be made.
func (a *Model) claim(ctx context.Context, d domain.Dialogue, req domain.ModelRequest, callID string, round int) (domain.ModelRequest, domain.CallClaim, error) {
	call := domain.ModelCall{TurnID: d.Turn.ID, CallID: callID, Round: round, DayLimit: a.Budgets.PerDay}
	if a.Budgets != (Budgets{}) {
		var err error
		if req, call.Reserve, err = a.fit(d, req); err != nil {
			return req, domain.CallClaim{}, err
		}
	}
	claim, err := a.Store.ClaimModelCall(ctx, call)
	return req, claim, err
}

// fit shortens the longest answer of a call to what the turn's budgets leave, and gives what
// the call may cost then; budget_exhausted where too little is left for an answer.
func (a *Model) fit(d domain.Dialogue, req domain.ModelRequest) (domain.ModelRequest, float64, error) {
	quote := a.Models.Quote(d.Provider, req)
	longest := quote.OutputTokens
	if limit := a.Budgets.TurnTokens; limit > 0 {
		longest = min(longest, limit-d.Turn.Usage.InputTokens-d.Turn.Usage.OutputTokens-quote.InputTokens)
	}
	if limit := a.Budgets.PerTurn; limit > 0 && d.Turn.Usage.Cost+quote.Cost > limit {
		longest = sort.Search(max(0, longest), func(n int) bool {
			req.MaxTokens = n + 1
			return d.Turn.Usage.Cost+a.Models.Quote(d.Provider, req).Cost > limit
		})
	}
	switch {
	case longest < min(leastAnswer, quote.OutputTokens):
		return req, 0, domain.Errorf(domain.CodeBudgetExhausted, "the turn's budget is used up")
	case longest < quote.OutputTokens:
		req.MaxTokens = longest
		quote = a.Models.Quote(d.Provider, req)
	}
	return req, quote.Cost, nil
}
