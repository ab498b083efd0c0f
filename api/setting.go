package api

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// projectSettings is what a project has settled about its actions.
type projectSettings struct {
	Approvers     domain.Approvers `json:"approvers"`
	ConfirmExpiry int              `json:"confirm_expiry_seconds"`
	AskingTools   []string         `json:"asking_tools"` // always ask here
}

func (b *projectSettings) validate() error {
	switch b.Approvers {
	case domain.ApproveMembers, domain.ApproveAdmins, domain.ApproveOthers:
	default:
		return domain.Invalid("approvers", "must be members, admins or others")
	}
	if b.ConfirmExpiry < int(domain.MinConfirmExpiry.Seconds()) || b.ConfirmExpiry > int(domain.MaxConfirmExpiry.Seconds()) {
		return domain.Invalid("confirm_expiry_seconds", "must be between %.0f and %.0f", domain.MinConfirmExpiry.Seconds(), domain.MaxConfirmExpiry.Seconds())
	}
	return validNames("asking_tools", b.AskingTools)
}

// settings answers GET /projects/:pid/settings.
func (s *Server) settings(ctx context.Context, r request[none]) (projectSettings, error) {
	c, err := s.Projects.ConfirmSettings(ctx, r.project.ID)
	if err != nil {
		return projectSettings{}, fmt.Errorf("read the settings: %w", err)
	}
	return projectSettings{c.Approvers, int(c.Expiry.Seconds()), listed(c.Asking)}, nil
}

// updateSettings answers PUT /projects/:pid/settings. It is for admins: who must ask others
// could else say that they need not.
func (s *Server) updateSettings(ctx context.Context, r request[projectSettings]) (done, error) {
	for i, name := range r.body.AskingTools {
		if names := s.Describer.Names(); !slices.Contains(names, name) {
			return done{}, domain.Invalid(fmt.Sprintf("asking_tools[%d]", i), "there is no tool %q; there are: %s", name, strings.Join(names, ", "))
		}
	}
	return done{true}, s.Projects.SetConfirmSettings(ctx, r.project.ID, domain.ConfirmSettings{
		Approvers: r.body.Approvers, Expiry: time.Duration(r.body.ConfirmExpiry) * time.Second, Asking: r.body.AskingTools,
	})
}
