package obs

import (
	"context"
	"sync"

	"github.com/rs/zerolog"
)

// IDs are the names of the work that a context belongs to; empty ones are left out of logs.
type IDs struct {
	RequestID      string
	TurnID         string
	ConversationID string
	WorkflowID     string
}

type idsKey struct{}

// With gives a context that carries ids besides those that it carries already.
func With(ctx context.Context, ids IDs) context.Context {
	merged := From(ctx)
	for _, f := range []struct {
		to   *string
		from string
	}{
		{&merged.RequestID, ids.RequestID}, {&merged.TurnID, ids.TurnID},
		{&merged.ConversationID, ids.ConversationID}, {&merged.WorkflowID, ids.WorkflowID},
	} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	return context.WithValue(ctx, idsKey{}, merged)
}

// From gives the ids that ctx carries.
func From(ctx context.Context) IDs {
	ids, _ := ctx.Value(idsKey{}).(IDs)
	return ids
}

// contextFields adds a context's ids to every entry that was given the context with Ctx.
type contextFields struct{}

// Run implements zerolog.Hook.
func (contextFields) Run(e *zerolog.Event, _ zerolog.Level, _ string) {
	ctx := e.GetCtx()
	if ctx == nil {
		return
	}
	ids := From(ctx)
	for _, f := range [...]struct{ name, value string }{
		{"request_id", ids.RequestID}, {"turn_id", ids.TurnID},
		{"conversation_id", ids.ConversationID}, {"workflow_id", ids.WorkflowID},
	} {
		if f.value != "" {
			e.Str(f.name, f.value)
		}
	}
}

var nameFields = sync.OnceFunc(func() {
	zerolog.TimestampFieldName = "timestamp"
	zerolog.MessageFieldName = "event"
	zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00"
})
