package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	turnIDHeader    = "X-Turn-Id"
	attachmentBytes = 30 << 20 // of all attachments, decoded
	maxAttachments  = 20
	maxQueryBytes   = 1 << 20
	maxNames        = 1000
	maxNameBytes    = 500
)

// queryRequest is the body of POST /query and POST /query/stream.
type queryRequest struct {
	Query          string              `json:"query"`
	ConversationID string              `json:"conversation_id"`
	Attachments    []attachmentRequest `json:"attachments"`
	Repositories   []string            `json:"repositories"`
	Versions       []string            `json:"versions"`
	ProviderID     string              `json:"provider_id"`
	Model          string              `json:"model"`

	decoded []domain.Attachment
}

type attachmentRequest struct {
	Name     string `json:"name"`
	MimeType string `json:"mime_type"`
	Data     string `json:"data"` // base64
}

func (q *queryRequest) validate() error {
	if strings.TrimSpace(q.Query) == "" {
		return domain.Invalid("query", "must not be empty")
	}
	if len(q.Query) > maxQueryBytes {
		return &domain.Error{Code: domain.CodeTooLarge, Field: "query", Message: fmt.Sprintf("is longer than %d bytes; attach long texts instead", maxQueryBytes)}
	}
	if !plainText(q.Query) {
		return domain.Invalid("query", "holds characters that no text has")
	}
	for _, f := range []struct{ field, value string }{
		{"conversation_id", q.ConversationID}, {"provider_id", q.ProviderID}, {"model", q.Model},
	} {
		if err := validName(f.field, f.value); err != nil {
			return err
		}
	}
	if !addressable(q.ConversationID) {
		return domain.Invalid("conversation_id", "%q can't stand in an address; choose another name, or leave it out", q.ConversationID)
	}
	if err := validNames("repositories", q.Repositories); err != nil {
		return err
	}
	if err := validNames("versions", q.Versions); err != nil {
		return err
	}
	return q.decodeAttachments()
}

// addressable reports whether a conversation that is made under this name can be opened by it.
func addressable(id string) bool {
	return id != "search" && id != "." && id != ".." && !strings.ContainsFunc(id, func(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) })
}

func validName(field, name string) error {
	if len(name) > maxNameBytes || !plainText(name) {
		return domain.Invalid(field, "must be plain text of at most %d bytes", maxNameBytes)
	}
	return nil
}

func validNames(field string, names []string) error {
	if len(names) > maxNames {
		return domain.Invalid(field, "may hold at most %d names", maxNames)
	}
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", field, i)
		if name == "" {
			return domain.Invalid(at, "must not be empty")
		}
		if err := validName(at, name); err != nil {
			return err
		}
	}
	return nil
}

func (q *queryRequest) decodeAttachments() error {
	if len(q.Attachments) > maxAttachments {
		return domain.Invalid("attachments", "may hold at most %d files", maxAttachments)
	}
	total := 0
	for i := range q.Attachments {
		a := &q.Attachments[i]
		field := func(name string) string { return fmt.Sprintf("attachments[%d].%s", i, name) }
		if a.Name == "" {
			return domain.Invalid(field("name"), "must not be empty")
		}
		if err := validName(field("name"), a.Name); err != nil {
			return err
		}
		// Browsers know no type of most source files, and say so by none.
		if _, _, err := mime.ParseMediaType(a.MimeType); err != nil && a.MimeType != "" {
			return domain.Invalid(field("mime_type"), "is not a MIME type such as text/plain; leave it out where you don't know it")
		}
		if total += base64.StdEncoding.DecodedLen(len(a.Data)) - 2; total > attachmentBytes {
			return &domain.Error{Code: domain.CodeTooLarge, Field: "attachments", Message: fmt.Sprintf("hold more than %d bytes", attachmentBytes)}
		}
		data, err := base64.StdEncoding.DecodeString(a.Data)
		if err != nil || len(data) == 0 {
			return domain.Invalid(field("data"), "must be a file's bytes in base64")
		}
		if len(data) > maxAttachment {
			return &domain.Error{Code: domain.CodeTooLarge, Field: field("data"), Message: fmt.Sprintf("holds more than %d bytes", maxAttachment)}
		}
		kind, err := typeOf(a.MimeType, data)
		if err != nil {
			return domain.Invalid(field("data"), "%s", domain.PublicMessage(err))
		}
		a.Data = ""
		q.decoded = append(q.decoded, domain.Attachment{Name: a.Name, MimeType: kind, Data: data})
	}
	return nil
}

