package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) apiKeysCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "See, make and end your API keys, by which programs act as you",
		Long: `An API key lets a program act as the person whose it is: put it into HARVEST_TOKEN, or into the
header "Authorization: Bearer KEY" of calls of the API. A key is good for its scopes alone, and for
no more than its person may do.`,
		Example: `  harvest keys list
  harvest keys create "nightly build" --scope read --scope ask --days 30
  harvest keys delete "nightly build"`,
	}
	c.AddCommand(p.listKeysCommand(), p.createKeyCommand(), p.deleteKeyCommand())
	return c
}

func (p *program) listKeysCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List your API keys, the oldest first", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withClient(func(api *client.Client) error {
				list, err := api.Keys(c.Context())
				if err != nil {
					return err
				}
				table := listing{head: []string{"id", "name", "begins", "good for", "until", "last used"}, none: "you have no API keys; harvest keys create makes one"}
				for _, k := range list {
					table.row(k.ID, k.Name, k.Prefix+"…", scopesOf(k), whenOr(k.ExpiresAt, "for ever"), whenOr(k.LastUsedAt, "never"))
				}
				return p.show(table, list, asJSON)
			})
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

func (p *program) createKeyCommand() *cobra.Command {
	var scopes []string
	var days int
	var asJSON bool
	c := &cobra.Command{
		Use: "create NAME", Short: "Make an API key, and print it: it is shown this once",
		Args: arguments(1, 1, "name the key, so that you know later what it is for"),
		RunE: func(c *cobra.Command, args []string) error {
			n := client.NewKey{Name: args[0], ExpiresInDays: days}
			for _, s := range scopes {
				n.Scopes = append(n.Scopes, domain.KeyScope(s))
			}
			return p.withClient(func(api *client.Client) error {
				made, err := api.CreateKey(c.Context(), n)
				if err != nil {
					return err
				}
				if asJSON {
					return p.showJSON(made)
				}
				fmt.Fprintln(p.out, made.Key)
				return p.did("it is good for %s, until %s, and is not shown again", scopesOf(made.APIKey), whenOr(made.ExpiresAt, "it is ended"))
			})
		},
	}
	var known []string
	for _, s := range domain.KeyScopes() {
		known = append(known, string(s))
	}
	c.Flags().StringArrayVar(&scopes, "scope", nil, "what it is good for: "+strings.Join(known, ", ")+" (may be repeated; default: read, ask and write)")
	c.Flags().IntVar(&days, "days", 90, "how long it is good; 0 for ever")
	jsonFlag(c, &asJSON)
	return c
}

func (p *program) deleteKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete KEY", Short: "End an API key at once", Args: arguments(1, 1, "name one key, by its id or name; harvest keys list shows all"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				id, err := keyNamed(c.Context(), api, args[0])
				if err != nil {
					return err
				}
				if err := api.DeleteKey(c.Context(), id); err != nil {
					return err
				}
				return p.did("ended the key %s", args[0])
			})
		},
	}
}

// keyNamed gives the id of the key of that id, or of that name where only one has it.
func keyNamed(ctx context.Context, api *client.Client, name string) (string, error) {
	list, err := api.Keys(ctx)
	if err != nil {
		return "", err
	}
	return pick(entries(list, func(k domain.APIKey) entry { return entry{k.ID, k.Name} }), "key", name)
}

func scopesOf(k domain.APIKey) string {
	var names []string
	for _, s := range k.Scopes {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// whenOr gives a time of a list, or what is said where there is none.
func whenOr(t *time.Time, none string) string {
	if t == nil {
		return none
	}
	return when(*t)
}

func (p *program) whoamiCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "whoami", Short: "Tell which server commands use from here, and who you are there", Args: noArguments,
		Long: `Tells which server commands use from here, and as whom. That is the server of HARVEST_URL, or else
the Harvest that runs on the data folder, as its owner, or else the one of harvest login.`,
		RunE: func(c *cobra.Command, _ []string) error {
			base, _, err := p.find()
			if err != nil {
				return err
			}
			return p.withClient(func(api *client.Client) error {
				me, err := api.Me(c.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return p.showJSON(struct {
						Server string `json:"server"`
						client.Person
					}{base, me})
				}
				p.fields([2]string{"server", base}, [2]string{"name", me.Name}, [2]string{"e-mail", me.Email}, [2]string{"id", me.ID}, [2]string{"role", string(me.Role)})
				return nil
			})
		},
	}
	jsonFlag(c, &asJSON)
	c.Flags().Lookup("json").Usage = "as JSON"
	return c
}
