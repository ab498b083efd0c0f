package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestConversations(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/conversations", "", 200, `"mine"`},
		{"GET", "/projects/p1/conversations", "", 200, `[{"id":"c1"`},
		{"GET", "/projects/p1/conversations?limit=0", "", 400, "limit: must be a number from 1 to 200"},
		{"GET", "/projects/p1/conversations?cursor=x", "", 400, "cursor: is not a next_cursor"},
		{"POST", "/conversations", `{"title":" New "}`, 201, `"title":"New"`},
		{"POST", "/conversations", ``, 201, `"title":""`},
		{"POST", "/projects/p1/conversations", `{"title":"` + strings.Repeat("x", 201) + `"}`, 400, "title: must be"},
		{"GET", "/conversations/hers", "", 404, "there is no conversation"},
		{"GET", "/conversations/c1", "", 404, "there is no conversation"},
		{"GET", "/projects/p1/conversations/elsewhere", "", 404, "there is no conversation"},
		{"GET", "/projects/none/conversations/c1", "", 404, "there is no project"},
		{"GET", "/projects/p1/conversations/search?q=c2", "", 200, `"conversation_id":"c2"`},
		{"GET", "/conversations/search?q=", "", 400, "q: must have"},
		{"PUT", "/projects/p1/conversations/c1", `{}`, 400, "give a title or messages"},
		{"PUT", "/projects/p1/conversations/c1", `{"title":"Other"}`, 200, `{"ok":true}`},
		{"GET", "/projects/p1/conversations/c1", "", 200, `"title":"Other"`},
		{"DELETE", "/conversations/hers", "", 404, "there is no conversation"},
		{"DELETE", "/projects/p1/conversations/c2", "", 200, `{"ok":true}`},
		{"POST", "/projects/p1/conversations/c1/branch", `{}`, 400, "message_id: names"},
		{"POST", "/projects/p1/conversations/c1/branch", `{"message_id":"none"}`, 404, "no message"},
		{"POST", "/projects/p1/conversations/c1/branch", `{"message_id":"m2"}`, 201, `"title":"Other"`},
		{"POST", "/projects/p1/conversations/c1/retry", `{"model":"big"}`, 202, `{"ok":true,"turn_id":"again"}`},
		{"GET", "/projects/p1/usage?from=2026-11-01&to=2026-11-30", "", 200, `"from":"2026-11-01"`},
		{"GET", "/projects/p1/usage?from=2026-12-01&to=2026-11-30", "", 400, "must not be after"},
		{"DELETE", "/projects/p1", "", 200, `"canceled_turns":1`},
	} {
		if resp, text := f.call(t, c.method, c.path, c.body); resp.StatusCode != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %s %.60s: %d %s", c.method, c.path, c.body, resp.StatusCode, text)
		}
	}
	if len(f.talks.again) != 1 || f.talks.again[0].Provider.Model != "big" || f.talks.again[0].UserID != domain.OwnerID {
		t.Errorf("asked again: %+v", f.talks.again)
	}
}

func TestAConversationAsClientsKnowIt(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.expect(t, "conversation", "GET", "/projects/p1/conversations/c1", "")
	f.expect(t, "conversation_waiting", "GET", "/conversations/mine", "")
	f.expect(t, "conversation_export", "GET", "/projects/p1/conversations/c1/export", "")
	resp, _ := f.call(t, "GET", "/projects/p1/conversations/c1/export?format=json", "")
	if got := resp.Header.Get("Content-Disposition"); got != "attachment; filename*=UTF-8''About-c1.json" {
		t.Errorf("the file is %s", got)
	}
	resp, text := f.call(t, "GET", "/projects/p1/conversations/c1/messages/m1/attachments/0", "")
	if resp.StatusCode != 200 || text != "abc" || resp.Header.Get("Content-Type") != "image/png" || !strings.HasPrefix(resp.Header.Get("Content-Disposition"), "inline") {
		t.Errorf("attachment: %d %q %v", resp.StatusCode, text, resp.Header)
	}
	if resp, _ := f.call(t, "GET", "/projects/p1/conversations/c1/messages/m1/attachments/1", ""); resp.StatusCode != 404 {
		t.Errorf("a file that is not there: %d", resp.StatusCode)
	}
}

