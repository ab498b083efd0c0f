package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The tools about secrets.
const (
	ListSecretsName = "list_secrets"
	GetSecretName   = "get_secret"
	SaveSecretName  = domain.ToolSaveSecret
)

// Secrets keeps the secrets of projects; secrets.Vault does.
type Secrets interface {
	List(ctx context.Context, projectID string) ([]domain.Secret, error)
	// Get gives what is known of a secret, or not_found.
	Get(ctx context.Context, projectID, name string) (domain.Secret, error)
	// Reveal gives the newest value where an admin has permitted it, and notes it; forbidden
	// otherwise.
	Reveal(ctx context.Context, projectID, name string, by domain.Author) (domain.SecretValue, error)
	// SaveOfCall saves what was given to a call, or makes it, once for each call; a conflict where
	// nobody has approved that a secret is overwritten, not_found where there is no value.
	SaveOfCall(ctx context.Context, projectID string, save domain.CallSecret) (domain.Secret, error)
}

// SecretTools gives the tools about secrets.
func SecretTools(secrets Secrets) []Tool {
	return []Tool{listSecrets{secrets}, getSecret{secrets}, saveSecret{secrets}}
}

type listSecrets struct{ secrets Secrets }

func (listSecrets) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name: ListSecretsName, Description: "List the names of the project's secrets, with version and age. Values are never shown.", InputSchema: schema(),
		},
		Local: true, Timeout: localTimeout, Phase: PhaseRead, Activity: "Listing the names of secrets",
	})
}

func (t listSecrets) Run(ctx context.Context, scope domain.Scope, _ json.RawMessage) (domain.ToolResult, error) {
	if scope.ProjectID == "" {
		return domain.ToolResult{}, errNoProject
	}
	list, err := t.secrets.List(ctx, scope.ProjectID)
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("list secrets: %w", err)
	}
	var r report
	if len(list) == 0 {
		r.line("The project has no secrets.")
	}
	for _, s := range list {
		shown := ""
		if s.Revealable {
			shown = "; you may see its value"
		}
		r.line("%s, version %d, changed %s ago%s: %s", s.Name, s.Version, age(s.UpdatedAt), shown, s.Ref().Handle())
	}
	return r.result("%d secrets", len(list)), nil
}

// age says how long ago something was, roughly.
func age(at time.Time) string {
	switch past := time.Since(at); {
	case past < time.Hour:
		return "less than an hour"
	case past < 48*time.Hour:
		return fmt.Sprintf("%d hours", int(past.Hours()))
	default:
		return fmt.Sprintf("%d days", int(past.Hours()/24))
	}
}

type getSecret struct{ secrets Secrets }

func (getSecret) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name: GetSecretName,
			Description: "Get the handle of a secret, such as secret://DB_PASSWORD@3. A tool that takes environment variables puts the value in its place, once a person has approved the call. " +
				"The value itself is shown only where an admin has permitted it.",
			InputSchema: schema(field{name: "name", kind: "string", about: "The secret's name.", required: true}),
		},
		Phase: PhaseRead, Activity: "Getting the secret {name}",
	})
}

func (t getSecret) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[struct {
		Name string `json:"name" need:""`
	}](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	if scope.ProjectID == "" {
		return domain.ToolResult{}, errNoProject
	}
	secret, err := t.secrets.Get(ctx, scope.ProjectID, in.Name)
	if err != nil {
		return domain.ToolResult{}, err
	}
	handle := secret.Ref().Handle()
	result := domain.ToolResult{
		Text: fmt.Sprintf("The handle of %s is %s: give it as the value of an environment variable to a tool that takes them. You do not see the value.", secret.Name, handle),
		// The same for every secret: what is retrieved is nobody's to read over a shoulder.
		Preview: "[secret value retrieved]",
	}
	if !secret.Revealable {
		return result, nil
	}
	if _, err := t.secrets.Reveal(ctx, scope.ProjectID, secret.Name, authorOf(scope)); err != nil {
		return domain.ToolResult{}, fmt.Errorf("reveal the secret %s: %w", secret.Name, err)
	}
	result.Text = fmt.Sprintf("The handle of %s is %s. An admin permits you to see its value; don't repeat it in an answer.", secret.Name, handle)
	result.Reveals = handle
	return result, nil
}

