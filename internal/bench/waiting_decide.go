package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
)

// decision measures decisions one by one, on the turns that have waited longest: the worker
// has forgotten these, and replays them.
func (b *bench) decision(ctx context.Context, w *waitingHouse) ([]Row, error) {
	var goesOn, result, end, bare times
	for _, turn := range w.take(b.samples(60)) {
		d, err := w.decideOne(ctx, turn)
		if err != nil {
			return nil, err
		}
		goesOn, result, end = append(goesOn, d.goesOn), append(result, d.result), append(end, d.end)
		took, err := w.bare.wakeOne(ctx, w.bare.take(1)[0])
		if err != nil {
			return nil, err
		}
		bare = append(bare, took)
	}
	var rows []Row
	for _, m := range []struct {
		name string
		took times
	}{{"the turn is locked again", goesOn}, {"the action's result", result}, {"the turn's end", end}} {
		row := compare("from a decision to "+m.name, m.took, bare, "a bare workflow: a signal, one activity, the end", 0)
		row.Ratio, row.Limit, row.LimitP95 = 0, decisionLimit, decisionLimit
		rows = append(rows, row)
	}
	return rows, nil
}

// decided is how long things took from a request that decides.
type decided struct{ goesOn, result, end time.Duration }

func (w *waitingHouse) decideOne(ctx context.Context, t waitingTurn) (d decided, err error) {
	response, err := w.call(ctx, http.MethodGet, "/turns/"+t.turn+"/events", nil)
	if err != nil {
		return d, err
	}
	defer response.Body.Close()
	events := sse.NewReader(response.Body, 1<<20)
	if _, err := until(events, domain.EventUnlock); err != nil {
		return d, err
	}
	started := time.Now()
	answered := make(chan error, 1)
	go func() { answered <- w.decide(ctx, t) }()
	for _, at := range []struct {
		event domain.EventType
		took  *time.Duration
	}{{domain.EventLock, &d.goesOn}, {domain.EventToolResult, &d.result}, {domain.EventDone, &d.end}} {
		came, err := until(events, at.event)
		if err != nil {
			return d, errors.Join(err, <-answered)
		}
		*at.took = came.Sub(started)
	}
	return d, <-answered
}

// until reads a stream up to an event of a type, and gives when it came.
func until(events *sse.Reader, kind domain.EventType) (time.Time, error) {
	for {
		e, err := events.Next()
		if err != nil {
			return time.Time{}, fmt.Errorf("wait for %s: %w", kind, err)
		}
		if strings.HasPrefix(string(e.Data), `{"type":"`+string(kind)+`"`) {
			return time.Now(), nil
		}
	}
}

// decide approves what a turn waits for.
func (w *waitingHouse) decide(ctx context.Context, t waitingTurn) error {
	body, err := json.Marshal(map[string]any{"decisions": []any{map[string]any{
		"id": t.action, "approved": true, "nonce": t.nonce, "hash": t.hash,
	}}})
	if err != nil {
		return err
	}
	path := w.address + "/projects/" + w.project + "/conversations/" + t.conversation + "/confirm-action/resume"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+ownerToken)
	response, err := w.http.Do(req)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("a decision is answered %s: %s", response.Status, answer)
	}
	return err
}
