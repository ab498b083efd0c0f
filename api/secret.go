package api

import (
	"context"
	"net/http"

	"github.com/harvest-engine/harvest/internal/domain"
)

// secretBody is room for the longest value with its escapes, in bytes.
const secretBody int64 = 512 << 10

// secretRoutes are the routes of secrets. None of them answers with a value.
func (s *Server) secretRoutes() []route {
	const under = "/projects/:pid/secrets"
	return []route{
		{http.MethodGet, under, member, noBody, endpoint(s, http.StatusOK, s.secrets)},
		{http.MethodPost, under, member.audited().acts(domain.ToolSaveSecret), secretBody, endpoint(s, http.StatusCreated, s.saveSecret)},
		{http.MethodGet, under + "/:name/versions", member, noBody, endpoint(s, http.StatusOK, s.secretVersions)},
		{http.MethodDelete, under + "/:name", member, noBody, endpoint(s, http.StatusNoContent, s.deleteSecret)},
		{http.MethodPut, under + "/:name/reveal", steward, defaultBody, endpoint(s, http.StatusOK, s.permitSecret)},
		{http.MethodPost, "/admin/secrets/rotate", admin, noBody, endpoint(s, http.StatusOK, s.rotateSecrets)},
	}
}

// secrets answers GET /projects/:pid/secrets.
func (s *Server) secrets(ctx context.Context, r request[none]) ([]domain.Secret, error) {
	list, err := s.Secrets.List(ctx, r.project.ID)
	if list == nil {
		list = []domain.Secret{}
	}
	return list, err
}

// secretVersions answers GET /projects/:pid/secrets/:name/versions.
func (s *Server) secretVersions(ctx context.Context, r request[none]) ([]domain.SecretVersion, error) {
	return s.Secrets.Versions(ctx, r.project.ID, r.path["name"])
}

// newSecret is the body of a saved secret: a value, or the wish for a random one.
type newSecret struct {
	Name     string             `json:"name"`
	Value    domain.SecretValue `json:"value"`
	Generate bool               `json:"generate"`
}

func (b *newSecret) validate() error { return oneValue(b.Value, b.Generate, true) }

// oneValue judges a value and the wish for a random one, of which there may be one, or where
// it is needed must be.
func oneValue(value domain.SecretValue, generate, needed bool) error {
	switch {
	case generate && !value.Empty():
		return domain.Invalid("generate", "can't be true where a value is given")
	case needed && !generate && value.Empty():
		return domain.Invalid("value", "give a value, or have one generated")
	}
	return nil
}

// saveSecret answers POST /projects/:pid/secrets.
func (s *Server) saveSecret(ctx context.Context, r request[newSecret]) (domain.Secret, error) {
	by := domain.Author{UserID: r.caller.UserID}
	var acts []map[string]any
	saved, err := domain.Secret{}, error(nil)
	if r.body.Generate {
		saved, err = s.Secrets.SaveGenerated(ctx, r.project.ID, r.body.Name, by)
	} else {
		saved, err = s.Secrets.Save(ctx, r.project.ID, r.body.Name, r.body.Value, by)
	}
	for _, name := range []string{r.body.Name, saved.Name} { // as a model may have written it
		acts = append(acts, map[string]any{"name": name}, map[string]any{"name": name, "generate": true})
	}
	acted(ctx, acts...)
	return saved, err
}

// deleteSecret answers DELETE /projects/:pid/secrets/:name.
func (s *Server) deleteSecret(ctx context.Context, r request[none]) (raw, error) {
	return raw{status: http.StatusNoContent}, s.Secrets.Delete(ctx, r.project.ID, r.path["name"])
}

// permission is the body of PUT …/reveal.
type permission struct {
	Revealable *bool `json:"revealable"`
}

func (b *permission) validate() error {
	if b.Revealable == nil {
		return domain.Invalid("revealable", "must be true or false")
	}
	return nil
}

// permitSecret answers PUT /projects/:pid/secrets/:name/reveal.
func (s *Server) permitSecret(ctx context.Context, r request[permission]) (done, error) {
	return done{true}, s.Secrets.Permit(ctx, r.project.ID, r.path["name"], *r.body.Revealable)
}

// rotateSecrets answers POST /admin/secrets/rotate.
func (s *Server) rotateSecrets(ctx context.Context, _ request[none]) (domain.Resealed, error) {
	return s.Secrets.Reseal(ctx)
}
