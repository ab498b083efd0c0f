package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
)

func (p *program) ingestCommand() *cobra.Command {
	var s client.Source
	var watch time.Duration
	c := &cobra.Command{
		Use:   "ingest PATH|URL",
		Short: "Read a repository, so that questions about it can be asked",
		Long: `Has a running harvest read a repository: the default branch, or the refs that are named.
A plain folder is read as it lies. Reading goes on when this command is interrupted.`,
		Example: `  harvest ingest .
  harvest ingest https://github.com/spf13/cobra --ref v1.9.1 --ref main
  harvest ingest ~/src/app --worktree --watch 5m`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if s.URL, err = addressOf(args[0]); err != nil {
				return err
			}
			if watch > 0 {
				s.Watch = watch.String()
			}
			return p.ingest(c.Context(), s)
		},
	}
	flags := c.Flags()
	flags.StringVar(&s.Name, "name", "", "name of the repository (default: the last element of the path or address)")
	flags.StringArrayVar(&s.Refs, "ref", nil, "branch, tag or commit to read (may be repeated)")
	flags.BoolVar(&s.AllTags, "all-tags", false, "read every tag")
	flags.BoolVar(&s.Worktree, "worktree", false, "read the folder as it lies, with uncommitted changes")
	flags.DurationVar(&watch, "watch", 0, "look for changes this often, such as 5m")
	return c
}

func (p *program) ingest(ctx context.Context, s client.Source) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	defer api.Close()
	screen := p.screen(p.out)
	defer screen.Close()
	_, err = showIngest(ctx, api, screen, s)
	return err
}

// showIngest has a repository read and shows how, to the end. It gives the name under which
// the repository is known.
func showIngest(ctx context.Context, api *client.Client, screen *terminal.Screen, s client.Source) (string, error) {
	run, err := api.AddRepository(ctx, s)
	if err != nil {
		return "", err
	}
	shown := terminal.NewIngest(screen, run.Repository)
	for event, err := range api.FollowIngest(ctx, run.ID) {
		if err == nil {
			err = shown.Show(event.Type, event)
		}
		if err != nil {
			screen.Status(nil)
			return run.Repository, err
		}
	}
	return run.Repository, nil
}
