package api

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	maxProjectName        = 100 // characters
	maxProjectDescription = 10_000
)

// done is the answer of a change that has nothing else to tell.
type done struct {
	OK bool `json:"ok"`
}

// groupOf is an element of GET /groups.
type groupOf struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// groups answers GET /groups: the caller's own; to an admin all, since they may use them all.
func (s *Server) groups(ctx context.Context, r request[none]) ([]groupOf, error) {
	user := r.caller.UserID
	if r.caller.Admin() {
		user = ""
	}
	all, err := s.Projects.Groups(ctx, user)
	list := make([]groupOf, 0, len(all))
	for _, g := range all {
		list = append(list, groupOf{g.ID, g.Name, g.Description})
	}
	return list, err
}

// projects answers GET /projects.
func (s *Server) projects(ctx context.Context, r request[none]) ([]domain.Project, error) {
	return listing(s.Projects.Projects(ctx, r.caller.Actor))
}

// project answers GET /projects/:pid.
func (s *Server) project(_ context.Context, r request[none]) (domain.Project, error) {
	return r.project, nil
}

// projectBody is the body of POST /projects.
type projectBody struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	GroupID     string `json:"group_id"`
}

func (b *projectBody) validate() error {
	if b.GroupID == "" {
		return domain.Invalid("group_id", "names the group that shares the project; GET /groups lists yours")
	}
	if err := validName("group_id", b.GroupID); err != nil {
		return err
	}
	return validProject(&b.Name, &b.Description)
}

// validProject checks what a project is called, and trims it; nil is not given.
func validProject(name, description *string) error {
	if name != nil {
		if *name = strings.TrimSpace(*name); *name == "" || utf8.RuneCountInString(*name) > maxProjectName || !plainText(*name) {
			return domain.Invalid("name", "must have 1 to %d characters", maxProjectName)
		}
	}
	if description != nil && (utf8.RuneCountInString(*description) > maxProjectDescription || !plainText(*description)) {
		return domain.Invalid("description", "must be a text of at most %d characters", maxProjectDescription)
	}
	return nil
}

// createProject answers POST /projects. Who is not of the group, but knows of it, is told so.
func (s *Server) createProject(ctx context.Context, r request[projectBody]) (domain.Project, error) {
	if !r.caller.MemberOf(r.body.GroupID) {
		all, err := s.Projects.Groups(ctx, "")
		if err != nil {
			return domain.Project{}, err
		}
		for _, g := range all {
			if g.ID == r.body.GroupID {
				return domain.Project{}, domain.Errorf(domain.CodeForbidden, "you are not a member of this group")
			}
		}
		return domain.Project{}, domain.NotFound("there is no group %q", r.body.GroupID)
	}
	return s.Projects.CreateProject(ctx, domain.Project{
		Name: r.body.Name, Description: r.body.Description, GroupID: r.body.GroupID, CreatedBy: r.caller.UserID,
	})
}

// projectChange is the body of PUT /projects/:pid.
type projectChange struct {
	Name        *string `json:"name"`
	Description *string `json:"description"`
}

func (b *projectChange) validate() error {
	if b.Name == nil && b.Description == nil {
		return domain.Invalid("", "give a name or a description")
	}
	return validProject(b.Name, b.Description)
}

// updateProject answers PUT /projects/:pid.
func (s *Server) updateProject(ctx context.Context, r request[projectChange]) (done, error) {
	if err := s.scrubNames(ctx, r.project.ID, r.body.Name, r.body.Description); err != nil {
		return done{}, err
	}
	return done{true}, s.Projects.UpdateProject(ctx, r.project.ID, r.body.Name, r.body.Description)
}

// projectMove is the body of PUT /projects/:pid/group.
type projectMove struct {
	GroupID string `json:"group_id"`
}

func (b *projectMove) validate() error {
	if b.GroupID == "" {
		return domain.Invalid("group_id", "names the group that will share the project; GET /groups lists them")
	}
	return validName("group_id", b.GroupID)
}

// moveProject answers PUT /projects/:pid/group: who is in the group from then on sees the
// project, and nobody else but admins.
func (s *Server) moveProject(ctx context.Context, r request[projectMove]) (done, error) {
	return done{true}, s.Projects.MoveProject(ctx, r.project.ID, r.body.GroupID)
}
