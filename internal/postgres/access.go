package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

// accessFeed is the subject under which processes hear that somebody may do less than before.
const accessFeed = "access"

// accessChanged tells this process and the others. A message that is lost is made up for by
// who looks again by themselves.
func (s *Store) accessChanged() {
	s.tell(live.Message{Mark: &live.Mark{Subject: accessFeed, Cursor: domain.Cursor{Seq: time.Now().UnixNano()}}})
}

// missing says, by a format with the id, that there is no such thing here, and whether there is
// elsewhere.
func (s *Store) missing(ctx context.Context, elsewhere, id, says string) error {
	var there bool
	if err := s.pool.QueryRow(ctx, elsewhere, pgx.NamedArgs{"id": id}).Scan(&there); err != nil {
		return failed("look for "+id+" elsewhere", err)
	}
	if there {
		return domain.Hidden(says, id)
	}
	return domain.NotFound(says, id)
}

// FollowAccess calls changed each time that roles, groups, keys or sessions may have changed
// here or elsewhere, until ctx ends.
func (s *Store) FollowAccess(ctx context.Context, changed func()) {
	feed := s.hub.Open(accessFeed)
	defer feed.Close()
	next := feed.Changed()
	for {
		select {
		case <-next:
			next = feed.Changed() // before the call, so that what changes during it is heard
			changed()
		case <-ctx.Done():
			return
		}
	}
}
