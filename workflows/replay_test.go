package workflows_test

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdklog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

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
	histories, err := filepath.Glob("testdata/replay/*/*/*.json")
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

// What was recorded of a release stays as it was: workflows of that release may still run, and a
// history that is recorded anew is one of today's code.
func TestHistoriesOfReleasesStay(t *testing.T) {
	t.Parallel()
	releases, err := filepath.Glob("testdata/replay/v*")
	if err != nil || len(releases) == 0 {
		t.Fatalf("no releases: %v", err)
	}
	for _, release := range releases {
		want, err := os.ReadFile(filepath.Join(release, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		paths, err := filepath.Glob(filepath.Join(release, "*", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, path := range paths {
			history, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%x  %s\n", sha256.Sum256(history), strings.TrimPrefix(path, release+"/"))
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("the histories of %s are not those that were kept (-kept +found):\n%s", release, diff)
		}
	}
}

// names takes the names of the workflows that are registered.
type names []string

func (n *names) RegisterWorkflowWithOptions(_ any, o workflow.RegisterOptions) {
	*n = append(*n, o.Name)
}

func TestEveryWorkflowHasAHistory(t *testing.T) {
	t.Parallel()
	var registered names
	worker.RegisterWorkflows(&registered)
	for _, name := range registered {
		if found, err := filepath.Glob(filepath.Join("testdata", "replay", "*", name, "*.json")); err != nil || len(found) == 0 {
			t.Errorf("no history of %s is replayed: record one", name)
		}
	}
	recorded, err := filepath.Glob("testdata/replay/*/*/")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range recorded {
		if name := filepath.Base(path); name != "SHA256SUMS" && !slices.Contains(registered, name) {
			t.Errorf("workflows of the name %s may still run, and no worker knows them", name)
		}
	}
}
