package api

import (
	"context"
	"iter"

	"github.com/harvest-engine/harvest/internal/domain"
)

// started points the client at a run and makes its empty list show as such.
func started(run domain.Ingest, header func(name, value string)) domain.Ingest {
	if run.ID != "" {
		header("Location", "/ingests/"+run.ID)
	}
	run.Versions = listed(run.Versions)
	return run
}

// ingest answers GET /ingests/:id.
func (s *Server) ingest(ctx context.Context, r request[none]) (domain.Ingest, error) {
	run, err := s.Ingests.Ingest(ctx, r.path["id"])
	run.Versions = listed(run.Versions)
	return run, err
}

// ingestEvents answers GET /ingests/:id/events.
func (s *Server) ingestEvents(ctx context.Context, r request[none]) (followed, error) {
	run, err := s.Ingests.Ingest(ctx, r.path["id"])
	if err != nil {
		return followed{}, err
	}
	return followed{
		over: run.Status.Final(),
		events: func(ctx context.Context, after domain.Cursor) iter.Seq2[domain.Event, error] {
			return s.Ingests.FollowIngest(ctx, run.ID, after)
		},
	}, nil
}
