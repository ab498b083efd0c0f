package main

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
)

// auditFlags are the filters of the audit, by the names of GET /admin/audit.
var auditFlags = [][2]string{
	{"user", "only calls of this person, by e-mail address or id"},
	{"project", "only calls about this project, by name, or by id also where it is removed"},
	{"outcome", "only those that were denied, done or failed"},
	{"method", "only calls of this HTTP method"},
	{"route", "only calls of this route, such as /projects/:pid"},
	{"before", "only entries before the one of this id: the next page"},
}

func (p *program) auditCommand() *cobra.Command {
	var asJSON bool
	var since time.Duration
	var limit int
	c := &cobra.Command{
		Use: "audit", Short: "See what was refused, and what was removed or changed by whom (admins)", Args: noArguments,
		Example: `  harvest audit --since 24h --outcome denied
  harvest audit --user ada@example.com
  harvest audit --project engine --json`,
	}
	query := url.Values{}
	for _, f := range auditFlags {
		c.Flags().String(f[0], "", f[1])
	}
	c.Flags().DurationVar(&since, "since", 0, "only entries that are no older than this, such as 24h")
	c.Flags().IntVar(&limit, "limit", 50, "how many entries, at most 1000")
	jsonFlag(c, &asJSON)
	c.RunE = func(c *cobra.Command, _ []string) error {
		for _, f := range auditFlags {
			if value := c.Flag(f[0]).Value.String(); value != "" {
				query.Set(f[0], value)
			}
		}
		if c.Flags().Changed("since") {
			if since <= 0 {
				return usageError{fmt.Errorf("--since %s: give a time of more than nothing, such as 24h", since)}
			}
			query.Set("since", time.Now().Add(-since).UTC().Format(time.RFC3339))
		}
		query.Set("limit", strconv.Itoa(limit))
		return p.withClient(func(api *client.Client) error {
			if err := byIDs(c.Context(), api, query); err != nil {
				return err
			}
			page, err := api.Audit(c.Context(), query)
			if err != nil {
				return err
			}
			return p.showAudit(page, asJSON)
		})
	}
	return c
}

// anID is the id of a person or a project, who may be gone while the audit still tells of them.
var anID = regexp.MustCompile(`^(owner|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

// byIDs puts ids in the place of names, which the audit does not know.
func byIDs(ctx context.Context, api *client.Client, query url.Values) error {
	for filter, named := range map[string]func(context.Context, *client.Client, string) (string, error){"user": userNamed, "project": projectID} {
		name := query.Get(filter)
		if name == "" || anID.MatchString(name) {
			continue
		}
		id, err := named(ctx, api, name)
		if err != nil {
			return err
		}
		query.Set(filter, id)
	}
	return nil
}

func (p *program) showAudit(page client.AuditPage, asJSON bool) error {
	table := listing{head: []string{"time", "who", "from", "outcome", "status", "call"}, none: "there are no such entries"}
	for _, e := range page.Entries {
		who := e.UserName
		if who == "" {
			who = "nobody"
		}
		if e.KeyID != "" {
			who += " (by a key)"
		}
		call := e.Method + " " + e.Path
		if e.Detail != "" {
			call += " (" + e.Detail + ")"
		}
		table.row(when(e.At), who, e.Address, string(e.Outcome), strconv.Itoa(e.Status), call)
	}
	if err := p.show(table, page, asJSON); err != nil || page.Next == "" || asJSON {
		return err
	}
	_, err := fmt.Fprintf(p.errs, "there are more: --before %s\n", page.Next)
	return err
}
