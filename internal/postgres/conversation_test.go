package postgres_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
)

// answer runs a turn of a conversation to its end: a round with a call, and the answer.
func answer(t *testing.T, s *postgres.Store, req domain.TurnRequest, text string) domain.Turn {
	t.Helper()
	ctx := context.Background()
	turn := create(t, s, req)
	begin(t, s, turn.ID)
	c := claim(t, s, turn.ID, "m0")
	said := domain.Message{Role: domain.RoleAssistant, Blocks: []domain.Block{{Type: domain.BlockToolUse, CallID: "t1", Tool: "search_symbols", Input: json.RawMessage(`{"query":"Serve"}`)}}}
	last, err := s.WriteModelCall(ctx, domain.CallWrite{Claim: c, Close: &domain.ClosedBlock{Seq: c.LastSeq + 1, Type: domain.EventThinkingDelta, Text: "Hm."}})
	if err != nil {
		t.Fatal(err)
	}
	c.LastSeq = last
	_, err = s.CommitModelCall(ctx, domain.ModelCommit{
		CallWrite: domain.CallWrite{Claim: c, Close: &domain.ClosedBlock{Seq: c.LastSeq + 1, Type: domain.EventTextDelta, Text: "Let me look."}, Events: []domain.NewEvent{
			domain.NewPayload(domain.EventToolCall, map[string]any{"id": "t1", "name": "search_symbols", "input": map[string]string{"query": "Serve"}, "description": "Looking for Serve"}),
		}},
		Outcome: json.RawMessage(`{}`), Message: &said, Usage: domain.Usage{InputTokens: 10, OutputTokens: 5, Cost: 0.25},
		Provider: &domain.ProviderUsed{ProviderID: "p", Kind: "scripted", Model: "m"},
		Tools:    []domain.ToolCall{{ID: "t1", Name: "search_symbols", Input: json.RawMessage(`{"query":"Serve"}`), Status: domain.CallPending}},
	})
	if err != nil {
		t.Fatal(err)
	}
	call, _, err := s.ClaimToolCall(ctx, turn.ID, "t1")
	if err != nil {
		t.Fatal(err)
	}
	call.Result = domain.ToolResult{Text: "server.go:10", Preview: "1 symbol"}
	if err := s.CommitToolCall(ctx, call, domain.NewPayload(domain.EventToolResult, map[string]any{"id": "t1", "name": "search_symbols", "preview": "1 symbol", "error": false})); err != nil {
		t.Fatal(err)
	}
	end := domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: text,
		Sources: []domain.Source{{Repo: "app", Version: "v1", File: "server.go", Line: 10, Verified: true}}}
	return finish(t, s, end)
}

