package api

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// exportConversation answers GET …/conversations/:cid/export?format=markdown|json.
func (s *Server) exportConversation(ctx context.Context, r request[none]) (raw, error) {
	format := r.query.Get("format")
	if format == "" {
		format = "markdown"
	}
	if format != "markdown" && format != "json" {
		return raw{}, domain.Invalid("format", "must be markdown or json")
	}
	c, err := s.theConversation(ctx, r.caller, r.project, r.path["cid"])
	if err != nil {
		return raw{}, err
	}
	entries, err := s.Conversations.Entries(ctx, c, "")
	if err != nil {
		return raw{}, err
	}
	name := strings.Trim(strings.Map(fileRune, c.Title), "-")
	if name == "" {
		name = c.ID
	}
	if format == "json" {
		serveFile(r.reply, "attachment", name+".json", "application/json; charset=utf-8")
		return raw{json: encode(detailOf(c, entries))}, nil
	}
	serveFile(r.reply, "attachment", name+".md", "text/markdown; charset=utf-8")
	return raw{json: []byte(markdownOf(c, entries))}, nil
}

// fileRune leaves of a title what any file system takes.
func fileRune(r rune) rune {
	if r == ' ' || strings.ContainsRune(`/\:*?"<>|.`, r) || r < ' ' {
		return '-'
	}
	return r
}

// markdownOf renders a conversation to be read.
func markdownOf(c domain.Conversation, entries []domain.Entry) string {
	title := oneLine(c.Title)
	if title == "" {
		title = "Conversation"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\nBegun by %s on %s.\n", title, oneLine(c.CreatedByName), c.CreatedAt.Format(time.DateTime+" MST"))
	for _, e := range entries {
		who := oneLine(e.Username)
		if e.Role == domain.RoleAssistant {
			who = "Harvest"
		}
		fmt.Fprintf(&out, "\n## %s, %s\n\n", who, e.At.Format(time.DateTime+" MST"))
		writeSteps(&out, e.Chain)
		out.WriteString(strings.TrimSpace(e.Text) + "\n")
		writeLists(&out, e)
	}
	return out.String()
}

func writeSteps(out *strings.Builder, chain []domain.ChainEntry) {
	for _, step := range chain {
		if step.Type == domain.ChainThinking {
			continue // what led to the answer is in the JSON form
		}
		what := step.Description
		if what == "" {
			what = step.Name
		}
		fmt.Fprintf(out, "- %s (%s)\n", oneLine(what), standing(step))
	}
	if len(chain) > 0 {
		out.WriteString("\n")
	}
}

// standing says how a step stands, and who decided it.
func standing(step domain.ChainEntry) string {
	if step.Action == nil || step.Action.DecidedByName == "" {
		return step.Status
	}
	return step.Status + ", decided by " + oneLine(step.Action.DecidedByName)
}

func writeLists(out *strings.Builder, e domain.Entry) {
	if len(e.Attachments) > 0 {
		out.WriteString("\nAttachments:\n\n")
	}
	for _, f := range e.Attachments {
		fmt.Fprintf(out, "- %s (%s, %d bytes)\n", oneLine(f.Name), f.MimeType, f.Size)
	}
	if len(e.Sources) > 0 {
		out.WriteString("\nSources:\n\n")
	}
	for _, s := range e.Sources {
		state := "not verified"
		if s.Verified {
			state = "verified"
		}
		fmt.Fprintf(out, "- %s %s, %s:%d (%s)\n", s.Repo, s.Version, s.File, s.Line, state)
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
