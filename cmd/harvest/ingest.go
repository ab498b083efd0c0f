package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) ingestCommand() *cobra.Command {
	var s client.Source
	var secret secretFlags
	c := &cobra.Command{
		Use:   "ingest PATH|URL",
		Short: "Read a repository, so that questions about it can be asked",
		Long: `Has a running harvest read a repository: the default branch, or the refs that are named.
A plain folder is read as it lies. Reading goes on when this command is interrupted.

A private repository is opened by a token (https) or an SSH key (ssh). They are named, never
written into the command line or the address, and kept encrypted for later readings.`,
		Example: `  harvest ingest .
  harvest ingest https://github.com/spf13/cobra --ref v1.9.1 --ref main
  harvest ingest ~/src/app --worktree --watch 5m
  harvest ingest https://git.example.com/team/app.git --token-env GIT_TOKEN
  harvest ingest git@git.example.com:team/app.git --ssh-key ~/.ssh/id_ed25519`,
		Args: arguments(1, 1, "name one repository, by its path or its address"),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if s.URL, err = addressOf(args[0]); err != nil {
				return err
			}
			if err := secret.read(p.env, &s); err != nil {
				return err
			}
			return p.ingest(c.Context(), s)
		},
	}
	flags := c.Flags()
	flags.StringVar(&s.Name, "name", "", "name of the repository (default: the last element of the path or address)")
	flags.StringArrayVar(&s.Refs, "ref", nil, "branch, tag or commit to read (may be repeated)")
	flags.BoolVar(&s.AllTags, "all-tags", false, "read every tag")
	flags.BoolVar(&s.Worktree, "worktree", false, "read the folder as it lies, with uncommitted changes")
	flags.StringVar(&s.Watch, "watch", "", "look for changes this often, such as 5m, or \"off\": no more")
	flags.StringVar(&secret.tokenEnv, "token-env", "", "environment variable that holds a token for an https address, or NAME:TOKEN where the host wants a name")
	flags.StringVar(&secret.sshKey, "ssh-key", "", "file of a private key without passphrase, for an ssh address")
	return c
}

// secretFlags say where the credentials of a private repository are.
type secretFlags struct{ tokenEnv, sshKey string }

func (f secretFlags) read(env func(string) (string, bool), s *client.Source) error {
	if f.tokenEnv != "" && f.sshKey != "" {
		return usageError{errors.New("give --token-env for an https address, or --ssh-key for an ssh address, not both")}
	}
	if f.tokenEnv != "" {
		token, _ := env(f.tokenEnv)
		if s.Token = strings.TrimSpace(token); s.Token == "" {
			return usageError{errors.New("--token-env names an environment variable that is not set; give the variable's name, not the token")}
		}
	}
	if f.sshKey != "" {
		key, err := os.ReadFile(f.sshKey)
		if err != nil {
			return fmt.Errorf("read the SSH key: %w", err)
		}
		s.SSHKey = string(key)
	}
	return nil
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
// the repository is known. Where it is being read already, that run is waited for.
func showIngest(ctx context.Context, api *client.Client, screen *terminal.Screen, s client.Source) (string, error) {
	for {
		api.Waits = screen.Waits
		run, err := api.AddRepository(ctx, s)
		var refused *domain.Error
		if err == nil {
			return run.Repository, showRun(ctx, api, screen, run)
		}
		if !errors.As(err, &refused) || refused.Holder == "" {
			return "", err
		}
		screen.Line("%s; waiting for it", refused.Message)
		if holder, err := api.Ingest(ctx, refused.Holder); err != nil {
			return "", err
		} else if err := showRun(ctx, api, screen, holder); ctx.Err() != nil {
			return "", err
		}
	}
}

// showRun shows a run to its end. When ctx ends the run goes on unseen.
func showRun(ctx context.Context, api *client.Client, screen *terminal.Screen, run domain.Ingest) error {
	shown := terminal.NewIngest(screen, run.Repository)
	for event, err := range api.FollowIngest(ctx, run.ID) {
		if err == nil {
			err = shown.Show(event.Type, event)
		}
		if err == nil {
			continue
		}
		screen.Status(nil)
		if ctx.Err() != nil {
			return domain.Errorf(domain.CodeCanceled, "stopped watching; the reading of %s goes on", run.Repository)
		}
		return err
	}
	return nil
}
