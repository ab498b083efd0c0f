package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/api"
)

func (p *program) uiCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ui",
		Short: "Print a link that signs a browser in to the Temporal UI",
		Long: `Prints a link that signs a browser in to the Temporal UI of a running harvest. There the runs
can be seen, with what went in and came out. The link works for half a day and as often as it
is opened; whoever has it can sign in, so don't pass it on. A browser stays signed in for a
week, under the host name of the link.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			base, token, err := p.find()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(p.out, api.SignInURL(base, token, time.Now()))
			return err
		},
	}
}
