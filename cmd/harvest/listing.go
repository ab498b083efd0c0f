package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// listing is a list as a table: for people on the way to their eyes, for scripts by --json.
type listing struct {
	head []string // of the columns
	rows [][]string
	none string // said where there are no rows
	asIs string // the column whose cells are escaped already
}

func (l *listing) row(cells ...string) { l.rows = append(l.rows, cells) }

// show writes a list: as a table, or with asJSON the value that it was made of, as the API
// gives it. What is not shown as it is, is escaped.
func (p *program) show(l listing, value any, asJSON bool) error {
	if asJSON {
		return p.showJSON(value)
	}
	if len(l.rows) == 0 {
		fmt.Fprintln(p.errs, l.none)
		return nil
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', tabwriter.StripEscape)
	fmt.Fprintln(table, strings.ToUpper(strings.Join(l.head, "\t")))
	for _, cells := range l.rows {
		shown := make([]string, len(cells))
		for i, cell := range cells {
			if shown[i] = cell; l.head[i] != l.asIs {
				shown[i] = domain.Visible(cell)
			}
		}
		fmt.Fprintln(table, strings.Join(shown, "\t"))
	}
	return table.Flush()
}

func (p *program) showJSON(value any) error {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// fields shows one thing as lines of a name and a value; what is empty is left out, and what is
// shown is escaped.
func (p *program) fields(pairs ...[2]string) {
	for _, pair := range pairs {
		if pair[1] != "" {
			fmt.Fprintf(p.out, "%-12s %s\n", pair[0], domain.Visible(pair[1]))
		}
	}
}

// did says in a line what a command has changed; what others wrote in it is escaped.
func (p *program) did(format string, names ...string) error {
	shown := make([]any, len(names))
	for i, name := range names {
		shown[i] = domain.Visible(name)
	}
	_, err := fmt.Fprintf(p.errs, format+"\n", shown...)
	return err
}

// when gives a time of a list, to the second, where the reader is.
func when(t time.Time) string { return t.Local().Format(time.DateTime) }
