package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

func TestARepeatedKeyIsTheSameTurn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	req := request()
	req.IdempotencyKey = "k1"
	turn := create(t, s, req)
	again, created, err := s.CreateTurn(ctx, req)
	if err != nil || created || again.ID != turn.ID {
		t.Errorf("again = %s, created %v, %v; want %s", again.ID, created, err, turn.ID)
	}
	other := req
	other.Query = "Something else?"
	_, _, err = s.CreateTurn(ctx, other)
	wantCode(t, "another body", err, domain.CodeUnprocessable)
	other.UserID = "grace"
	if theirs := create(t, s, other); theirs.ID == turn.ID {
		t.Error("a key of one person gave the turn of another")
	}
}

func TestQueriesAreLimitedToWhatWasRead(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pool := testkit.Postgres(t)
	s := postgres.NewStore(pool)
	_, err := pool.Exec(ctx, `
		with r as (insert into repositories (name) values ('team/app'), ('other'), ('unread') returning id, name)
		insert into versions (repo_id, tag, live) select id, case name when 'other' then 'v2' else 'v1' end, name <> 'unread' from r`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ repo, version, field, says string }{
		{"team/app", "", "", ""},
		{"team/app", "v1", "", ""},
		{"", "v2", "", ""},
		{"nope", "", "repositories", "no repository \"nope\" has been read; there are: other, team/app"},
		{"unread", "", "repositories", "unread"},
		{"team/app", "v2", "versions", "no version \"v2\" has been read; there are: v1"},
		{"", "v3", "versions", "there are: v1, v2"},
	} {
		req := request()
		if c.repo != "" {
			req.Repositories = []string{c.repo}
		}
		if c.version != "" {
			req.Versions = []string{c.version}
		}
		_, _, err := s.CreateTurn(ctx, req)
		if c.field == "" {
			if err != nil {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		var refused *domain.Error
		if !errors.As(err, &refused) || refused.Code != domain.CodeNotFound || refused.Field != c.field || !strings.Contains(refused.Message, c.says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestARepeatedKeyUnderContention(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	req := request()
	req.IdempotencyKey, req.ConversationID = "k1", "thread"
	ids := make([]string, 8)
	var clients sync.WaitGroup
	for i := range ids {
		clients.Go(func() {
			turn, _, err := s.CreateTurn(context.Background(), req)
			if err != nil {
				t.Errorf("client %d: %v", i, err)
			}
			ids[i] = turn.ID
		})
	}
	clients.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("turns %v, want one", ids)
		}
	}
}

func TestAConversationTakesOneTurnAtATime(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	req := request()
	req.ConversationID = "thread"
	turn := create(t, s, req)
	_, _, err := s.CreateTurn(ctx, req)
	wantCode(t, "a second turn", err, domain.CodeConflict)
	if !strings.Contains(domain.PublicMessage(err), turn.ID) {
		t.Errorf("conflict %q does not name the turn", err)
	}
	stranger := req
	stranger.UserID = "grace"
	_, _, err = s.CreateTurn(ctx, stranger)
	wantCode(t, "a stranger's turn", err, domain.CodeNotFound)

	finish(t, s, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnFailed, Reason: domain.EndFailed, Code: domain.CodeTimeout, Error: "no answer"})
	next := create(t, s, req)
	d, err := s.Dialogue(ctx, next.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.History) != 2 || d.History[0].Text() != req.Query || d.History[1].Text() != "[This answer failed: no answer]" {
		t.Errorf("history = %+v", d.History)
	}
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	long := strings.Repeat("x", 300)
	for field, req := range map[string]domain.TurnRequest{
		"query":           {UserID: "ada", Query: " \n"},
		"conversation_id": {UserID: "ada", Query: "?", ConversationID: long},
		"Idempotency-Key": {UserID: "ada", Query: "?", IdempotencyKey: long},
	} {
		_, _, err := s.CreateTurn(context.Background(), req)
		wantCode(t, field, err, domain.CodeInvalid)
	}
}

func TestTextThatTheDatabaseRefuses(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	req := request()
	req.Query = "What is \x00 and \xff\xfe?"
	req.Attachments = []domain.Attachment{{Name: "a\x00b", MimeType: "application/octet-stream", Data: []byte{0, 255, 254}}}
	turn := create(t, s, req)
	d, err := s.Dialogue(context.Background(), turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(turn.Query, "What is \uFFFD") || string(d.Message.Blocks[1].Data) != "\x00\xff\xfe" {
		t.Errorf("query %q, attachment %q", turn.Query, d.Message.Blocks[1].Data)
	}
	finish(t, s, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "a\x00b\xff"})
}

// However many try, one ends the turn, and every reader gets that end.
func TestATurnEndsOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	turn := create(t, s, request())
	var enders sync.WaitGroup
	answers := make([]string, 12)
	for i := range answers {
		enders.Go(func() {
			ended, err := s.FinishTurn(context.Background(), domain.TurnEnd{
				TurnID: turn.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: fmt.Sprint("answer ", i),
			})
			if err != nil {
				t.Errorf("ender %d: %v", i, err)
			}
			answers[i] = ended.Answer
		})
	}
	enders.Wait()
	for _, a := range answers {
		if a == "" || a != answers[0] {
			t.Fatalf("answers %v, want one", answers)
		}
	}
	if diff := cmp.Diff([]string{"user_message", "done"}, types(log(t, s, turn.ID))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestNothingIsWrittenAfterTheEnd(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	turn := create(t, s, request())
	c := claim(t, s, turn.ID, "m0")
	finish(t, s, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnFailed, Reason: domain.EndFailed})
	_, err := s.WriteModelCall(ctx, domain.CallWrite{Claim: c, Events: []domain.NewEvent{domain.NewPayload(domain.EventPhase, nil)}})
	wantCode(t, "write", err, domain.CodeSuperseded)
	_, err = s.ClaimModelCall(ctx, domain.ModelCall{TurnID: turn.ID, CallID: "m1"})
	wantCode(t, "claim", err, domain.CodeSuperseded)
	wantCode(t, "append", s.AppendEvents(ctx, turn.ID, domain.NewPayload(domain.EventPhase, nil)), domain.CodeSuperseded)
	wantCode(t, "end", s.EndSubject(ctx, turn.ID, domain.NewPayload(domain.EventDone, nil)), domain.CodeSuperseded)
	_, err = s.RequestCancel(ctx, turn.ID)
	wantCode(t, "cancel", err, domain.CodeConflict)
	if got := types(log(t, s, turn.ID)); len(got) != 2 {
		t.Errorf("events = %v", got)
	}
}

func TestAToolCallThatWasTakenOver(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	turn := create(t, s, request())
	c := claim(t, s, turn.ID, "m0")
	if _, err := s.CommitModelCall(ctx, domain.ModelCommit{
		CallWrite: domain.CallWrite{Claim: c}, Outcome: []byte(`{}`), Message: &domain.Message{Role: domain.RoleAssistant},
		Tools: []domain.ToolCall{{ID: "t1", Name: "dig", Status: domain.CallPending}},
	}); err != nil {
		t.Fatal(err)
	}
	first, _, err := s.ClaimToolCall(ctx, turn.ID, "t1")
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := s.ClaimToolCall(ctx, turn.ID, "t1")
	if err != nil || second.Attempt != 2 {
		t.Fatalf("second claim = %+v, %v", second, err)
	}
	first.Result, second.Result = domain.ToolResult{Text: "late"}, domain.ToolResult{Text: "in time"}
	event := domain.NewPayload(domain.EventToolResult, map[string]string{"id": "t1"})
	wantCode(t, "the first attempt", s.CommitToolCall(ctx, first, event), domain.CodeSuperseded)
	if err := s.CommitToolCall(ctx, second, event); err != nil {
		t.Fatal(err)
	}
	got, _, err := s.ClaimToolCall(ctx, turn.ID, "t1")
	if err != nil || got.Result.Text != "in time" {
		t.Errorf("outcome = %+v, %v", got.Result, err)
	}
	_, _, err = s.ClaimToolCall(ctx, turn.ID, "unknown")
	wantCode(t, "an unknown call", err, domain.CodeNotFound)
}

// A call that was claimed again is closed to its first writer at once: the log may look
// untouched, where the one that claimed it died before it could say so.
func TestAModelCallThatWasTakenOver(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pool := testkit.Postgres(t)
	s := postgres.NewStore(pool)
	turn := create(t, s, request())
	c := claim(t, s, turn.ID, "m0")
	last, err := s.FlushModelCall(ctx, domain.TextFlush{Claim: c, Open: true, Seq: c.LastSeq + 1, Type: domain.EventTextDelta, Text: "first"})
	if err != nil {
		t.Fatal(err)
	}
	c.LastSeq = last
	if _, err := pool.Exec(ctx, `update turn_calls set attempt = attempt + 1 where turn_id = $1`, turn.ID); err != nil {
		t.Fatal(err)
	}
	_, err = s.FlushModelCall(ctx, domain.TextFlush{Claim: c, Seq: last, Type: domain.EventTextDelta, From: 5, Text: "late"})
	wantCode(t, "a piece of text", err, domain.CodeSuperseded)
	write := domain.CallWrite{Claim: c, Close: &domain.ClosedBlock{Seq: last, Type: domain.EventTextDelta, Text: "firstlate", Stored: true}}
	_, err = s.WriteModelCall(ctx, write)
	wantCode(t, "the end of a block", err, domain.CodeSuperseded)
	_, err = s.CommitModelCall(ctx, domain.ModelCommit{CallWrite: write, Outcome: []byte(`{}`)})
	wantCode(t, "the outcome", err, domain.CodeSuperseded)
	wantCode(t, "the failure", s.FailModelCall(ctx, c, 1), domain.CodeSuperseded)
	if text, err := s.PartialAnswer(ctx, turn.ID); err != nil || text != "first" {
		t.Errorf("the text is %q, %v", text, err)
	}
}

// A model call's writer knows where the log ends. Where something else stands there it must not
// go on: what it has told readers would get another's number.
func TestAWriterWhoseLogMovedOn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	turn := create(t, s, request())
	c := claim(t, s, turn.ID, "m0")
	if err := s.AppendEvents(ctx, turn.ID, domain.NewPayload(domain.EventPhase, map[string]string{"label": "Between"})); err != nil {
		t.Fatal(err)
	}
	_, err := s.FlushModelCall(ctx, domain.TextFlush{Claim: c, Open: true, Seq: c.LastSeq + 1, Type: domain.EventTextDelta, Text: "text"})
	wantCode(t, "a block's beginning", err, domain.CodeSuperseded)
	_, err = s.CommitModelCall(ctx, domain.ModelCommit{CallWrite: domain.CallWrite{Claim: c,
		Close: &domain.ClosedBlock{Seq: c.LastSeq + 1, Type: domain.EventTextDelta, Text: "text"}}, Outcome: []byte(`{}`)})
	wantCode(t, "the outcome", err, domain.CodeSuperseded)
}

func TestSweepersSeeWhatWasMissed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	unstarted, launched, ended := create(t, s, request()), create(t, s, request()), create(t, s, request())
	if err := s.MarkLaunched(ctx, launched.ID); err != nil {
		t.Fatal(err)
	}
	finish(t, s, domain.TurnEnd{TurnID: ended.ID, Status: domain.TurnFailed, Reason: domain.EndFailed})
	ids := func(turns []domain.Turn, err error) (list []string) {
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range turns {
			list = append(list, turn.ID)
		}
		return list
	}
	if diff := cmp.Diff([]string{unstarted.ID}, ids(s.UnstartedTurns(ctx, 0, 10))); diff != "" {
		t.Errorf("unstarted (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{unstarted.ID, launched.ID}, ids(s.OpenTurns(ctx, 0, "", 10))); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{launched.ID}, ids(s.OpenTurns(ctx, 0, unstarted.ID, 10))); diff != "" {
		t.Errorf("open, second page (-want +got):\n%s", diff)
	}
	if young := ids(s.UnstartedTurns(ctx, time.Hour, 10)); len(young) > 0 {
		t.Errorf("turns %v are not that old", young)
	}
}

func TestAnUnknownLog(t *testing.T) {
	t.Parallel()
	for _, err := range newStore(t).Follow(context.Background(), "nobody", domain.Cursor{}) {
		wantCode(t, "follow", err, domain.CodeNotFound)
	}
}

func TestAReaderThatHasTheEndIsDone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	turn := create(t, s, request())
	finish(t, s, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnFailed, Reason: domain.EndFailed})
	for e, err := range s.Follow(context.Background(), turn.ID, domain.Cursor{Seq: 2}) {
		t.Errorf("got %v, %v; want nothing", e, err)
	}
}

