package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) secretsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "secrets",
		Short: "Keep the secrets of a project",
		Long: `Secrets are values that tools of a project may use and nobody sees: models get a handle in
their place. A value is read from a file or from the standard input, or asked for on a
terminal; it is never an argument, which others on the machine could read.`,
		Example: `  harvest secrets list --project engine
  harvest secrets set DATABASE_PASSWORD --project engine
  harvest secrets set TLS_KEY --project engine --from key.pem
  harvest secrets set SESSION_KEY --project engine --generate
  harvest secrets delete TLS_KEY --project engine`,
	}
	c.AddCommand(p.listSecretsCommand(), p.setSecretCommand(), p.deleteSecretCommand(),
		p.permitSecretCommand("permit", "Permit that models see the value of a secret (admins)", true),
		p.permitSecretCommand("forbid", "Forbid again that models see the value of a secret (admins)", false),
		p.rotateSecretsCommand())
	return c
}

func (p *program) listSecretsCommand() *cobra.Command {
	var asJSON bool
	c := p.ofProject(&cobra.Command{Use: "list", Short: "List the secrets of a project, without values", Args: noArguments},
		func(ctx context.Context, api *client.Client, project string, _ []string) error {
			list, err := api.Secrets(ctx, project)
			if err != nil {
				return err
			}
			table := listing{head: []string{"name", "version", "given", "models"}, none: "the project has no secrets"}
			for _, s := range list {
				table.row(s.Name, strconv.Itoa(s.Version), when(s.UpdatedAt), map[bool]string{true: "see it", false: "get a handle"}[s.Revealable])
			}
			return p.show(table, list, asJSON)
		})
	jsonFlag(c, &asJSON)
	return c
}

func (p *program) setSecretCommand() *cobra.Command {
	var from string
	var generate bool
	c := p.ofProject(&cobra.Command{Use: "set NAME", Short: "Save a secret, or a new version of one", Args: arguments(1, 1, "name one secret; its value is asked for, or read with --from")},
		func(ctx context.Context, api *client.Client, project string, args []string) (err error) {
			var value domain.SecretValue
			if !generate {
				if value, err = p.secretValue(from); err != nil {
					return err
				}
			}
			saved, err := api.SaveSecret(ctx, project, args[0], value, generate)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.errs, "saved %s, version %d\n", saved.Name, saved.Version)
			return err
		})
	c.Flags().StringVar(&from, "from", "", "file with the value, or - for the standard input; asked for on a terminal")
	c.Flags().BoolVar(&generate, "generate", false, "save a random value, which nobody sees")
	exclusive(c, "from", "generate")
	return c
}

func (p *program) deleteSecretCommand() *cobra.Command {
	return p.ofProject(&cobra.Command{Use: "delete NAME", Short: "Remove a secret with all its versions", Args: arguments(1, 1, "name one secret")},
		func(ctx context.Context, api *client.Client, project string, args []string) error {
			if err := api.DeleteSecret(ctx, project, args[0]); err != nil {
				return err
			}
			return p.did("removed the secret %s with all its versions", args[0])
		})
}

func (p *program) permitSecretCommand(verb, short string, revealable bool) *cobra.Command {
	return p.ofProject(&cobra.Command{Use: verb + " NAME", Short: short, Args: arguments(1, 1, "name one secret")},
		func(ctx context.Context, api *client.Client, project string, args []string) error {
			if err := api.PermitSecret(ctx, project, args[0], revealable); err != nil {
				return err
			}
			return p.did("models "+map[bool]string{true: "may see", false: "get a handle for"}[revealable]+" the value of the secret %s now", args[0])
		})
}

func (p *program) rotateSecretsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rotate", Short: "Seal all that is kept with the active encryption key (admins)", Args: noArguments,
		Long: `Seals all that is kept and sealed with an old encryption key with the active one: secrets of
projects, credentials of repositories, long texts and files, and the identity by which LXD knows
Harvest. To retire a key: give every process the new key and make it active, run this, and
remove the old key once harvest doctor says that nothing uses it.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withClient(func(api *client.Client) error {
				done, err := api.RotateSecrets(c.Context())
				if err != nil {
					return err
				}
				fmt.Fprintf(p.errs, "sealed %d values anew, with the key %q\n", done.Resealed, done.Key)
				for _, fault := range done.Failed {
					fmt.Fprintf(p.errs, "left as it is: %s\n", domain.VisibleFault(fault))
				}
				if len(done.Failed) > 0 {
					return domain.Errorf(domain.CodeUnprocessable, "some values don't open; see above")
				}
				return nil
			})
		},
	}
}
