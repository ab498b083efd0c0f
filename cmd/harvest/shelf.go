package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/domain"
)

// shelf is what the commands about skills, artifacts and memories have in common.
type shelf struct {
	noun    string // skill, artifact, memory
	project bool   // they are always a project's
	// find gives what has that id, or that name where only one has it; project is "" for none.
	find func(ctx context.Context, api *client.Client, project, name string) (client.Item, error)
}

func (s shelf) one() string { return "name one " + s.noun + ", by its name or id" }

// about makes a command about the thing that its first argument names.
func (p *program) about(s shelf, c *cobra.Command, run func(ctx context.Context, api *client.Client, item client.Item, args []string) error) *cobra.Command {
	return p.inProject(c, s.project, func(ctx context.Context, api *client.Client, project string, args []string) error {
		item, err := s.find(ctx, api, project, args[0])
		if err != nil {
			return err
		}
		return run(ctx, api, item, args)
	})
}

// shown is what there is to show of any of them.
type shown struct {
	Kind    domain.ArtifactKind `json:"kind"`
	Content string              `json:"content"`
}

func (p *program) showOf(s shelf, versions bool) *cobra.Command {
	var asJSON bool
	var version int
	c := p.about(s, &cobra.Command{Use: "show NAME", Short: "Show the text of one", Args: arguments(1, 1, s.one())},
		func(ctx context.Context, api *client.Client, item client.Item, _ []string) error {
			var whole json.RawMessage
			if err := api.Item(ctx, item, &whole); err != nil {
				return err
			}
			var seen shown
			if err := json.Unmarshal(whole, &seen); err != nil {
				return fmt.Errorf("read the %s: %w", s.noun, err)
			}
			var value any = whole
			if version > 0 {
				then, err := api.Revision(ctx, item, version)
				if err != nil {
					return err
				}
				value, seen.Content = then, then.Content
			}
			if asJSON {
				return p.showJSON(value)
			}
			return p.showText(textOf(seen))
		})
	jsonFlag(c, &asJSON)
	if versions {
		c.Flags().IntVar(&version, "version", 0, "number of an earlier version (default: the newest)")
	}
	return c
}

// textOf gives a content as people read it: of a bundle its files, one after the other.
func textOf(s shown) string {
	if !s.Kind.Bundle() {
		return s.Content
	}
	files, err := domain.ParseBundle(s.Content)
	if err != nil {
		return s.Content
	}
	return bundleText(files)
}

// showText writes a text that others wrote: as it is for programs, and for a terminal without
// what would change it.
func (p *program) showText(text string) error {
	if terminal.Is(p.out) {
		text = terminal.Printable(text)
	}
	if text != "" && text[len(text)-1] != '\n' {
		text += "\n"
	}
	_, err := io.WriteString(p.out, text)
	return err
}

func (p *program) versionsOf(s shelf) *cobra.Command {
	var asJSON bool
	c := p.about(s, &cobra.Command{Use: "versions NAME", Short: "List the versions of one, the newest first", Args: arguments(1, 1, s.one())},
		func(ctx context.Context, api *client.Client, item client.Item, _ []string) error {
			list, err := api.Revisions(ctx, item)
			if err != nil {
				return err
			}
			table := listing{head: []string{"version", "written", "by", "title", "repeats"}, none: "there are no versions"}
			for _, v := range list {
				by, repeats := v.Author, ""
				if v.TurnID != "" {
					by += ", in turn " + v.TurnID
				}
				if v.RestoredFrom > 0 {
					repeats = strconv.Itoa(v.RestoredFrom)
				}
				table.row(strconv.Itoa(v.Version), when(v.CreatedAt), by, v.Title, repeats)
			}
			return p.show(table, list, asJSON)
		})
	jsonFlag(c, &asJSON)
	return c
}

