package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// ofProject makes a command about what belongs to a project, which its flag names.
func (p *program) ofProject(c *cobra.Command, run func(ctx context.Context, api *client.Client, project string, args []string) error) *cobra.Command {
	return p.inProject(c, true, run)
}

// inProject makes a command about what may belong to a project, and does where it must. run
// gets the project's id, or "".
func (p *program) inProject(c *cobra.Command, must bool, run func(ctx context.Context, api *client.Client, project string, args []string) error) *cobra.Command {
	var project string
	c.RunE = func(c *cobra.Command, args []string) error {
		if must && project == "" {
			return usageError{errors.New("of which project? Name it with --project, by name or id; harvest projects list shows yours")}
		}
		return p.withClient(func(api *client.Client) error {
			id, err := projectID(c.Context(), api, project)
			if err != nil {
				return err
			}
			return run(c.Context(), api, id, args)
		})
	}
	about := "name or id of the project"
	if !must {
		about += " (default: none, what everybody has)"
	}
	c.Flags().StringVar(&project, "project", "", about)
	return c
}

// entry is what people name by its id or its name.
type entry struct{ id, name string }

// entries makes them of a list.
func entries[T any](list []T, of func(T) entry) []entry {
	named := make([]entry, len(list))
	for i, x := range list {
		named[i] = of(x)
	}
	return named
}

// listed says of a thing that is not found where all are.
func listed(err error, by string) error {
	if domain.CodeOf(err) != domain.CodeNotFound {
		return err
	}
	return domain.NotFound("%s; %s", domain.PublicMessage(err), by)
}

// listedBy says by which command everything of a kind is listed.
var listedBy = map[string]string{
	"project": "harvest projects list", "group": "harvest groups list", "skill": "harvest skills list",
	"artifact": "harvest artifacts list", "memory": "harvest memories list", "conversation": "harvest conversations list",
	"machine": "harvest agents list",
}

// pick gives the id of the entry of that id, or of that name where only one has it.
func pick(list []entry, kind, name string) (string, error) {
	var found []string
	for _, e := range list {
		if e.id == name {
			return e.id, nil
		}
		if e.name == name {
			found = append(found, e.id)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", domain.NotFound("there is no %s %q that you may see; %s shows all", kind, name, listedBy[kind])
	}
	return "", domain.Errorf(domain.CodeConflict, "%d of them are called %q: name one %s by its id; %s shows them", len(found), name, kind, listedBy[kind])
}
