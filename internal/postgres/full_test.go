package postgres_test

import (
	"context"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// A disk without room is told as what it is, and nothing of the turn is stored; once there is
// room the same request goes through.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.exec(`create function no_room() returns trigger language plpgsql as $$
begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
	h.exec(`create trigger no_room before insert on events for each row execute function no_room()`)
	req := request()
	req.IdempotencyKey = "k"
	_, _, err := h.store.CreateTurn(context.Background(), req)
	if domain.CodeOf(err) != domain.CodeUnavailable || !strings.Contains(domain.PublicMessage(err), "disk") {
		t.Errorf("got %v", err)
	}
	if n := h.count("turns"); n != 0 {
		t.Errorf("%d turns were stored", n)
	}
	h.exec(`drop trigger no_room on events`)
	if _, created, err := h.store.CreateTurn(context.Background(), req); err != nil || !created {
		t.Errorf("with room: created %v, %v", created, err)
	}
}
