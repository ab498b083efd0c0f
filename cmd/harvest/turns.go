package main

import (
	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) turnsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "turns",
		Short: "Follow or end the answer to a question that was asked before",
		Example: `  harvest turns follow ID
  harvest turns cancel ID`,
	}
	c.AddCommand(p.followTurnCommand(), p.cancelTurnCommand())
	return c
}

func (p *program) followTurnCommand() *cobra.Command {
	return &cobra.Command{
		Use: "follow TURN", Short: "Show a turn from its beginning to its end",
		Long: `Shows a turn from its beginning, and follows it to its end where it still runs. Ctrl-C ends the
following alone.`,
		Args: arguments(1, 1, "name one turn, by the id that harvest ask shows"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				turn, err := api.Turn(c.Context(), args[0])
				if err != nil {
					return err
				}
				screen := p.screen(p.out)
				defer screen.Close()
				api.Waits = screen.Waits
				shown := terminal.NewTurn(screen)
				shown.Question(turn.Query)
				for event, err := range api.FollowTurn(c.Context(), turn.ID) {
					if err == nil {
						err = shown.Show(event.Type, event)
					}
					if err != nil {
						screen.Status(nil)
						if c.Context().Err() != nil {
							return domain.Errorf(domain.CodeCanceled, "stopped watching; the turn %s goes on", turn.ID)
						}
						return err
					}
				}
				return nil
			})
		},
	}
}

func (p *program) cancelTurnCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel TURN", Short: "End a turn",
		Args: arguments(1, 1, "name one turn, by the id that harvest ask shows"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				turn, err := api.Turn(c.Context(), args[0])
				switch {
				case err != nil:
					return err
				case turn.Status.Final():
					return domain.Errorf(domain.CodeConflict, "the turn %s has ended already: it is %s", turn.ID, turn.Status)
				}
				if err := api.Cancel(c.Context(), turn.ID); err != nil {
					return err
				}
				return p.did("asked for the end of the turn %s", turn.ID)
			})
		},
	}
}
