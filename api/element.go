package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// userElement is a person's message as clients know it.
type userElement struct {
	Role        domain.Role   `json:"role"`
	Text        string        `json:"text"`
	Username    string        `json:"username"`
	Attachments []domain.File `json:"attachments"`
	ID          string        `json:"id"`
	TurnID      string        `json:"turn_id,omitempty"`
	CreatedAt   time.Time     `json:"created_at"`
}

// assistantElement is an answer as clients know it.
type assistantElement struct {
	Role          domain.Role          `json:"role"`
	Text          string               `json:"text"`
	Sources       []domain.Source      `json:"sources"`
	Chain         []any                `json:"chain"`
	ToolCallsMade int                  `json:"tool_calls_made"`
	Question      *domain.Question     `json:"question,omitempty"`
	ConfirmAction *waitingAction       `json:"confirm_action,omitempty"` // of a personal conversation: what waits first
	Provider      *domain.ProviderUsed `json:"provider,omitempty"`
	ID            string               `json:"id"`
	TurnID        string               `json:"turn_id,omitempty"`
	Status        domain.TurnStatus    `json:"status,omitempty"`
	CreatedAt     time.Time            `json:"created_at"`
}

// The entries of an answer's chain.
type (
	thinkingStep struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	callStep struct {
		Type        string          `json:"type"`
		ID          string          `json:"id"`
		Name        string          `json:"name"`
		Input       json.RawMessage `json:"input"`
		Status      string          `json:"status"`
		Preview     string          `json:"preview"`
		Description string          `json:"description,omitempty"`
		Hostname    string          `json:"hostname,omitempty"` // of the machine that it is about
	}
)

// elementOf gives a message of a conversation.
func elementOf(c domain.Conversation, e domain.Entry) any {
	if e.Role == domain.RoleUser {
		u := userElement{Role: e.Role, Text: e.Text, Username: e.Username, Attachments: listed(e.Attachments), ID: e.ID, TurnID: e.TurnID, CreatedAt: e.At}
		for i := range u.Attachments {
			u.Attachments[i].PreviewURL = domain.AttachmentPath(c.ProjectID, c.ID, e.ID, i)
		}
		return u
	}
	a := assistantElement{
		Role: e.Role, Text: e.Text, Sources: listed(e.Sources), Chain: make([]any, len(e.Chain)), ToolCallsMade: e.ToolCallsMade,
		Question: e.Question, Provider: e.Provider, ID: e.ID, TurnID: e.TurnID, Status: e.Status, CreatedAt: e.At,
	}
	for i, step := range e.Chain {
		a.Chain[i] = stepOf(step)
	}
	if c.ProjectID == "" {
		a.ConfirmAction = firstWaiting(e.Chain)
	}
	return a
}

func stepOf(e domain.ChainEntry) any {
	input := e.Input
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	switch e.Type {
	case domain.ChainThinking:
		return thinkingStep{e.Type, e.Text}
	case domain.ChainAction:
		return actionStepOf(e, input)
	}
	return callStep{e.Type, e.ID, e.Name, input, e.Status, e.Preview, e.Description, e.Hostname}
}

// attachment answers GET …/messages/:mid/attachments/:n with the file's bytes. What a browser
// might run is not shown by it but saved.
func (s *Server) attachment(ctx context.Context, r request[none]) (raw, error) {
	c, err := s.theConversation(ctx, r.caller, r.project, r.path["cid"])
	if err != nil {
		return raw{}, err
	}
	n, err := strconv.Atoi(r.path["n"])
	if err != nil {
		return raw{}, domain.NotFound("the message has no attachment %q", r.path["n"])
	}
	file, err := s.Conversations.Attachment(ctx, c.ID, r.path["mid"], n)
	if err != nil {
		return raw{}, err
	}
	how := "attachment"
	if shownInline(file.MimeType) {
		how = "inline"
	}
	serveFile(r.reply, how, file.Name, file.MimeType)
	r.reply.Set("Cache-Control", "private, max-age=3600, immutable")
	return raw{json: file.Data}, nil
}

func shownInline(mimeType string) bool {
	switch mimeType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// serveFile sets the headers of a file that is sent as it is.
func serveFile(reply http.Header, how, name, mimeType string) {
	reply.Set("Content-Type", mimeType)
	reply.Set("Content-Disposition", how+`; filename*=UTF-8''`+escapeName(name))
	reply.Set("X-Content-Type-Options", "nosniff")
	reply.Set("Content-Security-Policy", "sandbox; default-src 'none'")
}

// escapeName writes a file name as RFC 8187 wants it.
func escapeName(name string) string {
	var out strings.Builder
	for _, b := range []byte(name) {
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '.' || b == '-' || b == '_' {
			out.WriteByte(b)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", b)
	}
	return out.String()
}
