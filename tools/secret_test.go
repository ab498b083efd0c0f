package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
)

// oneSecret is a project with one secret.
type oneSecret struct {
	tools.Secrets
	secret domain.Secret
}

func (o oneSecret) Get(_ context.Context, projectID, name string) (domain.Secret, error) {
	name, err := domain.SecretName(name)
	switch {
	case err != nil:
		return domain.Secret{}, err
	case projectID != o.secret.ProjectID || name != o.secret.Name:
		return domain.Secret{}, domain.NotFound("there is no secret %s", name)
	}
	return o.secret, nil
}

// Who decides about saving a secret is told whether one is lost, and where the value comes from.
func TestASavedSecretIsExplained(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	registry := tools.NewRegistry(tools.SecretTools(oneSecret{secret: domain.Secret{ProjectID: "p", Name: "DB", Version: 3, UpdatedAt: at}})...)
	for input, want := range map[string]string{
		`{"name":"db"}`:                  "secret: DB is there, version 3 of 2026-11-30 12:00 UTC; what is saved takes its place|value: you give it with your approval",
		`{"name":"db","generate":true}`:  "secret: DB is there, version 3 of 2026-11-30 12:00 UTC; what is saved takes its place|value: a random one, which nobody sees",
		`{"name":"db","value":"sealed"}`: "secret: DB is there, version 3 of 2026-11-30 12:00 UTC; what is saved takes its place|value: the model gave it; it is sealed, and shown to nobody",
		`{"name":"other"}`:               "secret: a new one|value: you give it with your approval",
		`{"name":"no name"}`:             "secret: none: |value: you give it with your approval",
		`{"name":5}`:                     "secret: none: the input is not one that can be run",
	} {
		var got []string
		for _, d := range registry.Explain(t.Context(), domain.Scope{ProjectID: "p"}, tools.SaveSecretName, json.RawMessage(input)) {
			got = append(got, d.Name+": "+d.Value)
		}
		wanted := strings.Split(want, "|")
		if len(got) != len(wanted) {
			t.Errorf("%s is explained as %q", input, got)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], wanted[i]) {
				t.Errorf("%s is explained as %q, want %q", input, got[i], wanted[i])
			}
		}
	}
}

// A tool of projects asks nobody where there is no project: its answer says so.
func TestToolsOfProjectsOutsideOfThem(t *testing.T) {
	t.Parallel()
	registry := tools.NewRegistry(tools.ArtifactTools(nil)...)
	input := json.RawMessage(`{"id":"a"}`)
	if registry.Asks(t.Context(), domain.Scope{}, "delete_artifact", input) {
		t.Error("it asks about what can't be run")
	}
	res, err := registry.Run(t.Context(), domain.Scope{}, "delete_artifact", input)
	if err != nil || !res.Error || !strings.Contains(res.Text, "belongs to no project") {
		t.Errorf("%+v, %v", res, err)
	}
	if !registry.Asks(t.Context(), domain.Scope{ProjectID: "p"}, "delete_artifact", input) {
		t.Error("in a project it does not ask")
	}
}
