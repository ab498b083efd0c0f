package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
)

const (
	firstByteP50 = 5.0 // milliseconds
	firstByteP95 = 25.0
	manyReaders  = 200
)

// request is the body of a query; nil for none.
type request struct {
	Query string `json:"query"`
}

func (r *request) build(ctx context.Context, method, url string) (*http.Request, error) {
	var body io.Reader
	if r != nil {
		text, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+ownerToken)
	return req, nil
}

// firstByte measures the time from the model's first byte to the event at each reader.
func (b *bench) firstByte(ctx context.Context, h *house) ([]Row, error) {
	reference, err := notifyTrip(ctx, h, b.samples(200))
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, m := range []struct{ readers, turns int }{{1, b.samples(60)}, {manyReaders, b.samples(20)}} {
		var took times
		for range m.turns {
			found, err := h.watched(ctx, m.readers)
			if err != nil {
				return nil, err
			}
			took = append(took, found...)
		}
		rows = append(rows, Row{
			Name: "first byte to event, " + strconv.Itoa(m.readers) + " readers, " + layoutName(h.split), Unit: "ms",
			Ours: took.at(50), OursP95: took.at(95), Bare: reference.at(50), BareP95: reference.at(95),
			Reference: "a pg_notify round trip", Limit: firstByteP50, LimitP95: firstByteP95,
		})
	}
	return rows, nil
}

// watched runs a turn with so many readers and gives how long the first piece of text took
// to each of them.
func (h *house) watched(ctx context.Context, readers int) (times, error) {
	key := domain.NewID()
	gate := h.model.watch(key, true)
	gate.rest = make(chan struct{})
	turn, err := h.engine.StartTurn(ctx, domain.TurnRequest{UserID: "owner", Query: query(key, 0)})
	if err != nil {
		return nil, err
	}
	arrived := make([]time.Time, readers)
	var reading atomic.Int32
	all := make(chan struct{})
	var group errgroup.Group
	for i := range readers {
		group.Go(func() error {
			response, err := h.call(ctx, "GET", "/turns/"+turn.ID+"/events", nil)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			arrived[i], err = untilText(response.Body, func() {
				if reading.Add(1) == int32(readers) {
					close(all)
				}
			})
			return err
		})
	}
	select {
	case <-all:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	<-gate.called
	close(gate.open)
	err = group.Wait()
	close(gate.rest)
	if err != nil {
		return nil, err
	}
	if _, err := h.engine.WaitTurn(ctx, turn.ID); err != nil {
		return nil, err
	}
	took := make(times, readers)
	for i, at := range arrived {
		took[i] = at.Sub(gate.first)
	}
	return took, nil
}

// untilText reads a stream until the first piece of text; begun is called at its first event.
func untilText(body io.Reader, begun func()) (time.Time, error) {
	events := sse.NewReader(body, 1<<20)
	for n := 0; ; n++ {
		event, err := events.Next()
		if err != nil {
			return time.Time{}, fmt.Errorf("read events: %w", err)
		}
		if n == 0 {
			begun()
		}
		if strings.Contains(string(event.Data), `"type":"text_delta"`) {
			return time.Now(), nil
		}
	}
}

// notifyTrip measures how long a notification takes from one connection to another.
func notifyTrip(ctx context.Context, h *house, n int) (times, error) {
	config := h.front.pool.Config().ConnConfig.Copy()
	config.Tracer = nil
	listener, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer listener.Close(ctx)
	sender, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer sender.Close(ctx)
	if _, err := listener.Exec(ctx, "listen bench_trip"); err != nil {
		return nil, err
	}
	var took times
	for range n {
		started := time.Now()
		heard := make(chan error, 1)
		go func() {
			_, err := listener.WaitForNotification(ctx)
			heard <- err
		}()
		_, err := sender.Exec(ctx, "select pg_notify('bench_trip', 'x')")
		if err := errors.Join(err, <-heard); err != nil {
			return nil, err
		}
		took = append(took, time.Since(started))
	}
	return took, nil
}
