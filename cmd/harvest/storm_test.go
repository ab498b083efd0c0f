package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// phone is a connected agent without anything that would count as the server's memory.
type phone struct {
	token string
	conn  net.Conn
}

// dial opens the event stream and reads up to the greeting.
func (p *phone) dial(base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return err
	}
	if p.conn, err = net.DialTimeout("tcp", u.Host, time.Minute); err != nil {
		return err
	}
	_ = p.conn.SetDeadline(time.Now().Add(patience))
	_, err = fmt.Fprintf(p.conn, "GET /agent/events?hostname=box&capabilities=ack,bytes,batch,cancel,env&version=1 HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", u.Host, p.token)
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(p.conn, 1024)
	for {
		line, err := in.ReadString('\n')
		switch {
		case err != nil:
			return fmt.Errorf("no greeting: %w", err)
		case strings.HasPrefix(line, "HTTP/1.1") && !strings.Contains(line, "200"):
			return fmt.Errorf("refused: %s", line)
		case strings.Contains(line, `"hello_ack"`):
			return nil
		}
	}
}

// A thousand agents are connected, take little memory each, and all come back when their
// connections break at once. Meanwhile people are served.
func TestThousandAgents(t *testing.T) {
	r := newRig(t, upgradeScript, scriptedModel)
	group, err := r.store.CreateGroup(t.Context(), "crew", "")
	if err != nil {
		t.Fatal(err)
	}
	project, err := r.store.CreateProject(t.Context(), domain.Project{Name: "yard", GroupID: group.ID, CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	const agents = 1000
	phones := make([]*phone, agents)
	for i := range phones {
		token, hash := domain.NewMachineToken(domain.AgentTokenPrefix)
		phones[i] = &phone{token: token}
		if _, err := r.pool.Exec(t.Context(), "insert into agents (id, project_id, hostname, token_hash) values ($1, $2, 'box', $3)", domain.NewID(), project.ID, hash); err != nil {
			t.Fatal(err)
		}
	}
	before := inUse()
	first := storm(t, phones, r.base)
	each := (inUse() - before) / agents
	if each > 100<<10 {
		t.Errorf("a connected agent takes %d bytes", each)
	}
	for _, p := range phones {
		p.conn.Close()
	}
	slowest := make(chan time.Duration)
	over := make(chan struct{})
	go func() { slowest <- r.serving(t, over) }()
	second := storm(t, phones, r.base)
	close(over)
	t.Logf("%d agents connect within %s, at %d bytes each; all of them again within %s, while a person waits %s at most",
		agents, first.Round(time.Millisecond), each, second.Round(time.Millisecond), (<-slowest).Round(time.Millisecond))
	var online int
	err = r.pool.QueryRow(t.Context(), "select count(*) from agent_connections").Scan(&online)
	if err != nil || online != agents {
		t.Errorf("%d are online, %v", online, err)
	}
	for _, p := range phones {
		p.conn.Close()
	}
}

// storm connects all at once, and gives how long it takes until the last is greeted.
func storm(t *testing.T, phones []*phone, base string) time.Duration {
	t.Helper()
	begun := time.Now()
	var group sync.WaitGroup
	for _, p := range phones {
		group.Go(func() {
			if err := p.dial(base); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	return time.Since(begun)
}

// serving asks as a person does until it is over, and gives the longest wait.
func (r *rig) serving(t *testing.T, over <-chan struct{}) (longest time.Duration) {
	for {
		select {
		case <-over:
			return longest
		default:
		}
		begun := time.Now()
		if status, text := r.bearer(t, r.token, http.MethodGet, "/projects", ""); status != http.StatusOK {
			t.Errorf("a person gets %d %s", status, text)
		}
		longest = max(longest, time.Since(begun))
	}
}

func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapInuse + s.StackInuse)
}
