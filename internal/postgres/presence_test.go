package postgres_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// visitor follows a project and hands over who comes and goes, until it leaves.
type visitor struct {
	seen  chan string
	leave context.CancelFunc
}

func visit(t *testing.T, s *postgres.Store, projectID, name, conversation string) visitor {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	v := visitor{seen: make(chan string, 100), leave: cancel}
	done := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		<-done
	})
	go func() {
		defer close(done)
		who := domain.Visitor{UserID: "id of " + name, Name: name, ConvID: conversation}
		for e, err := range s.FollowProject(ctx, domain.FeedQuery{ProjectID: projectID, Visitor: who}) {
			if err != nil {
				return
			}
			var p struct {
				Users  []domain.Visitor `json:"users"`
				Name   string           `json:"name"`
				ConvID string           `json:"conv_id"`
			}
			_ = json.Unmarshal(e.Event.Payload, &p)
			text := string(e.Event.Type)
			for _, u := range p.Users {
				text += " " + u.Name + "@" + u.ConvID
			}
			if p.Name != "" {
				text += " " + p.Name + "@" + p.ConvID
			}
			v.seen <- text
		}
	}()
	return v
}

func (v visitor) expect(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	limit := time.After(30 * time.Second)
	for range want {
		select {
		case text := <-v.seen:
			got = append(got, text)
		case <-limit:
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("who is there (-want +got):\n%s", diff)
	}
}

// Of two processes each sees who follows a project at the other.
func TestPresenceAcrossProcesses(t *testing.T) {
	t.Parallel()
	dsn := testkit.DSN(t)
	here, there := open(t, dsn), open(t, dsn)
	_, project, c := shared(t, here)
	ada := visit(t, here, project.ID, "ada", c.ID)
	ada.expect(t, "presence ada@"+c.ID)
	grace := visit(t, there, project.ID, "grace", "")
	grace.expect(t, "presence ada@"+c.ID+" grace@")
	ada.expect(t, "user_join grace@")
	second := visit(t, here, project.ID, "grace", c.ID)
	second.expect(t, "presence ada@"+c.ID+" grace@ grace@"+c.ID)
	grace.expect(t, "user_join grace@"+c.ID)
	ada.expect(t, "user_join grace@"+c.ID)
	grace.leave() // her other stream goes on
	second.leave()
	ada.expect(t, "user_leave grace@")
}

// Whom a killed process leaves behind is gone after a while.
func TestPresenceAfterAProcessDied(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	h.exec(`insert into presence (id, project_id, user_id, name, conv_id) values ('v', $1, 'u', 'ghost', '')`, project.ID)
	ada := visit(t, h.store, project.ID, "ada", "")
	ada.expect(t, "presence ada@ ghost@")
	h.exec(`update presence set seen_at = now() - interval '1 minute' where id = 'v'`)
	ada.expect(t, "user_leave ghost@")
	if n := h.count("presence"); n != 1 {
		t.Errorf("%d rows are left", n)
	}
}