// start starts the turn of a query, or finds the one of the same Idempotency-Key.
func (s *Server) start(ctx context.Context, r request[queryRequest]) (domain.Turn, error) {
	key, err := idempotencyKey(r.header)
	if err != nil {
		return domain.Turn{}, err
	}
	turn, err := s.Turns.StartTurn(ctx, domain.TurnRequest{
		UserID:         r.caller.UserID,
		UserName:       r.caller.Name,
		ProjectID:      r.project.ID,
		ConversationID: r.body.ConversationID,
		Query:          r.body.Query,
		Attachments:    r.body.decoded,
		Repositories:   r.body.Repositories,
		Versions:       r.body.Versions,
		Provider:       domain.ProviderSelection{ProviderID: r.body.ProviderID, Model: r.body.Model},
		IdempotencyKey: key,
	})
	if err == nil {
		r.reply.Set(turnIDHeader, turn.ID)
	}
	return turn, err
}

// idempotencyKey reads the key by which a client may send a query again; "" for none.
func idempotencyKey(header http.Header) (string, error) {
	key := header.Get("Idempotency-Key")
	if len(key) > 255 || !plainText(key) {
		return "", domain.Invalid("Idempotency-Key", "must be a text of at most 255 bytes")
	}
	return key, nil
}

// answer is the body of POST /query.
type answer struct {
	Answer         string               `json:"answer"`
	Sources        []domain.Source      `json:"sources"`
	ToolCallsMade  int                  `json:"tool_calls_made"`
	ProviderUsed   *domain.ProviderUsed `json:"provider_used"`
	TurnID         string               `json:"turn_id"`
	ConversationID string               `json:"conversation_id,omitempty"`
	Reason         domain.EndReason     `json:"reason,omitempty"`
	Question       *domain.Question     `json:"question,omitempty"`
	Usage          domain.Usage         `json:"usage"`
}

// query answers POST /query: it waits for the turn's end. A client that leaves ends its
// own waiting only. A turn that waits for a person is answered at once.
func (s *Server) query(ctx context.Context, r request[queryRequest]) (any, error) {
	turn, err := s.start(ctx, r)
	if err != nil {
		return nil, err
	}
	waiting, done := s.untilDrain(ctx)
	defer done()
	if turn, err = s.Turns.WaitTurn(waiting, turn.ID); err != nil {
		if errors.Is(context.Cause(waiting), errStopping) {
			return nil, domain.Errorf(domain.CodeUnavailable, "the server is stopping, but the turn goes on: read it at /turns/%s", r.reply.Get(turnIDHeader))
		}
		return nil, err
	}
	if turn.Status == domain.TurnWaiting {
		return s.waiting(ctx, turn)
	}
	return answerOf(complete(turn))
}

func answerOf(turn domain.Turn) (answer, error) {
	text := turn.Answer
	if text == "" && turn.Question != nil {
		text = turn.Question.Question
	}
	if turn.Status == domain.TurnCanceled {
		return answer{}, domain.Errorf(domain.CodeCanceled, "the turn was canceled")
	}
	if turn.Status != domain.TurnDone || strings.TrimSpace(text) == "" {
		return answer{}, &turnFailure{turn}
	}
	return answer{
		Answer: text, Sources: turn.Sources, ToolCallsMade: turn.ToolCallsMade, ProviderUsed: turn.ProviderUsed,
		TurnID: turn.ID, ConversationID: turn.ConversationID, Reason: turn.Reason, Question: turn.Question, Usage: turn.Usage,
	}, nil
}

// queryStream answers POST /query/stream: the turn's events from its first, or after the
// last one that the client has where it repeats its Idempotency-Key.
func (s *Server) queryStream(ctx context.Context, r request[queryRequest]) (followed, error) {
	turn, err := s.start(ctx, r)
	if err != nil {
		return followed{}, err
	}
	return s.followTurn(turn), nil
}