func (p *program) diffOf(s shelf) *cobra.Command {
	return p.about(s, &cobra.Command{
		Use: "diff NAME [FROM [TO]]", Short: "Show what changed between two versions", Args: arguments(1, 3, s.one()+", and the numbers of two versions"),
		Long: "Shows what changed from one version to another: by default to the newest, and to that from the one before it.",
	}, func(ctx context.Context, api *client.Client, item client.Item, args []string) error {
		list, err := api.Revisions(ctx, item)
		if err != nil {
			return err
		}
		to := 0
		for _, v := range list {
			to = max(to, v.Version)
		}
		if len(args) == 3 {
			if to, err = versionArgument(args[2]); err != nil {
				return err
			}
		}
		from := max(1, to-1)
		if len(args) > 1 {
			if from, err = versionArgument(args[1]); err != nil {
				return err
			}
		}
		d, err := api.Differences(ctx, item, from, to)
		if err != nil {
			return err
		}
		if d.Diff == "" {
			fmt.Fprintf(p.errs, "nothing changed between version %d and version %d\n", d.From, d.To)
		}
		return p.showText(d.Diff)
	})
}

func versionArgument(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, usageError{fmt.Errorf("%q is no version: versions are whole numbers from 1", text)}
	}
	return n, nil
}

func (p *program) restoreOf(s shelf) *cobra.Command {
	return p.about(s, &cobra.Command{Use: "restore NAME VERSION", Short: "Make a new version that repeats an earlier one", Args: arguments(2, 2, s.one()+", and the version to restore")},
		func(ctx context.Context, api *client.Client, item client.Item, args []string) error {
			version, err := versionArgument(args[1])
			if err != nil {
				return err
			}
			if err := api.RestoreItem(ctx, item, version); err != nil {
				return err
			}
			fmt.Fprintf(p.errs, "the newest version of %s repeats version %d now\n", domain.Visible(args[0]), version)
			return nil
		})
}

func (p *program) deleteOf(s shelf) *cobra.Command {
	return p.about(s, &cobra.Command{Use: "delete NAME", Short: "Remove one, with all there is of it", Args: arguments(1, 1, s.one())},
		func(ctx context.Context, api *client.Client, item client.Item, args []string) error {
			if err := api.RemoveItem(ctx, item); err != nil {
				return err
			}
			fmt.Fprintf(p.errs, "removed the %s %s\n", s.noun, domain.Visible(args[0]))
			return nil
		})
}

// edit is a change by command: texts by the name of their field, and a new content.
type edit struct {
	fields  map[string]*string
	from    string
	builtOn int
}

// editOf makes a command that changes the fields that its flags give; the content comes from a
// file or the standard input.
func (p *program) editOf(s shelf, read func(from string) (string, error), fields ...[2]string) *cobra.Command {
	e := edit{fields: map[string]*string{}}
	var c *cobra.Command
	c = p.about(s, &cobra.Command{Use: "edit NAME", Short: "Change one", Args: arguments(1, 1, s.one())},
		func(ctx context.Context, api *client.Client, item client.Item, args []string) error {
			body := map[string]any{}
			for name, value := range e.fields {
				if c.Flags().Changed(name) {
					body[name] = *value
				}
			}
			if e.from != "" {
				content, err := read(e.from)
				if err != nil {
					return err
				}
				body["content"] = content
			}
			if len(body) == 0 {
				return usageError{errors.New("what is to change? Give a new text with --from FILE, or see the other flags")}
			}
			if e.builtOn > 0 {
				body["version"] = e.builtOn
			}
			if err := api.ChangeItem(ctx, item, body); err != nil {
				return err
			}
			fmt.Fprintf(p.errs, "changed the %s %s\n", s.noun, domain.Visible(args[0]))
			return nil
		})
	for _, f := range fields {
		e.fields[f[0]] = c.Flags().String(f[0], "", f[1])
	}
	c.Flags().StringVar(&e.from, "from", "", "file with the new text, or - for the standard input")
	c.Flags().IntVar(&e.builtOn, "version", 0, "refuse the change where this is no longer the newest version")
	return c
}
