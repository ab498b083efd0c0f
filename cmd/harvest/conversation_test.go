package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// modelServer speaks the chat completions of OpenAI. It answers "Answer N." and remembers
// what it was asked; a question with "wait" in it is answered once it is released.
type modelServer struct {
	address string
	release chan struct{}

	mu    sync.Mutex
	asked []string // the messages of each request
}

func newModelServer(t *testing.T) *modelServer {
	t.Helper()
	m := &modelServer{release: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []json.RawMessage `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) == 0 {
			http.Error(w, `{"error":{"message":"no messages"}}`, http.StatusBadRequest)
			return
		}
		n := m.note(body.Messages)
		if last := body.Messages[len(body.Messages)-1]; strings.Contains(string(last), "wait") {
			select {
			case <-m.release:
			case <-r.Context().Done():
				return
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Answer %d.\"}}]}\n\n", n)
		fmt.Fprint(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	m.address = server.URL + "/v1"
	return m
}

func (m *modelServer) note(messages []json.RawMessage) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, message := range messages {
		all = append(all, string(message))
	}
	m.asked = append(m.asked, strings.Join(all, "\n"))
	return len(m.asked)
}

func (m *modelServer) requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.asked...)
}

func (m *modelServer) toml() string {
	return fmt.Sprintf("[[llm]]\nprovider = \"openai-compatible\"\nmodel = \"m\"\nbase_url = %q\n", m.address)
}

// post asks as a client of its own, and gives status, turn and body.
func (r *rig) post(t *testing.T, key, body string) (status int, turnID, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.base+"/query", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	request.Header.Set("Idempotency-Key", key)
	apart := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	answer, err := apart.Do(request)
	if err != nil {
		t.Error(err)
		return 0, "", ""
	}
	defer answer.Body.Close()
	var whole strings.Builder
	if err := answer.Write(&whole); err != nil {
		t.Error(err)
	}
	return answer.StatusCode, answer.Header.Get("X-Turn-Id"), whole.String()
}

// Clients that send one query with one key at the same time get one turn; another query
// under that key is refused.
func TestOneKeyStartsOneTurn(t *testing.T) {
	t.Parallel()
	model := newModelServer(t)
	r := newRig(t, oneRound, model.toml())
	const body = `{"query":"Where is Greet?","conversation_id":"thread"}`
	var clients sync.WaitGroup
	turns := make([]string, 8)
	for i := range turns {
		clients.Go(func() {
			status, id, text := r.post(t, "one key", body)
			if turns[i] = id; status != http.StatusOK || !strings.Contains(text, "Answer 1.") {
				t.Errorf("client %d: %d %s", i, status, text)
			}
		})
	}
	clients.Wait()
	for _, id := range turns {
		if id != turns[0] || id == "" {
			t.Errorf("the clients have the turns %v", turns)
			break
		}
	}
	if n := len(model.requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	var count int
	if err := r.pool.QueryRow(t.Context(), "select count(*) from turns").Scan(&count); err != nil || count != 1 {
		t.Errorf("%d turns are stored, %v", count, err)
	}
	status, _, text := r.post(t, "one key", `{"query":"Where is Twice?","conversation_id":"thread"}`)
	if status != http.StatusUnprocessableEntity || !strings.Contains(text, "choose a new key") {
		t.Errorf("another query: %d %s", status, text)
	}
}

// The turns of a conversation come one after the other, and each knows those before it.
func TestConversation(t *testing.T) {
	t.Parallel()
	model := newModelServer(t)
	r := newRig(t, oneRound, model.toml())
	ask := func(query string) domain.Turn {
		_, turn := r.ask(t, client.Query{Query: query, ConversationID: "thread"})
		return turn
	}
	if turn := ask("Where is `Greet` defined?"); turn.Status != domain.TurnDone {
		t.Fatalf("the first turn: %+v", turn)
	}

	id, events, err := r.api.Ask(t.Context(), client.Query{Query: "Now wait: who calls `Twice`?", ConversationID: "thread"}, domain.NewID())
	if err != nil {
		t.Fatal(err)
	}
	status, _, text := r.post(t, domain.NewID(), `{"query":"And me?","conversation_id":"thread"}`)
	if status != http.StatusConflict || !strings.Contains(text, "chat is locked") || !strings.Contains(text, id) {
		t.Errorf("beside a running turn: %d %s", status, text)
	}
	if status, _, text := r.post(t, domain.NewID(), `{"query":"And here, what is `+"`Twice`"+`?","conversation_id":"another thread"}`); status != http.StatusOK {
		t.Errorf("in another conversation: %d %s", status, text)
	}
	close(model.release)
	for _, err := range events {
		if err != nil {
			t.Fatal(err)
		}
	}
	second := ""
	for _, request := range model.requests() {
		if strings.Contains(request, "Now wait") && strings.Contains(request, "Harvest") { // a round, not a classification
			second = request
		}
	}
	for _, part := range []string{"Where is `Greet` defined?", "Answer 1.", "Now wait"} {
		_, after, ok := strings.Cut(second, part) // in this order
		if !ok {
			t.Errorf("the second turn was not told %q:\n%s", part, second)
		}
		second = after
	}
	if turn := ask("Is `Greet` tested?"); turn.Status != domain.TurnDone {
		t.Errorf("after it: %+v", turn)
	}
}