// Messages can be left out at the end, up to an answer, and nothing else be done to them.
func TestMessagesAreCutBack(t *testing.T) {
	t.Parallel()
	f := start(t)
	put := func(messages string) (int, string) {
		resp, text := f.call(t, "PUT", "/projects/p1/conversations/c1", `{"messages":`+messages+`}`)
		return resp.StatusCode, text
	}
	first := `{"role":"user","text":"Where is it?"}`
	answer := `{"role":"assistant","text":"In main [app:v1:main.go:3].","chain":[]}`
	for _, wrong := range []string{
		`[` + first + `]`,
		`[` + first + `,{"role":"assistant","text":"In another."}]`,
		`[` + answer + `]`,
	} {
		if status, text := put(wrong); status != 400 || !strings.Contains(text, "messages: ") {
			t.Errorf("%s: %d %s", wrong, status, text)
		}
	}
	if status, text := put(`[` + first + `,` + answer + `,{"role":"user","text":"x"},{"role":"assistant","text":"y"}]`); status != 200 || f.talks.talks["c1"].HeadID != "m4" {
		t.Errorf("as many as there are: %d %s", status, text)
	}
	if status, text := put(`[` + first + `,` + answer + `]`); status != 200 || f.talks.talks["c1"].HeadID != "m2" {
		t.Errorf("cut back: %d %s, head %s", status, text, f.talks.talks["c1"].HeadID)
	}
	if status, _ := put(`[]`); status != 200 || f.talks.talks["c1"].HeadID != "" {
		t.Errorf("emptied: %d", status)
	}
}

func TestConversationsInPages(t *testing.T) {
	t.Parallel()
	f := start(t)
	var seen []string
	for path := "/projects/p1/conversations?limit=1"; ; {
		_, text := f.call(t, "GET", path, "")
		var page struct {
			Conversations []domain.Conversation `json:"conversations"`
			NextCursor    string                `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(text), &page); err != nil || len(page.Conversations) != 1 || len(seen) > 2 {
			t.Fatalf("%s: %v, seen %v", text, err, seen)
		}
		seen = append(seen, page.Conversations[0].ID)
		if page.NextCursor == "" {
			break
		}
		path = "/projects/p1/conversations?limit=1&cursor=" + page.NextCursor
	}
	if diff := cmp.Diff([]string{"c1", "c2"}, seen); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func TestAProjectsFeedIsServed(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.talks.feed = []domain.FeedEvent{
		{Event: domain.Event{Type: domain.EventPresence, Payload: json.RawMessage(`{"users":[]}`)}},
		{ID: "3_3:0", Event: domain.Event{Type: domain.EventLock, Payload: json.RawMessage(`{"by":"Ada","user_id":"u","conv_id":"c","turn_id":"t"}`)}},
	}
	_, text := f.call(t, "GET", "/projects/p1/events?conv=c1", "", "Last-Event-ID: 2")
	want := "data: {\"type\":\"presence\",\"users\":[]}\n\nid: 3_3:0\ndata: {\"type\":\"lock\",\"by\":\"Ada\",\"user_id\":\"u\",\"conv_id\":\"c\",\"turn_id\":\"t\"}\n\n"
	if text != want {
		t.Errorf("got %q, want %q", text, want)
	}
	if q := f.talks.queries[0]; q.After != "2" || q.Visitor != (domain.Visitor{UserID: domain.OwnerID, Name: domain.OwnerID, ConvID: "c1"}) || q.ProjectID != "p1" {
		t.Errorf("query %+v", q)
	}
	for _, conv := range []string{"gone", "mine", "hers", "elsewhere"} { // none of the project's
		if resp, got := f.call(t, "GET", "/projects/p1/events?conv="+conv, ""); resp.StatusCode != 200 || got != want {
			t.Errorf("with conv=%s: %d %s", conv, resp.StatusCode, got)
		}
		if q := f.talks.queries[len(f.talks.queries)-1]; q.Visitor.UserID != domain.OwnerID || q.Visitor.ConvID != "" {
			t.Errorf("with conv=%s the others are told %+v", conv, q.Visitor)
		}
	}
	for path, status := range map[string]int{"/projects/p1/events?after=x": 400, "/projects/none/events": 404} {
		if resp, _ := f.call(t, "GET", path, ""); resp.StatusCode != status {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}

func TestAProjectsTurn(t *testing.T) {
	t.Parallel()
	f := start(t)
	resp, text := f.call(t, "POST", "/projects/p1/query/stream", `{"query":"q","conversation_id":"c1"}`)
	if resp.StatusCode != 200 || text != `{"ok":true,"turn_id":"turn-1"}`+"\n" || resp.Header.Get("X-Turn-Id") != "turn-1" {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	if req := f.engine.requests[0]; req.ProjectID != "p1" || req.ConversationID != "c1" || req.UserName != domain.OwnerID {
		t.Errorf("request %+v", req)
	}
	f.engine.failing = &domain.Error{Code: domain.CodeConflict, Message: "chat is locked by Ada", Holder: "turn-1"}
	resp, text = f.call(t, "POST", "/projects/p1/query/stream", `{"query":"q","conversation_id":"c1"}`)
	if resp.StatusCode != 409 || !strings.Contains(text, "chat is locked by Ada") || !strings.Contains(text, `"holder":"turn-1"`) {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
}
