package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	maxEntries = 10_000   // messages of a branch
	maxInline  = 16 << 20 // bytes of attachments that travel within their messages
)

var (
	// From a message up the tree. Of a turn that was tried again each branch has its own.
	sqlBranch = statement("read a branch", `
with recursive past as (
    select m.*, 0 as back from messages m where m.id = @head
    union all
    select m.*, past.back + 1 from past join messages m on m.id = past.parent_id where past.back < @limit
)
select p.id, coalesce(p.parent_id, ''), p.role, p.content, p.created_at, coalesce(t.id, ''), coalesce(u.name, t.user_id, ''),
    coalesce(t.sources, '[]'), t.question, coalesce(t.tool_calls_made, 0), t.provider_used, coalesce(t.status, ''), coalesce(t.answer, '')
from past p left join turns t on t.id = p.turn_id left join users u on u.id = t.user_id
order by p.back desc`)

	sqlChains = statement("read what turns did", `
select e.subject_id, e.type, e.payload from events e
where e.subject_id = any(@turns::text[]) and e.closed
  and e.type in ('thinking_delta', 'text_delta', 'tool_call', 'tool_result', 'confirm_action', 'retry', 'failover')
order by e.subject_id, e.subject_seq`)

	sqlTurnsActions = statement("read the actions of turns", `
select`+actionColumns+` from actions a where a.turn_id = any(@turns::text[]) order by a.turn_id, a.id`)

	// A turn that has asked is shown before it has an answer: somebody is to decide.
	sqlAskingTurn = statement("read a turn that has asked", `
select t.id, t.status, t.created_at, t.tool_calls_made, t.provider_used from turns t
where t.id = @turn and t.ended_at is null and exists (select from actions a where a.turn_id = t.id)`)

	sqlMessage = statement("read a message", `
select m.content, coalesce(c.project_id, ''), c.user_id
from messages m join conversations c on c.id = m.conversation_id where m.id = @message and m.conversation_id = @conversation`)

	sqlMessageElsewhere = statement("look for a message anywhere", `select exists (select from messages where id = @id)`)
)

// Entries gives the messages of a branch, oldest first, as people read them: the branch that
// ends with the message, or with "" the one in use.
func (s *Store) Entries(ctx context.Context, c domain.Conversation, messageID string) ([]domain.Entry, error) {
	if messageID == "" {
		messageID = c.HeadID
	}
	entries, err := s.branch(ctx, messageID)
	if err != nil {
		return nil, failed("read the messages of conversation "+c.ID, err)
	}
	if messageID == c.HeadID && c.ActiveTurnID != "" {
		if entries, err = s.withAsking(ctx, entries, c.ActiveTurnID); err != nil {
			return nil, failed("read what turn "+c.ActiveTurnID+" has asked", err)
		}
	}
	if err := s.rebuildChains(ctx, entries); err != nil {
		return nil, failed("read what the turns of conversation "+c.ID+" did", err)
	}
	owner, room := feedOf(c.ProjectID, c.CreatedBy), int64(maxInline)
	if err := s.noteProblems(ctx, owner, entries); err != nil {
		return nil, err
	}
	list := make([]domain.Entry, len(entries))
	for i, e := range entries {
		if err := s.inline(ctx, owner, e.files, &room); err != nil {
			return nil, err
		}
		e.Attachments = e.shown()
		list[i] = e.Entry
	}
	return list, nil
}

// rebuildChains fills in what was done for each answer.
func (s *Store) rebuildChains(ctx context.Context, entries []storedEntry) error {
	var turns []string
	for _, e := range entries {
		if e.Role == domain.RoleAssistant && e.TurnID != "" {
			turns = append(turns, e.TurnID)
		}
	}
	if len(turns) == 0 {
		return nil
	}
	chains, err := s.chains(ctx, turns)
	if err != nil {
		return err
	}
	actions, err := s.actions(ctx, sqlTurnsActions, pgx.NamedArgs{"turns": turns})
	if err != nil {
		return err
	}
	asked := map[string][]domain.Action{}
	for _, a := range actions {
		asked[a.TurnID] = append(asked[a.TurnID], a)
	}
	for i := range entries {
		if e := &entries[i]; e.Role == domain.RoleAssistant {
			e.Chain = domain.Chain(chains[e.TurnID], asked[e.TurnID])
		}
	}
	return nil
}

// withAsking adds the answer that a turn is about to give, where it has asked for approval.
func (s *Store) withAsking(ctx context.Context, entries []storedEntry, turnID string) ([]storedEntry, error) {
	var provider []byte
	e := storedEntry{Entry: domain.Entry{Role: domain.RoleAssistant}}
	err := s.pool.QueryRow(ctx, sqlAskingTurn, pgx.NamedArgs{"turn": turnID}).Scan(&e.TurnID, &e.Status, &e.At, &e.ToolCallsMade, &provider)
	if noRows(err) {
		return entries, nil
	}
	if err != nil {
		return nil, err
	}
	e.ID, e.At = replyID(e.TurnID), e.At.UTC()
	if len(provider) > 0 {
		if err := json.Unmarshal(provider, &e.Provider); err != nil {
			return nil, err
		}
	}
	return append(entries, e), nil
}

