package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// What waits is delivered in the order in which it was asked for, also where not all of it is
// taken at once.
func TestTheOldestIsDeliveredFirst(t *testing.T) {
	t.Parallel()
	h, _, m := newMachine(t)
	var want []string
	for range 5 {
		want = append(want, m.order().ID)
	}
	for len(want) > 0 {
		list, err := h.store.DeliverCommands(context.Background(), m.ID, m.connection, patient, 2)
		if err != nil || len(list) != min(2, len(want)) {
			t.Fatalf("delivered %+v, %v", list, err)
		}
		for _, d := range list {
			if d.ID != want[0] {
				t.Errorf("delivered %s, want %s", d.ID, want[0])
			}
			want = want[1:]
		}
	}
}

// Each delivery puts off until when the result is waited for.
func TestADeliveryAgainPutsOffTheEnd(t *testing.T) {
	t.Parallel()
	h, _, m := newMachine(t)
	c := m.sent()
	h.exec(`update commands set result_by = now() + interval '1 minute' where id = $1`, c.ID)
	m.connect("")
	list := m.deliver()
	if len(list) != 1 || !list[0].Again || list[0].ResultBy == nil || time.Until(*list[0].ResultBy) < patient {
		t.Errorf("delivered again as %+v", list)
	}
}

// An agent that keeps a journal and does not say of which machine it is may be another one's.
func TestNothingIsDeliveredAgainWithoutAMachine(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	m := h.join(project, "", whole...)
	m.sent()
	m.connect("")
	if list := m.deliver(); len(list) != 0 {
		t.Errorf("delivered again: %+v", list)
	}
}

// What a command has written is counted by posts that may overtake each other.
func TestCountsOfOutputNeverShrink(t *testing.T) {
	t.Parallel()
	h, _, m := newMachine(t)
	c := m.sent()
	for i, written := range []int64{100, 50, 20} {
		var chunks []domain.CommandChunk
		if i < 2 { // the last one only counts
			chunks = []domain.CommandChunk{{Stream: domain.StreamStdout, Offset: int64(i), Data: []byte("x")}}
		}
		counts := map[string]int64{domain.StreamStdout: written, domain.StreamStderr: written}
		if err := h.store.TakeOutput(context.Background(), m.ID, c.ID, chunks, map[string]int64{domain.StreamStdout: int64(i + 1)}, counts); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.look(c.ID); got.Stdout.Bytes != 100 || got.Stderr.Bytes != 100 {
		t.Errorf("it wrote %d and %d bytes", got.Stdout.Bytes, got.Stderr.Bytes)
	}
}