func texts(t *testing.T, s *postgres.Store, id string) (list []string) {
	t.Helper()
	c, err := s.Conversation(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := s.Entries(context.Background(), c, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, string(e.Role)+": "+e.Text)
	}
	if c.MessageCount != len(list) {
		t.Errorf("%d messages are counted, %d read", c.MessageCount, len(list))
	}
	return list
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// What a conversation shows is rebuilt from the logs of its turns.
func TestAConversationsEntries(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ada, project, c := shared(t, s)
	req := ask(ada, project, c.ID)
	req.Attachments = []domain.Attachment{{Name: "a.txt", MimeType: "text/plain", Data: []byte("abc")}}
	answer(t, s, req, "In server.go.")
	c, err := s.Conversation(ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := s.Entries(ctx, c, "")
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	same(t, "the attachments", []domain.File{{Name: "a.txt", MimeType: "text/plain", Size: 3, Data: []byte("abc")}}, entries[0].Attachments)
	same(t, "the person", ada.Name, entries[0].Username)
	same(t, "the chain", []domain.ChainEntry{
		{Type: domain.ChainThinking, Text: "Hm."},
		{Type: domain.ChainThinking, Text: "Let me look."},
		{Type: domain.ChainToolCall, ID: "t1", Name: "search_symbols", Input: json.RawMessage(`{"query":"Serve"}`), Status: "done", Preview: "1 symbol", Description: "Looking for Serve"},
	}, entries[1].Chain)
	if e := entries[1]; e.Text != "In server.go." || e.ToolCallsMade != 1 || e.Provider.Model != "m" || len(e.Sources) != 1 {
		t.Errorf("the answer: %+v", e)
	}
	file, err := s.Attachment(ctx, c.ID, entries[0].ID, 0)
	if err != nil || string(file.Data) != "abc" {
		t.Errorf("the attachment: %q, %v", file.Data, err)
	}
	_, err = s.Attachment(ctx, c.ID, entries[0].ID, 1)
	wantCode(t, "another one", err, domain.CodeNotFound)
}

// A cut, a retry and a branch leave what was there before, and share it.
func TestBranchesOfAConversation(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ada, project, c := shared(t, s)
	answer(t, s, ask(ada, project, c.ID), "One.")
	second := ask(ada, project, c.ID)
	second.Query = "And then?"
	answer(t, s, second, "Two.")
	c, err := s.Conversation(ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.LastQuestion(ctx, c)
	if err != nil || again.Query != "And then?" {
		t.Fatalf("the last question: %+v, %v", again, err)
	}
	again.UserID, again.UserName = ada.ID, ada.Name
	answer(t, s, again, "Three.")
	same(t, "tried again", []string{"user: Where is it?", "assistant: One.", "user: And then?", "assistant: Three."}, texts(t, s, c.ID))

	entries, err := s.Entries(ctx, c, c.HeadID) // as it was before
	if err != nil || len(entries) != 4 || entries[3].Text != "Two." {
		t.Fatalf("the other branch: %+v, %v", entries, err)
	}
	branch, err := s.BranchConversation(ctx, c, entries[1].ID, domain.Conversation{Title: "Other", CreatedBy: ada.ID, CreatedByName: ada.Name})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the branch", []string{"user: Where is it?", "assistant: One."}, texts(t, s, branch.ID))
	if err := s.CutConversation(ctx, c.ID, entries[1].ID); err != nil {
		t.Fatal(err)
	}
	same(t, "cut back", []string{"user: Where is it?", "assistant: One."}, texts(t, s, c.ID))
	running := create(t, s, ask(ada, project, c.ID))
	err = s.CutConversation(ctx, c.ID, "")
	wantCode(t, "a cut while a turn runs", err, domain.CodeConflict)
	if !strings.Contains(domain.PublicMessage(err), "chat is locked by "+ada.Name) {
		t.Errorf("it does not say by whom: %v", err)
	}
	if d, err := s.Dialogue(ctx, running.ID); err != nil || d.Title != "First" {
		t.Errorf("the title that a person gave became %q, %v", d.Title, err)
	}
	if err := s.DeleteConversation(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	if ended := finish(t, s, domain.TurnEnd{TurnID: running.ID, Status: domain.TurnCanceled, Reason: domain.EndCanceled}); ended.Status != domain.TurnCanceled {
		t.Errorf("a turn whose conversation is gone: %+v", ended)
	}
	same(t, "the branch, once the other is gone", []string{"user: Where is it?", "assistant: One."}, texts(t, s, branch.ID))
	_, err = s.BranchConversation(ctx, branch, "none", domain.Conversation{CreatedBy: ada.ID})
	wantCode(t, "a message that is not there", err, domain.CodeNotFound)
}

func TestConversationsAreListedAndFound(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ada, project, c := shared(t, s)
	other := ask(ada, project, "other")
	other.Query = "How are keys rotated?"
	answer(t, s, other, "By the sealer.")
	untitled, err := s.CreateConversation(ctx, domain.Conversation{CreatedBy: ada.ID})
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, domain.TurnRequest{UserID: ada.ID, ConversationID: untitled.ID, Query: "What now?"})
	if untitled, err = s.Conversation(ctx, untitled.ID); err != nil || untitled.Title != "What now?" {
		t.Errorf("the first question titles the conversation %q, %v", untitled.Title, err)
	}
	own := domain.TurnRequest{UserID: ada.ID, ConversationID: "own", Query: "What rotates?"}
	answer(t, s, own, "Nothing.")
	_, _, err = s.CreateTurn(ctx, domain.TurnRequest{UserID: ada.ID, ConversationID: c.ID, Query: "q"})
	wantCode(t, "a project's conversation as one's own", err, domain.CodeNotFound)
	if err == nil || !strings.Contains(err.Error(), "choose another name") {
		t.Errorf("a name that is taken elsewhere: %v", err)
	}
	_, _, err = s.CreateTurn(ctx, ask(ada, project, "own"))
	wantCode(t, "one's own as a project's", err, domain.CodeNotFound)

	q := domain.ConversationQuery{ProjectID: project.ID, UserID: ada.ID, Limit: 1}
	var listed []string
	for {
		page, err := s.Conversations(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		listed = append(listed, page[0].ID)
		q.BeforeTime, q.BeforeID = page[0].UpdatedAt, page[0].ID
	}
	same(t, "the pages", []string{"other", c.ID}, listed)
	for words, want := range map[string]string{"sealer": "other", "FIRST": c.ID, `"keys rotated"`: "other", "sealer -keys": "other", "nothing": ""} {
		found, err := s.SearchConversations(ctx, domain.ConversationQuery{ProjectID: project.ID, Limit: 10}, words)
		if err != nil || (len(found) == 1) != (want != "") || want != "" && found[0].ConversationID != want {
			t.Errorf("%s: %+v, %v", words, found, err)
		}
	}
	today := time.Now().UTC()
	usage, err := s.ProjectUsage(ctx, project.ID, today.AddDate(0, 0, -1), today.AddDate(0, 0, 1))
	row := domain.UsageRow{Turns: 1, InputTokens: 10, OutputTokens: 5, Cost: 0.25}
	if err != nil || usage.Total != row || len(usage.Days) != 1 || usage.People[0].Name != ada.Name || usage.Models[0].Key != "m" {
		t.Errorf("usage: %+v, %v", usage, err)
	}
}

// Questions about code are full of signs: what they hold together is found in parts as well.
func TestWordsOfCodeAreFound(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ada, project, c := shared(t, s)
	answer(t, s, ask(ada, project, c.ID), "By the sealer.")
	code := ask(ada, project, "code")
	code.Query = "Where does ParseCursor call net/http.ListenAndServe of C++ code? I don't see it with --flag=1 in path/to/file.go, version 3.14\n\n" +
		strings.Repeat("and so on ", 20) + "<script>alert(1)</script> 日本語"
	answer(t, s, code, "Here.")
	for words, want := range map[string]string{
		"ListenAndServe": "code", "net/http": "code", "file.go": "code", `"call net"`: "code", "call/net": "code", "Serve": "", "DON'T": "code", "script": "code",
		"日本語": "code", "3.14": "code", "3.15": "", "C++ code": "code", "--flag": "code", "or": "", "%_\\ ' ( & | ! : *": "", `-"`: "", `"`: "", `"ParseCursor`: "code",
	} {
		found, err := s.SearchConversations(ctx, domain.ConversationQuery{ProjectID: project.ID, Limit: 1}, words)
		if err != nil || (len(found) == 1) != (want != "") || want != "" && found[0].ConversationID != want {
			t.Errorf("%s: %+v, %v", words, found, err)
		}
		if len(found) == 1 && words == "script" && (!strings.Contains(found[0].Excerpt, "<script>alert(1)</script>") || !strings.HasPrefix(found[0].Excerpt, "… ")) {
			t.Errorf("the excerpt is %q", found[0].Excerpt)
		}
	}
}

// A project goes with all it owns, once its work has ended.
func TestAProjectIsRemoved(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	s := h.store
	ada, project, c := shared(t, s)
	answer(t, s, ask(ada, project, c.ID), "One.")
	running := create(t, s, ask(ada, project, c.ID))
	open, err := s.CloseProject(ctx, project.ID)
	if err != nil || len(open) != 1 || open[0].ID != running.ID {
		t.Fatalf("what runs: %+v, %v", open, err)
	}
	_, _, err = s.CreateTurn(ctx, ask(ada, project, "new"))
	wantCode(t, "a turn of a project that is being deleted", err, domain.CodeConflict)
	_, err = s.CreateConversation(ctx, domain.Conversation{ProjectID: project.ID, CreatedBy: ada.ID})
	wantCode(t, "a conversation of a project that is being deleted", err, domain.CodeConflict)
	talk, err := s.Conversation(ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.BranchConversation(ctx, talk, talk.HeadID, domain.Conversation{CreatedBy: ada.ID})
	wantCode(t, "a branch in a project that is being deleted", err, domain.CodeConflict)
	_, err = s.CreateConversation(ctx, domain.Conversation{ProjectID: "none", CreatedBy: ada.ID})
	wantCode(t, "a conversation of no project", err, domain.CodeNotFound)
	_, err = s.DeleteProject(ctx, project.ID)
	wantCode(t, "while a turn runs", err, domain.CodeConflict)
	finish(t, s, domain.TurnEnd{TurnID: running.ID, Status: domain.TurnCanceled, Reason: domain.EndCanceled})
	removed, err := s.DeleteProject(ctx, project.ID)
	if err != nil || removed != (domain.Removed{Conversations: 1, Messages: 4, Turns: 2}) {
		t.Errorf("removed %+v, %v", removed, err)
	}
	for _, table := range []string{"projects", "conversations", "messages", "turns", "turn_calls", "subjects", "events", "endings", "streams", "value_uses"} {
		if n := h.count(table); n != 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
	_, err = s.DeleteProject(ctx, project.ID)
	wantCode(t, "again", err, domain.CodeNotFound)
}