// storedEntry is an entry with the names of its attachments' bytes.
type storedEntry struct {
	domain.Entry
	files []storedFile
}

type storedFile struct {
	domain.File
	ref Ref
}

func (e storedEntry) shown() (files []domain.File) {
	for _, f := range e.files {
		files = append(files, f.File)
	}
	return files
}

func (s *Store) branch(ctx context.Context, head string) ([]storedEntry, error) {
	rows, err := s.pool.Query(ctx, sqlBranch, pgx.NamedArgs{"head": head, "limit": maxEntries})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanEntry)
}

func scanEntry(row pgx.CollectableRow) (e storedEntry, err error) {
	var content, sources, question, provider []byte
	var answer string
	err = row.Scan(&e.ID, &e.ParentID, &e.Role, &content, &e.At, &e.TurnID, &e.Username,
		&sources, &question, &e.ToolCallsMade, &provider, &e.Status, &answer)
	if err != nil {
		return e, err
	}
	e.At = e.At.UTC()
	if e.files, err = readFiles(content, &e.Text); err != nil {
		return e, fmt.Errorf("read message %s: %w", e.ID, err)
	}
	if e.Role != domain.RoleAssistant {
		e.ToolCallsMade, e.Status = 0, ""
		return e, nil
	}
	e.Username = ""
	if answer != "" { // without what the history says beside it
		e.Text = answer
	}
	for _, field := range []struct {
		body []byte
		into any
	}{{sources, &e.Sources}, {question, &e.Question}, {provider, &e.Provider}} {
		if len(field.body) == 0 {
			continue
		}
		if err := json.Unmarshal(field.body, field.into); err != nil {
			return e, fmt.Errorf("read message %s: %w", e.ID, err)
		}
	}
	return e, nil
}

// readFiles gives the attachments of a message's content, and its text.
func readFiles(content []byte, text *string) (files []storedFile, err error) {
	var kept []storedBlock
	if err := json.Unmarshal(content, &kept); err != nil {
		return nil, err
	}
	for _, b := range kept {
		switch {
		case b.Type == domain.BlockText && *text == "":
			*text = b.Text
		case b.Type == domain.BlockMedia && b.Ref != nil:
			files = append(files, storedFile{File: domain.File{Name: b.Name, MimeType: b.MimeType, Size: b.Ref.Size}, ref: *b.Ref})
		}
	}
	return files, nil
}

// inline reads the bytes of those files that there is room for.
func (s *Store) inline(ctx context.Context, owner string, files []storedFile, room *int64) error {
	for i := range files {
		if *room -= files[i].Size; *room < 0 {
			continue
		}
		data, err := s.value(ctx, owner, files[i].ref)
		if err != nil {
			return fmt.Errorf("read attachment %q: %w", files[i].Name, err)
		}
		files[i].Data = data
	}
	return nil
}

// chains gives the logs of turns as far as a chain needs them.
func (s *Store) chains(ctx context.Context, turns []string) (map[string][]domain.Event, error) {
	logs := map[string][]domain.Event{}
	rows, err := s.pool.Query(ctx, sqlChains, pgx.NamedArgs{"turns": turns})
	if err != nil {
		return nil, err
	}
	var e domain.Event
	_, err = pgx.ForEachRow(rows, []any{&e.Subject, &e.Type, &e.Payload}, func() error {
		logs[e.Subject] = append(logs[e.Subject], domain.Event{Subject: e.Subject, Type: e.Type, Payload: append([]byte(nil), e.Payload...)})
		return nil
	})
	return logs, err
}

// noMessage is the answer to who asks for a message that is not of the conversation.
func (s *Store) noMessage(ctx context.Context, id string) error {
	return s.missing(ctx, sqlMessageElsewhere, id, "there is no message %q in this conversation")
}

// Attachment gives a file of a message, counted from 0, or not_found.
func (s *Store) Attachment(ctx context.Context, conversationID, messageID string, n int) (domain.File, error) {
	var content []byte
	var project, user, text string
	err := s.pool.QueryRow(ctx, sqlMessage, pgx.NamedArgs{"message": messageID, "conversation": conversationID}).Scan(&content, &project, &user)
	if noRows(err) {
		return domain.File{}, s.noMessage(ctx, messageID)
	}
	if err != nil {
		return domain.File{}, failed("read message "+messageID, err)
	}
	files, err := readFiles(content, &text)
	if err != nil {
		return domain.File{}, fmt.Errorf("read message %s: %w", messageID, err)
	}
	if n < 0 || n >= len(files) {
		return domain.File{}, domain.NotFound("the message has no attachment %d", n)
	}
	files[n].Data, err = s.value(ctx, feedOf(project, user), files[n].ref)
	return files[n].File, err
}
