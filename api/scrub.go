package api

import (
	"context"
	"fmt"
)

// scrubNames takes the values of a project's secrets out of what people call things there,
// before it is stored: names are shown in lists, feeds and files. Texts that are nil are left
// out.
func (s *Server) scrubNames(ctx context.Context, projectID string, names ...*string) error {
	if projectID == "" {
		return nil
	}
	scrubber, err := s.Secrets.Scrubber(ctx, projectID)
	if err != nil {
		return fmt.Errorf("load what is scrubbed: %w", err)
	}
	for _, name := range names {
		if name != nil {
			*name = scrubber.Scrub(*name)
		}
	}
	return nil
}
