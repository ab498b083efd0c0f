package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlNewForwardTicket = statement("new ticket to a port forward", `
insert into forward_visits (hash, ticket, forward_id, session_id, user_id, expires_at)
select @hash, true, f.id, s.id, s.user_id, now() + @life::interval
from port_forwards f, sessions s
where f.id = @forward and s.hash = @session and s.user_id = @user and s.expires_at > now()
returning forward_id`)

	sqlNewOwnersTicket = statement("new ticket of the owner to a port forward", `
insert into forward_visits (hash, ticket, forward_id, user_id, expires_at)
select @hash, true, f.id, @user, now() + @life::interval from port_forwards f where f.id = @forward
returning forward_id`)

	// Of two that come with one ticket, one finds it used.
	sqlTakeForwardTicket = statement("take a ticket to a port forward", `
update forward_visits set hash = @hash, ticket = false, expires_at = now() + @life::interval
where hash = @ticket and ticket and forward_id = @forward and expires_at > now() returning forward_id`)

	sqlForwardVisit = statement("find a visit of a port forward", `
select`+portForwardColumns+`, v.session_id, v.user_id
from forward_visits v join port_forwards f on f.id = v.forward_id join agents a on a.id = f.agent_id
where v.hash = @hash and not v.ticket and v.forward_id = @forward and v.expires_at > now()`)

	sqlDropForwardVisits = statement("drop ended visits of port forwards", `
delete from forward_visits where hash in (select hash from forward_visits where expires_at < @before limit @limit)`)
)

var errVisit = domain.Errorf(domain.CodeUnauthorized, "open this from Harvest again: the visit has ended, or the link was used before")

// NewForwardTicket keeps the SHA-256 of a ticket by which a browser of a person, whose session
// the secret of that hash renews, may come to a port forward once; or unauthorized. The owner has
// no session.
func (s *Store) NewForwardTicket(ctx context.Context, ticket []byte, forwardID, userID string, session []byte, life time.Duration) error {
	sql := sqlNewForwardTicket
	if userID == domain.OwnerID {
		sql = sqlNewOwnersTicket
	}
	err := s.pool.QueryRow(ctx, sql, pgx.NamedArgs{
		"hash": ticket, "forward": forwardID, "user": userID, "session": session, "life": life,
	}).Scan(&forwardID)
	if noRows(err) {
		return errSession
	}
	return failed("make a ticket", err)
}

// TakeForwardTicket makes of a ticket, once, a visit that lasts for life at most; or
// unauthorized. Both are named by their SHA-256.
func (s *Store) TakeForwardTicket(ctx context.Context, forwardID string, ticket, visit []byte, life time.Duration) error {
	err := s.pool.QueryRow(ctx, sqlTakeForwardTicket, pgx.NamedArgs{"forward": forwardID, "ticket": ticket, "hash": visit, "life": life}).Scan(&forwardID)
	if noRows(err) {
		return errVisit
	}
	return failed("take a ticket", err)
}

// ForwardVisit gives the port forward of a visit, and who visits it, as the database knows them
// now; or unauthorized where the visit or the person's session has ended.
func (s *Store) ForwardVisit(ctx context.Context, forwardID string, visit []byte) (f domain.PortForward, who domain.Actor, err error) {
	var session *string
	var user string
	err = s.pool.QueryRow(ctx, sqlForwardVisit, pgx.NamedArgs{"hash": visit, "forward": clean(forwardID)}).Scan(
		&f.ID, &f.AgentID, &f.Port, &f.RouteName, &f.CreatedAt, &f.UpdatedAt, &f.Hostname, &f.ProjectID, &session, &user)
	if noRows(err) {
		return f, who, errVisit
	}
	if err != nil {
		return f, who, failed("find a visit", err)
	}
	if session == nil {
		return f, domain.Actor{UserID: user, Name: user, Role: domain.UserAdmin}, nil
	}
	who, err = s.SessionActor(ctx, *session, user)
	return f, who, err
}
