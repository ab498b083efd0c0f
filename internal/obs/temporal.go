package obs

import (
	"fmt"
	"strings"

	"github.com/rs/zerolog"
	sdklog "go.temporal.io/sdk/log"
)

// TemporalLogger adapts a logger to the Temporal SDK. The SDK's WorkflowID becomes
// workflow_id, with the turn_id or ingest_id that it holds beside it; an odd last key is kept under "extra".
func TemporalLogger(log zerolog.Logger) sdklog.Logger { return temporalLogger{log} }

type temporalLogger struct{ log zerolog.Logger }

func (l temporalLogger) Debug(event string, kv ...any) { l.write(l.log.Debug(), event, kv) }
func (l temporalLogger) Info(event string, kv ...any)  { l.write(l.log.Info(), event, kv) }
func (l temporalLogger) Warn(event string, kv ...any)  { l.write(l.log.Warn(), event, kv) }
func (l temporalLogger) Error(event string, kv ...any) { l.write(l.log.Error(), event, kv) }

// With implements log.WithLogger.
func (l temporalLogger) With(kv ...any) sdklog.Logger {
	return temporalLogger{l.log.With().Fields(fields(kv)).Logger()}
}

func (temporalLogger) write(e *zerolog.Event, event string, kv []any) {
	e.Fields(fields(kv)).Msg(event)
}

func fields(kv []any) map[string]any {
	out := make(map[string]any, len(kv)/2+1)
	for i := 0; i < len(kv); i += 2 {
		if i+1 == len(kv) {
			out["extra"] = kv[i]
			break
		}
		key := fmt.Sprint(kv[i])
		if key == "WorkflowID" {
			key = "workflow_id"
			subject(out, fmt.Sprint(kv[i+1]))
		}
		out[key] = kv[i+1]
	}
	return out
}

// subject adds the id of the turn or ingest that a workflow's id holds.
func subject(out map[string]any, workflowID string) {
	kind, id, _ := strings.Cut(workflowID, "/")
	id, _, _ = strings.Cut(id, "/") // a version of an ingest has its tag behind
	if id != "" && (kind == "turn" || kind == "ingest") {
		out[kind+"_id"] = id
	}
}
