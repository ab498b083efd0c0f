package worker_test

import (
	"log/slog"
	"testing"
	"time"

	sdkclient "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/testkit"
	"github.com/harvest-engine/harvest/worker"
)

// dialWith connects to the tests' Temporal, encrypting with the key.
func dialWith(t *testing.T, on testkit.Servers, key worker.Key) sdkclient.Client {
	t.Helper()
	codec, err := worker.NewCodec(worker.Keyring{key})
	if err != nil {
		t.Fatal(err)
	}
	client, err := worker.Dial(t.Context(), worker.Connection{
		Address: on.TemporalAddress, Namespace: on.TemporalNamespace, Codec: codec, Log: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// Keys are counted for as long as something open holds them, wherever it does.
func TestCountKeyUse(t *testing.T) {
	t.Parallel()
	on := testkit.Stack(t)
	input, memo, watch, unused := worker.NewKey(), worker.NewKey(), worker.NewKey(), worker.NewKey()
	queue := "nobody-" + domain.NewID()
	ended := ""
	for key, options := range map[*worker.Key]sdkclient.StartWorkflowOptions{
		&input: {ID: "input-" + queue, TaskQueue: queue},
		&memo:  {ID: "memo-" + queue, TaskQueue: queue, Memo: map[string]any{"a": "b"}},
	} {
		args := []any{"secret"}
		if key == &memo {
			args = nil
		}
		run, err := dialWith(t, on, *key).ExecuteWorkflow(t.Context(), options, "a workflow", args...)
		if err != nil {
			t.Fatal(err)
		}
		if key == &memo {
			ended = run.GetID()
		}
	}
	client := dialWith(t, on, watch)
	schedule, err := client.ScheduleClient().Create(t.Context(), sdkclient.ScheduleOptions{
		ID: "watch-" + queue, Spec: sdkclient.ScheduleSpec{Intervals: []sdkclient.ScheduleIntervalSpec{{Every: time.Hour}}},
		Action: &sdkclient.ScheduleWorkflowAction{ID: "watched-" + queue, Workflow: "a workflow", TaskQueue: queue, Args: []any{"secret"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantUse(t, client, on, map[string]int{input.ID: 1, memo.ID: 1, watch.ID: 1, unused.ID: 0})
	if err := client.TerminateWorkflow(t.Context(), ended, "", "over"); err != nil {
		t.Fatal(err)
	}
	if err := schedule.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantUse(t, client, on, map[string]int{input.ID: 1, memo.ID: 0, watch.ID: 0, unused.ID: 0})
	if use, err := worker.CountKeyUse(t.Context(), client, on.TemporalNamespace, 0); err != nil || !use.More {
		t.Errorf("within a limit of 0: %+v, %v", use, err)
	}
}

// wantUse waits for what is open to be as wanted: Temporal lists a moment late.
func wantUse(t *testing.T, client sdkclient.Client, on testkit.Servers, want map[string]int) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		use, err := worker.CountKeyUse(t.Context(), client, on.TemporalNamespace, 1000)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for id, n := range want {
			if use.Open[id] != n {
				wrong++
			}
		}
		if wrong == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("in use are %v, want %v", use.Open, want)
		}
		<-time.After(50 * time.Millisecond)
	}
}

func TestFingerprints(t *testing.T) {
	t.Parallel()
	a, b := worker.NewKey(), worker.NewKey()
	sameID := worker.Key{ID: a.ID, Secret: b.Secret}
	if a.Fingerprint() == sameID.Fingerprint() || a.Fingerprint() != a.Fingerprint() {
		t.Error("fingerprints don't tell keys apart")
	}
	ring := worker.Keyring{a, b}
	if ring.Active() != b.ID || ring.Fingerprints()[a.ID] != a.Fingerprint() || (worker.Keyring{}).Active() != "" {
		t.Errorf("active %s, %v", ring.Active(), ring.Fingerprints())
	}
}
