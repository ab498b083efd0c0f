package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
)

const (
	manyAgents     = 1000
	agentMemory    = 100.0 // KB of the API's memory for a connected agent
	agentsSettle   = 10 * time.Second
	connectAtOnce  = 64 // while they join; when they come back it is all of them
	bareConnection = "as many event streams of a bare server"
)

// simulated is an agent that only connects.
type simulated struct {
	name, machine, token string
}

// manyAgents measures a thousand agents that are connected, and then come back at once.
func (b *bench) manyAgents(ctx context.Context, m *machineSite) ([]Row, error) {
	n := b.samples(manyAgents)
	b.say(fmt.Sprintf("%d agents connect", n))
	token, err := m.installToken(ctx)
	if err != nil {
		return nil, err
	}
	agents := make([]*simulated, n)
	for i := range agents {
		agents[i] = &simulated{name: fmt.Sprintf("simulated-%d", i), machine: domain.NewID(), token: token}
	}
	before, err := resident(m.process.Process.Pid)
	if err != nil {
		return nil, err
	}
	_, hangUp, err := connectAll(ctx, m.address, agents, connectAtOnce)
	if err != nil {
		return nil, err
	}
	defer hangUp()
	select {
	case <-time.After(agentsSettle):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	after, err := resident(m.process.Process.Pid)
	if err != nil {
		return nil, err
	}
	memory := Row{Name: fmt.Sprintf("memory of the API for each of %d connected agents", n), Unit: "KB", Ours: max(0, after-before) * 1000 / float64(n), Limit: agentMemory}
	hangUp()
	b.say("all of them come back at once")
	returned, err := storm(ctx, m, agents)
	return append([]Row{memory}, returned...), err
}

// storm has all agents connect at once, with what they had got, and beside it as many streams of
// a server that does nothing else.
func storm(ctx context.Context, m *machineSite, agents []*simulated) ([]Row, error) {
	took, hangUp, err := connectAll(ctx, m.address, agents, len(agents))
	if err != nil {
		return nil, err
	}
	defer hangUp()
	answered, err := m.execute(ctx, "true")
	if err != nil {
		return nil, err
	}
	address, stop, err := bareStreams()
	if err != nil {
		return nil, err
	}
	defer stop()
	bare, done, err := connectAll(ctx, address, agents, len(agents))
	if err != nil {
		return nil, err
	}
	done()
	return []Row{
		compare(fmt.Sprintf("%d agents come back at once: each is welcomed", len(agents)), took, bare, bareConnection, 0),
		{Name: "and a command right behind them", Unit: "ms", Ours: float64(answered) / float64(time.Millisecond)},
	}, nil
}

// bareStreams serves event streams that welcome whoever comes.
func bareStreams() (address string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := sse.NewWriter(w, time.Minute)
		if err != nil {
			return
		}
		out.Event("", []byte(`{"type":"hello_ack"}`))
		_ = out.Flush()
		<-r.Context().Done()
	})}
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// connectAll connects agents, so many at once, and gives how long each took to be welcomed. They
// stay until hangUp.
func connectAll(ctx context.Context, address string, agents []*simulated, atOnce int) (took times, hangUp func(), err error) {
	living, end := context.WithCancel(ctx)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var streams sync.WaitGroup
	hangUp = func() { end(); streams.Wait() }
	took = make(times, len(agents))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, a := range agents {
		group.Go(func() (err error) {
			took[i], err = a.connect(living, client, address, &streams)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		hangUp()
		return nil, nil, err
	}
	return took, hangUp, nil
}

// connect opens an agent's event stream, and reads on behind the welcome.
func (a *simulated) connect(ctx context.Context, client *http.Client, address string, streams *sync.WaitGroup) (time.Duration, error) {
	query := url.Values{
		agentwire.ParamHostname: {a.name}, agentwire.ParamMachine: {a.machine}, agentwire.ParamVersion: {"simulated"},
		agentwire.ParamCapabilities: {strings.Join([]string{string(agentwire.Ack), string(agentwire.Bytes), string(agentwire.Batch)}, ",")},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/agent/events?"+query.Encode(), nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	started := time.Now()
	response, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return 0, errors.New("an agent is answered " + response.Status)
	}
	events := sse.NewReader(response.Body, 1<<20)
	welcome, err := events.Next()
	if err != nil {
		response.Body.Close()
		return 0, fmt.Errorf("wait for the welcome: %w", err)
	}
	took := time.Since(started)
	var said agentwire.Message
	if err := json.Unmarshal(welcome.Data, &said); err != nil {
		response.Body.Close()
		return 0, fmt.Errorf("read the welcome: %w", err)
	}
	if said.AgentToken != "" {
		a.token = said.AgentToken
	}
	streams.Go(func() {
		defer response.Body.Close()
		for {
			if _, err := events.Next(); err != nil {
				return // hung up
			}
		}
	})
	return took, nil
}
