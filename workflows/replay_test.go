package workflows_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	sdklog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/harvest-engine/harvest/worker"
)

// Every history that was ever recorded must replay: a workflow that runs through a
// deployment goes on where it was. Each is as the server stores it, through the codec.
func TestReplay(t *testing.T) {
	t.Parallel()
	keys, err := os.ReadFile("testdata/replay/keys")
	if err != nil {
		t.Fatal(err)
	}
	ring, err := worker.ParseKeyring(string(keys))
	if err != nil {
		t.Fatal(err)
	}
	codec, err := worker.NewCodec(ring)
	if err != nil {
		t.Fatal(err)
	}
	histories, err := filepath.Glob("testdata/replay/*/*.json")
	if err != nil || len(histories) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, path := range histories {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			replayer, err := sdkworker.NewWorkflowReplayerWithOptions(sdkworker.WorkflowReplayerOptions{
				DataConverter: codec.DataConverter(), FailureConverter: codec.FailureConverter(),
			})
			if err != nil {
				t.Fatal(err)
			}
			worker.RegisterWorkflows(replayer)
			quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(quiet, path); err != nil {
				t.Error(err)
			}
		})
	}
}
