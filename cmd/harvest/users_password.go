package main

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
)

func (p *program) passwordCommand() *cobra.Command {
	return &cobra.Command{
		Use: "password [USER]", Short: "Change your password, or give somebody another one (admins)",
		Long: `Without USER changes the password of who you are logged in as, which is asked for as well. With
USER gives that person a new password, where they have forgotten theirs; only admins can. Either
ends the person's sessions in browsers; API keys stay. Passwords are asked for, or read from the
standard input, a line each.`,
		Example: `  harvest users password
  harvest users password ada@example.com`,
		Args: arguments(0, 1, "name one person, by id or e-mail address, or none for yourself"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				if len(args) == 0 {
					return p.changeOwnPassword(c.Context(), api)
				}
				id, err := userNamed(c.Context(), api, args[0])
				if err != nil {
					return err
				}
				password, err := p.newSecret(bufio.NewReader(p.in), "New password of "+args[0])
				if err != nil {
					return err
				}
				if err := api.ResetPassword(c.Context(), id, password); err != nil {
					return err
				}
				return p.did("%s has a new password, and must sign in with it", args[0])
			})
		},
	}
}

func (p *program) changeOwnPassword(ctx context.Context, api *client.Client) error {
	in := bufio.NewReader(p.in)
	current, err := p.secret(in, "Password: ")
	if err != nil {
		return err
	}
	password, err := p.newSecret(in, "New password")
	if err != nil {
		return err
	}
	if err := api.ChangePassword(ctx, current, password); err != nil {
		return err
	}
	return p.did("your password is changed")
}
