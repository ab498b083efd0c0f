package postgres

import (
	"context"
	"time"

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
