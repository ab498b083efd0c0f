package api

import (
	"context"
	"iter"

	"github.com/harvest-engine/harvest/internal/domain"
)

// turn answers GET /turns/:id.
func (s *Server) turn(ctx context.Context, r request[none]) (domain.Turn, error) {
	return s.ownTurn(ctx, r.caller, r.path["id"])
}

// ownTurn loads a turn that the caller may see.
func (s *Server) ownTurn(ctx context.Context, who caller, id string) (domain.Turn, error) {
	turn, err := s.Turns.Turn(ctx, id)
	if err != nil {
		return domain.Turn{}, err
	}
	seen, err := s.seesTurn(ctx, who, turn)
	if err != nil {
		return domain.Turn{}, err
	}
	if !seen {
		return domain.Turn{}, domain.Hidden("there is no turn %q", id)
	}
	return complete(turn), nil
}

// seesTurn reports whether a turn is the caller's: their own, or of a project that they see.
func (s *Server) seesTurn(ctx context.Context, who caller, turn domain.Turn) (bool, error) {
	if turn.ProjectID == "" {
		return turn.UserID == who.UserID, nil
	}
	project, err := s.Projects.Project(ctx, turn.ProjectID)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return false, nil
	}
	return project.VisibleTo(who.Actor), err
}

// complete makes lists that are empty show as such.
func complete(turn domain.Turn) domain.Turn {
	turn.Sources = listed(turn.Sources)
	return turn
}

// turnEvents answers GET /turns/:id/events.
func (s *Server) turnEvents(ctx context.Context, r request[none]) (followed, error) {
	turn, err := s.ownTurn(ctx, r.caller, r.path["id"])
	if err != nil {
		return followed{}, err
	}
	return s.followTurn(turn), nil
}

func (s *Server) followTurn(turn domain.Turn) followed {
	return followed{
		over: turn.Status.Final(),
		events: func(ctx context.Context, after domain.Cursor) iter.Seq2[domain.Event, error] {
			return s.Turns.Follow(ctx, turn.ID, after)
		},
	}
}

// cancelTurn answers POST /turns/:id/cancel with the turn as it stands.
func (s *Server) cancelTurn(ctx context.Context, r request[none]) (domain.Turn, error) {
	if _, err := s.ownTurn(ctx, r.caller, r.path["id"]); err != nil {
		return domain.Turn{}, err
	}
	turn, err := s.Turns.CancelTurn(ctx, r.path["id"])
	return complete(turn), err
}
