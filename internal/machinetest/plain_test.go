package machinetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
)

// plain is an agent that speaks the plain wire alone.
type plain struct {
	s       *site
	address string
	name    string
	token   string
	id      string

	messages chan agentwire.Message // but the greetings
	leave    context.CancelFunc
	left     sync.WaitGroup
}

// plain makes a plain agent, and waits until it has joined.
func (s *site) plain(address string) *plain {
	s.t.Helper()
	p := &plain{s: s, address: address, name: "plain-" + domain.NewID(), token: s.install, messages: make(chan agentwire.Message, 100)}
	s.t.Cleanup(p.part)
	p.come()
	return p
}

// part ends the connection.
func (p *plain) part() {
	p.leave()
	p.left.Wait()
}

// come connects, and waits for the greeting.
func (p *plain) come() {
	p.s.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	p.leave = leave
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+"/agent/events?hostname="+p.name, nil)
	if err != nil {
		p.s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.s.t.Fatal(err)
	}
	events := sse.NewReader(resp.Body, 1<<20)
	next := func() (m agentwire.Message, err error) {
		e, err := events.Next()
		if err == nil {
			err = json.Unmarshal(e.Data, &m)
		}
		return m, err
	}
	greeting, err := next()
	if err != nil || resp.StatusCode != http.StatusOK {
		p.s.t.Fatalf("status %d, %v", resp.StatusCode, err)
	}
	if greeting.Type == agentwire.Registered {
		p.token = greeting.AgentToken
	}
	p.id = greeting.AgentID
	p.left.Go(func() {
		defer resp.Body.Close()
		for {
			m, err := next()
			if err != nil {
				return
			}
			p.messages <- m
		}
	})
	p.left.Go(func() { p.keepPinging(ctx) })
}

// keepPinging shows that the agent is there, as the wire wants it.
func (p *plain) keepPinging(ctx context.Context) {
	beat := time.NewTicker(agentwire.PingEvery)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			_, _ = p.send(ctx, "/agent/ping", map[string]any{}) // the next one may succeed
		}
	}
}

func (p *plain) post(path string, body any) int {
	p.s.t.Helper()
	status, err := p.send(context.Background(), path, body)
	if err != nil {
		p.s.t.Fatal(err)
	}
	return status
}

func (p *plain) send(ctx context.Context, path string, body any) (status int, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.address+path, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// order orders a command that the agent is sent.
func (p *plain) order(limit time.Duration) *job {
	p.s.t.Helper()
	j := &job{s: p.s, m: &machine{id: p.id}, id: domain.NewID(), line: "true", limit: limit}
	j.order()
	select {
	case m := <-p.messages:
		if m.Type != agentwire.Execute || m.RequestID != j.id {
			p.s.t.Fatalf("the agent is sent %+v", m)
		}
	case <-time.After(patience):
		p.s.t.Fatal("the agent is sent nothing")
	}
	return j
}

// A plain agent answers as the contract has it. What it was sent and does not answer for is
// unknown at its deadline, and is not sent again, nor to anybody else.
func TestPlainAgent(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	p := s.plain(s.api.address)
	silent := p.order(time.Second)

	told := p.order(10 * time.Second)
	code := 3
	for path, body := range map[string]any{
		"/agent/output": map[string]any{"request_id": told.id, "stream": "stdout", "line": "a line"}, "/agent/ping": map[string]any{},
	} {
		if status := p.post(path, body); status != http.StatusOK {
			t.Errorf("%s answers %d", path, status)
		}
	}
	result := map[string]any{"request_id": told.id, "stdout": "a line\nand another\n", "stderr": "oh\n", "exit_code": code}
	for range 2 {
		if status := p.post(resultPath, result); status != http.StatusOK {
			t.Errorf("a result is answered by %d", status)
		}
	}
	c := told.over()
	if c.Status != domain.CommandDone || *c.ExitCode != code || string(c.Stdout.Head) != "a line\nand another\n" || string(c.Stderr.Head) != "oh\n" {
		t.Errorf("the command is %+v", c)
	}
	if logged := told.logged(); string(logged["stdout"]) != "a line\nand another\n" || string(logged["stderr"]) != "oh\n" {
		t.Errorf("its log has %q", logged)
	}

	p.part()
	p.come()
	since := time.Now()
	c = silent.over()
	if c.Status != domain.CommandUnknown || c.Error == "" || time.Since(since) > time.Minute {
		t.Errorf("after %s the command without a result is %s: %q", time.Since(since), c.Status, c.Error)
	}
	silent.known(c)
	if status := p.post(resultPath, map[string]any{"request_id": silent.id, "stdout": "late\n", "stderr": "", "exit_code": 0}); status != http.StatusOK {
		t.Errorf("a late result is answered by %d", status)
	}
	if c = silent.over(); c.Status != domain.CommandUnknown || c.Late == nil || c.Late.Status != domain.CommandDone || string(c.Stdout.Head) != "late\n" {
		t.Errorf("the command with a late result is %+v", c)
	}
	select {
	case m := <-p.messages:
		t.Errorf("the agent is sent %+v", m)
	default:
	}
}
