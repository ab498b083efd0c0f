package api

import (
	"context"
	"net/http"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The handlers of skills serve the global routes and a project's alike: r.project is empty
// where the route names none, and that is what the global skills belong to.

func skillID[Body any](r request[Body]) string {
	if id, ofProject := r.path["sid"]; ofProject {
		return id
	}
	return r.path["id"]
}

// skills answers GET /skills and GET /projects/:pid/skills.
func (s *Server) skills(ctx context.Context, r request[none]) ([]domain.Skill, error) {
	scope := r.query.Get("scope")
	if scope != "" && scope != "all" && scope != domain.SkillProject {
		return nil, domain.Invalid("scope", "%q is neither project nor all", scope)
	}
	return listing(s.Skills.List(ctx, r.project.ID, scope == "all"))
}

// skill answers GET /skills/:id and GET /projects/:pid/skills/:sid.
func (s *Server) skill(ctx context.Context, r request[none]) (domain.Skill, error) {
	skill, err := s.Skills.Get(ctx, r.project.ID, skillID(r))
	tag(r.reply, skill.Version)
	return skill, err
}

// skillBody is the body of a new skill. Name and description may stand in the content's front
// matter alone.
type skillBody struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Content     string `json:"content"`
}

func (b *skillBody) validate() error {
	if b.Content == "" {
		return domain.Invalid("content", "must not be empty")
	}
	return nil
}

// madeSkill is the answer to a new skill.
type madeSkill struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
}

// createSkill answers POST /admin/skills and POST /projects/:pid/skills.
func (s *Server) createSkill(ctx context.Context, r request[skillBody]) (madeSkill, error) {
	if err := s.scrubNames(ctx, r.project.ID, &r.body.Name, &r.body.Description); err != nil {
		return madeSkill{}, err
	}
	made, err := s.Skills.Create(ctx, domain.Skill{
		ProjectID: r.project.ID, Name: r.body.Name, Description: r.body.Description, Content: r.body.Content, CreatedBy: r.caller.UserID,
	})
	return madeSkill{made.ID, made.Name, made.CreatedAt}, err
}

// skillChange is the body of a changed skill.
type skillChange struct {
	Name        *string `json:"name"`
	Description *string `json:"description"`
	Content     *string `json:"content"`
	Version     int     `json:"version"` // that the change builds on; 0 for whichever is the newest
}

func (b *skillChange) validate() error {
	if b.Name == nil && b.Description == nil && b.Content == nil {
		return domain.Invalid("", "give a name, a description or a content")
	}
	return nil
}

// updateSkill answers PUT /admin/skills/:id and PUT /projects/:pid/skills/:sid.
func (s *Server) updateSkill(ctx context.Context, r request[skillChange]) (done, error) {
	if err := s.scrubNames(ctx, r.project.ID, r.body.Name, r.body.Description); err != nil {
		return done{}, err
	}
	change := domain.SkillChange(r.body)
	var err error
	if change.Version, err = builtOn(r.header, change.Version); err != nil {
		return done{}, err
	}
	return done{true}, s.Skills.Update(ctx, r.project.ID, skillID(r), change, r.caller.UserID)
}

// deleteSkill answers DELETE /admin/skills/:id and DELETE /projects/:pid/skills/:sid.
func (s *Server) deleteSkill(ctx context.Context, r request[none]) (raw, error) {
	return raw{status: http.StatusNoContent}, s.Skills.Delete(ctx, r.project.ID, skillID(r))
}

// skillVersions answers GET …/versions of a skill.
func (s *Server) skillVersions(ctx context.Context, r request[none]) ([]domain.Revision, error) {
	return s.Skills.Versions(ctx, r.project.ID, skillID(r))
}

// skillVersion answers GET …/versions/:version of a skill.
func (s *Server) skillVersion(ctx context.Context, r request[none]) (domain.Revision, error) {
	version, err := versionNumber("version", r.path["version"])
	if err != nil {
		return domain.Revision{}, err
	}
	return s.Skills.Version(ctx, r.project.ID, skillID(r), version)
}

// skillDiff answers GET …/diff of a skill.
func (s *Server) skillDiff(ctx context.Context, r request[none]) (domain.Difference, error) {
	from, to, err := versionRange(r.query)
	if err != nil {
		return domain.Difference{}, err
	}
	return s.Skills.Diff(ctx, r.project.ID, skillID(r), from, to)
}

// restoreSkill answers POST …/versions/:version/restore of a skill.
func (s *Server) restoreSkill(ctx context.Context, r request[none]) (done, error) {
	version, err := versionNumber("version", r.path["version"])
	if err != nil {
		return done{}, err
	}
	return done{true}, s.Skills.Restore(ctx, r.project.ID, skillID(r), version, r.caller.UserID)
}
