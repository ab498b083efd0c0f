package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// artifactShelf is the artifacts of a project.
var artifactShelf = shelf{noun: "artifact", project: true, find: func(ctx context.Context, api *client.Client, project, name string) (client.Item, error) {
	id, err := artifactNamed(ctx, api, project, name)
	return client.ArtifactItem(id), err
}}

func artifactNamed(ctx context.Context, api *client.Client, project, name string) (string, error) {
	list, err := api.Artifacts(ctx, project)
	if err != nil {
		return "", err
	}
	return pick(entries(list, func(a domain.Artifact) entry { return entry{a.ID, a.Title} }), "artifact", name)
}

func (p *program) artifactsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "artifacts",
		Short: "See and keep the documents and bundles of a project",
		Example: `  harvest artifacts list --project engine
  harvest artifacts add "Plan" --kind markdown --project engine --from plan.md
  harvest artifacts add "Cluster" --kind terraform --project engine --from ./cluster
  harvest artifacts show Plan --project engine --version 1
  harvest artifacts diff Plan 1 3 --project engine
  harvest artifacts download Plan --project engine`,
	}
	c.AddCommand(p.listArtifactsCommand(), p.showOf(artifactShelf, true), p.addArtifactCommand(),
		p.editOf(artifactShelf, p.bundle, [2]string{"title", "a new title"}),
		p.versionsOf(artifactShelf), p.diffOf(artifactShelf), p.restoreOf(artifactShelf), p.downloadCommand(), p.deleteOf(artifactShelf))
	return c
}

func (p *program) listArtifactsCommand() *cobra.Command {
	var asJSON bool
	c := p.ofProject(&cobra.Command{Use: "list", Short: "List the artifacts of a project, the one changed last first", Args: noArguments},
		func(ctx context.Context, api *client.Client, project string, _ []string) error {
			list, err := api.Artifacts(ctx, project)
			if err != nil {
				return err
			}
			table := listing{head: []string{"id", "kind", "version", "changed", "title"}, none: "the project has no artifacts"}
			for _, a := range list {
				table.row(a.ID, string(a.Kind), strconv.Itoa(a.Version), when(a.UpdatedAt), a.Title)
			}
			return p.show(table, list, asJSON)
		})
	jsonFlag(c, &asJSON)
	return c
}

func (p *program) addArtifactCommand() *cobra.Command {
	var from, kind string
	c := p.ofProject(&cobra.Command{
		Use: "add TITLE", Short: "Add an artifact, and print its id", Args: arguments(1, 1, "give the artifact a title"),
		Long: "Adds an artifact. A terraform or terragrunt bundle is read from a folder; files and folders whose names begin with a dot are left out.",
	}, func(ctx context.Context, api *client.Client, project string, args []string) error {
		read := p.text
		if domain.ArtifactKind(kind).Bundle() {
			read = p.bundle
		}
		content, err := read(from)
		if err != nil {
			return err
		}
		made, err := api.AddArtifact(ctx, project, args[0], domain.ArtifactKind(kind), content)
		if err == nil {
			fmt.Fprintln(p.out, made.ID)
		}
		return err
	})
	c.Flags().StringVar(&from, "from", "", "file or, of a bundle, folder; - for the standard input")
	c.Flags().StringVar(&kind, "kind", string(domain.ArtifactMarkdown), "markdown, pdf (written in Markdown), terraform, terragrunt or context")
	return c
}

func (p *program) downloadCommand() *cobra.Command {
	var to string
	var version int
	c := p.ofProject(&cobra.Command{Use: "download NAME", Short: "Save an artifact as a file, and print the file's name", Args: arguments(1, 1, artifactShelf.one())},
		func(ctx context.Context, api *client.Client, project string, args []string) error {
			id, err := artifactNamed(ctx, api, project, args[0])
			if err != nil {
				return err
			}
			name, body, err := api.DownloadArtifact(ctx, id, version)
			if err != nil {
				return err
			}
			defer body.Close()
			if to == "-" {
				_, err := io.Copy(p.out, body)
				return err
			}
			if to != "" {
				name = to
			} else if name = filepath.Base(name); name == "." || name == string(filepath.Separator) {
				name = id
			}
			if err := saveNew(name, body); err != nil {
				return err
			}
			_, err = fmt.Fprintln(p.out, name)
			return err
		})
	c.Flags().StringVar(&to, "to", "", "file to write, or - for the standard output (default: the name that the server gives it, in this folder)")
	c.Flags().IntVar(&version, "version", 0, "number of an earlier version (default: the newest)")
	return c
}

// saveNew writes a file that is not there yet; what can't be written whole is removed.
func saveNew(name string, body io.Reader) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return domain.Errorf(domain.CodeConflict, "the file %s is there already; name another with --to", name)
	}
	if err != nil {
		return domain.Wrap(domain.CodeInvalid, err, "the file %s can't be written: %s", name, reasonOf(err))
	}
	if _, err = io.Copy(file, body); err == nil {
		err = file.Close()
	} else {
		_ = file.Close() // it is removed
	}
	if err != nil {
		_ = os.Remove(name)
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