func TestReadersSurviveRetention(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	turn := create(t, s, request())
	finish(t, s, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "Here."})
	now := time.Now().UTC()
	if dropped, err := s.DropEventsBefore(ctx, now); err != nil || len(dropped) > 0 {
		t.Fatalf("dropped %v, %v; want nothing of this month", dropped, err)
	}
	nextMonth := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	if dropped, err := s.DropEventsBefore(ctx, nextMonth); err != nil || len(dropped) != 1 {
		t.Fatalf("dropped %v, %v; want this month", dropped, err)
	}
	events := log(t, s, turn.ID)
	if diff := cmp.Diff([]string{"trimmed", "done"}, types(events)); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	var told struct{ Events int64 }
	if err := json.Unmarshal(events[0].Payload, &told); err != nil || told.Events != events[1].Cursor.Seq-1 {
		t.Errorf("the reader is told of %d lost events before number %d, %v", told.Events, events[1].Cursor.Seq, err)
	}
	// A reader that has them already is told of nothing.
	for e, err := range s.Follow(ctx, turn.ID, events[0].Cursor) {
		if err != nil || e.Type != domain.EventDone {
			t.Errorf("got %v, %v; want the end alone", e, err)
		}
	}
}

func TestRowsOfTheDefaultPartitionMove(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pool := testkit.Postgres(t)
	s := postgres.NewStore(pool)
	now := time.Now().UTC()
	nextMonth := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := s.DropEventsBefore(ctx, nextMonth); err != nil { // this month has no partition now
		t.Fatal(err)
	}
	turn := create(t, s, request())
	if err := s.EnsurePartitions(ctx, now); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := pool.QueryRow(ctx, "select count(*) from events_default").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows are left in the default partition, %v", left, err)
	}
	finish(t, s, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnFailed, Reason: domain.EndFailed})
	if got := types(log(t, s, turn.ID)); len(got) != 2 {
		t.Errorf("events = %v", got)
	}
}