type saveSecret struct{ secrets Secrets }

func (saveSecret) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name: SaveSecretName,
			Description: "Save a secret of the project. Leave the value out: the person is asked for it and gives it where you don't see it. " +
				"With generate a new random value is made that nobody sees. Saving over a secret that exists must be approved.",
			InputSchema: schema(
				field{name: "name", kind: "string", about: "Its name: letters, digits and underscores.", required: true},
				field{name: "generate", kind: "boolean", about: "Make a random value instead of asking for one."},
				field{name: "value", kind: "string", about: "Only a value that you have been given in this conversation. It is sealed at once, and not shown to you again."}),
		},
		Policy: domain.PolicyInput, Phase: PhaseWrite, Activity: "Saving the secret {name}",
	})
}

// saving is the input of save_secret as it is stored: a value that the model gave is sealed
// elsewhere, and Value only says that there is one.
type saving struct {
	Name     string `json:"name" need:""`
	Value    string `json:"value"`
	Generate bool   `json:"generate"`
}

// Asks tells that a person must give the value, or that there is one already to lose.
func (t saveSecret) Asks(ctx context.Context, scope domain.Scope, input json.RawMessage) (bool, error) {
	in, err := decode[saving](input)
	if err != nil || scope.ProjectID == "" {
		return false, nil // its run says what is wrong
	}
	if in.Value == "" && !in.Generate {
		return true, nil
	}
	_, err = t.secrets.Get(ctx, scope.ProjectID, in.Name)
	if domain.CodeOf(err) == domain.CodeNotFound || domain.CodeOf(err) == domain.CodeInvalid {
		return false, nil
	}
	return true, err
}

// Explain tells whether there is a secret to lose, and where the value comes from.
func (t saveSecret) Explain(ctx context.Context, scope domain.Scope, input json.RawMessage) ([]domain.Detail, error) {
	in, err := decode[saving](input)
	if err != nil {
		return []domain.Detail{{Name: "secret", Value: "none: the input is not one that can be run"}}, nil
	}
	about := "a new one"
	secret, err := t.secrets.Get(ctx, scope.ProjectID, in.Name)
	switch {
	case err == nil:
		about = fmt.Sprintf("%s is there, version %d of %s; what is saved takes its place",
			secret.Name, secret.Version, secret.UpdatedAt.UTC().Format("2006-01-02 15:04 UTC"))
	case domain.CodeOf(err) == domain.CodeInvalid:
		about = "none: " + domain.PublicMessage(err)
	case domain.CodeOf(err) != domain.CodeNotFound:
		return nil, err
	}
	value := "you give it with your approval"
	switch {
	case in.Value != "":
		value = "the model gave it; it is sealed, and shown to nobody"
	case in.Generate:
		value = "a random one, which nobody sees"
	}
	return []domain.Detail{{Name: "secret", Value: about}, {Name: "value", Value: value}}, nil
}

func (t saveSecret) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[saving](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	if scope.ProjectID == "" {
		return domain.ToolResult{}, errNoProject
	}
	secret, err := t.secrets.SaveOfCall(ctx, scope.ProjectID, domain.CallSecret{
		Name: in.Name, By: authorOf(scope), Generate: in.Generate && in.Value == "", New: scope.ActionID == "",
	})
	if domain.CodeOf(err) == domain.CodeConflict {
		return domain.ToolResult{}, domain.Errorf(domain.CodeUnprocessable, "%s", domain.PublicMessage(err))
	}
	if err != nil {
		return domain.ToolResult{}, err
	}
	return domain.ToolResult{
		Text:    fmt.Sprintf("Saved %s, version %d. Its handle is %s.", secret.Name, secret.Version, secret.Ref().Handle()),
		Preview: fmt.Sprintf("%s, version %d", secret.Name, secret.Version),
	}, nil
}
