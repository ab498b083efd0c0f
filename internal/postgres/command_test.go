package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestACommandFromOrderToResult(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, project, m := newMachine(t)
	order := domain.CommandOrder{
		ID: "c1", ProjectID: project.ID, AgentID: m.ID, Command: "make", Description: "build", Env: map[string]string{"A": "1"},
		UserID: "ada", TurnID: "t", CallID: "c", Timeout: time.Minute, Wait: 2 * time.Minute,
	}
	c, err := h.store.CreateCommand(ctx, order)
	if err != nil || c.Status != domain.CommandQueued || c.Hostname != "web" {
		t.Fatalf("created %+v, %v", c, err)
	}
	if diff := cmp.Diff(order, c.CommandOrder); diff != "" {
		t.Errorf("the order (-want +got):\n%s", diff)
	}
	if again, err := h.store.CreateCommand(ctx, order); err != nil || again.CreatedAt != c.CreatedAt {
		t.Errorf("ordered again: %+v, %v", again, err)
	}
	order.Command = "make clean"
	_, err = h.store.CreateCommand(ctx, order)
	wantCode(t, "another command of the same id", err, domain.CodeConflict)

	list := m.deliver()
	if len(list) != 1 || list[0].Env["A"] != "1" || list[0].Again || list[0].Cancel || list[0].DeliveredAt == nil ||
		list[0].ResultBy.Sub(*list[0].DeliveredAt) != time.Minute+patient {
		t.Fatalf("delivered %+v", list)
	}
	if list := m.deliver(); len(list) != 0 {
		t.Errorf("delivered twice by one connection: %+v", list)
	}
	for range 2 {
		if err := h.store.CommandStarted(ctx, m.ID, "c1"); err != nil {
			t.Fatal(err)
		}
	}
	chunks := []domain.CommandChunk{{Stream: domain.StreamStdout, Data: []byte("one\n")}, {Stream: domain.StreamStderr, Data: []byte("\xff\x00")}}
	if err := h.store.TakeOutput(ctx, m.ID, "c1", chunks, map[string]int64{"stdout": 4, "stderr": 2}, map[string]int64{"stdout": 4, "stderr": 2}); err != nil {
		t.Fatal(err)
	}
	if taken, err := h.store.CommandTaken(ctx, m.ID, "c1"); err != nil || taken.Taken["stdout"] != 4 || taken.Taken["stderr"] != 2 || taken.Status != domain.CommandRunning {
		t.Errorf("taken %+v, %v", taken, err)
	}
	end := result("c1", 3, "one\ntwo\n")
	end.Rest = []domain.CommandChunk{{Stream: domain.StreamStdout, Offset: 4, Data: []byte("two\n")}}
	end.Stderr = domain.CommandOutput{Head: []byte("\xff\x00"), Bytes: 2}
	end.Swept = 1
	m.end(end)
	got := m.look("c1")
	if got.Status != domain.CommandDone || *got.ExitCode != 3 || string(got.Stdout.Head) != "one\ntwo\n" || string(got.Stderr.Head) != "\xff\x00" ||
		got.Swept != 1 || got.EndedAt == nil || got.StartedAt == nil || got.Stdout.Bytes != 8 {
		t.Errorf("ended %+v", got)
	}
	events := log(t, h.store, "c1")
	want := []string{"command_started", "command_output", "command_output", "command_output", "command_done"}
	if diff := cmp.Diff(want, types(events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if out, bad := printed(t, events, "stdout"), printed(t, events, "stderr"); out != "one\ntwo\n" || bad != "\xff\x00" {
		t.Errorf("the log has %q and %q", out, bad)
	}
	if done := string(events[4].JSON()); !strings.Contains(done, `"status":"done"`) || !strings.Contains(done, `"exit_code":3`) || !strings.Contains(done, `"stdout_bytes":8`) {
		t.Errorf("terminal event %s", done)
	}
}

// A result needs nothing that came before it: an agent may say nothing else.
func TestAResultIsWhole(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	m := h.join(project, "", "batch")
	c := m.sent()
	if got := m.end(result(c.ID, 0, "all")); got.Status != domain.CommandDone || got.StartedAt != nil && got.EndedAt == nil {
		t.Errorf("ended %+v", got)
	}
	events := log(t, h.store, c.ID)
	if diff := cmp.Diff([]string{"command_started", "command_output", "command_done"}, types(events)); diff != "" || printed(t, events, "stdout") != "all" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	// The same once more, and another: the first counts.
	m.end(result(c.ID, 0, "all"))
	m.end(result(c.ID, 7, "other"))
	if got := m.look(c.ID); *got.ExitCode != 0 || string(got.Stdout.Head) != "all" || got.Late != nil {
		t.Errorf("after other results %+v", got)
	}
	if again := log(t, h.store, c.ID); len(again) != len(events) {
		t.Errorf("the log has grown: %v", types(again))
	}
}
