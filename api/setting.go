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
	// Which commands of models ask. What is absent of a change stays as it is.
	CommandPolicy   *domain.CommandPolicy `json:"command_policy"`
	AllowedCommands *[]string             `json:"allowed_commands"`
}

// rules gives what holds for commands after the change.
func (b projectSettings) rules(now domain.CommandRules) domain.CommandRules {
	if b.CommandPolicy != nil {
		now.Policy = *b.CommandPolicy
	}
	if b.AllowedCommands != nil {
		now.Allowed = *b.AllowedCommands
	}
	return now
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
	if b.CommandPolicy != nil && !b.CommandPolicy.Known() {
		return domain.Invalid("command_policy", "must be always, changes or allow_list")
	}
	return validNames("asking_tools", b.AskingTools)
}

// settings answers GET /projects/:pid/settings.
func (s *Server) settings(ctx context.Context, r request[none]) (projectSettings, error) {
	c, err := s.Projects.ConfirmSettings(ctx, r.project.ID)
	if err != nil {
		return projectSettings{}, fmt.Errorf("read the settings: %w", err)
	}
	allowed := listed(c.Commands.Allowed)
	return projectSettings{c.Approvers, int(c.Expiry.Seconds()), listed(c.Asking), &c.Commands.Policy, &allowed}, nil
}

// updateSettings answers PUT /projects/:pid/settings. It is for admins: who must ask others
// could else say that they need not.
func (s *Server) updateSettings(ctx context.Context, r request[projectSettings]) (done, error) {
	for i, name := range r.body.AskingTools {
		if names := s.Describer.Names(); !slices.Contains(names, name) {
			return done{}, domain.Invalid(fmt.Sprintf("asking_tools[%d]", i), "there is no tool %q; there are: %s", name, strings.Join(names, ", "))
		}
	}
	now, err := s.Projects.ConfirmSettings(ctx, r.project.ID)
	if err != nil {
		return done{}, fmt.Errorf("read the settings: %w", err)
	}
	rules := r.body.rules(now.Commands)
	if err := s.Describer.CheckCommands(rules.Allowed); err != nil {
		return done{}, err
	}
	return done{true}, s.Projects.SetConfirmSettings(ctx, r.project.ID, domain.ConfirmSettings{
		Approvers: r.body.Approvers, Expiry: time.Duration(r.body.ConfirmExpiry) * time.Second, Asking: r.body.AskingTools, Commands: rules,
	})
}
