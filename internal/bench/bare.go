package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	"go.temporal.io/sdk/activity"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/obs"
)

// bare is the reference: a Temporal workflow with the activities of a turn, of the same
// kinds and in the same order, which do nothing but commit as often and as much.
type bare struct {
	pool     *pgxpool.Pool
	client   sdkclient.Client // where workflows are started
	workers  []sdkworker.Worker
	clients  []sdkclient.Client
	queue    string
	modelsAt string // the queue of the normal activities

	mu    sync.Mutex
	ended map[string]chan struct{}  // told by the last activity of a workflow
	began map[string]chan time.Time // told by its first normal activity
}

// bareInput says what a bare workflow does.
type bareInput struct {
	ID     string
	Models string // queue
	Rounds int
	Begin  work
	Ask    work // a model call that asks for a tool
	Tool   work
	Answer work // the last model call
	Finish work
	Only   bool // nothing but one normal activity, without commits
}

// work is what one activity writes.
type work struct {
	ID      string
	Commits int
	Bytes   int // of each commit
	First   bool
	Last    bool
}

func openBare(ctx context.Context, on servers, split bool) (b *bare, err error) {
	b = &bare{queue: "bare", modelsAt: "bare", ended: map[string]chan struct{}{}, began: map[string]chan time.Time{}}
	if b.pool, err = pgxpool.New(ctx, on.DSN()); err != nil {
		return nil, err
	}
	_, err = b.pool.Exec(ctx, `create table if not exists bench_commits (id bigint generated always as identity primary key, run text, body text)`)
	if err != nil {
		b.close()
		return nil, fmt.Errorf("make the reference's table: %w", err)
	}
	client, err := b.dial(on)
	if err != nil {
		b.close()
		return nil, err
	}
	b.client = client
	if split {
		b.queue, b.modelsAt = "bare-turns", "bare-models"
		if b.client, err = b.dial(on); err != nil {
			b.close()
			return nil, err
		}
	}
	for _, queue := range map[bool][]string{false: {b.queue}, true: {b.queue, b.modelsAt}}[split] {
		w := sdkworker.New(client, queue, sdkworker.Options{MaxConcurrentActivityTaskPollers: 32, MaxConcurrentWorkflowTaskPollers: 32})
		w.RegisterWorkflowWithOptions(bareWorkflow, workflow.RegisterOptions{Name: "bare"})
		w.RegisterActivityWithOptions(b.do, activity.RegisterOptions{Name: "do"})
		if err := w.Start(); err != nil {
			b.close()
			return nil, fmt.Errorf("start the reference's worker: %w", err)
		}
		b.workers = append(b.workers, w)
	}
	return b, nil
}

func (b *bare) dial(on servers) (sdkclient.Client, error) {
	client, err := dialBare(on)
	if err == nil {
		b.clients = append(b.clients, client)
	}
	return client, err
}

// dialBare connects to Temporal as ours do, without a codec.
func dialBare(on servers) (sdkclient.Client, error) {
	client, err := sdkclient.Dial(sdkclient.Options{
		HostPort: on.TemporalAddress(), Namespace: "default", Logger: obs.TemporalLogger(zerolog.Nop()),
		ConnectionOptions: sdkclient.ConnectionOptions{GrpcCompression: &sdkclient.GrpcCompressionNone{}}, // as ours
	})
	if err != nil {
		return nil, fmt.Errorf("reach Temporal: %w", err)
	}
	return client, nil
}

func (b *bare) close() {
	for _, w := range b.workers {
		w.Stop()
	}
	for _, c := range b.clients {
		c.Close()
	}
	b.pool.Close()
}

// do is the one activity of the reference.
func (b *bare) do(ctx context.Context, w work) error {
	if w.First {
		b.mu.Lock()
		began := b.began[w.ID]
		b.mu.Unlock()
		if began != nil {
			began <- time.Now()
		}
	}
	if err := b.commit(ctx, w); err != nil {
		return err
	}
	if w.Last {
		b.mu.Lock()
		ended := b.ended[w.ID]
		b.mu.Unlock()
		if ended != nil {
			close(ended)
		}
	}
	return nil
}

func (b *bare) commit(ctx context.Context, w work) error {
	body := make([]byte, (w.Bytes+1)/2)
	_, _ = rand.Read(body) // crypto/rand.Read never returns an error
	for range w.Commits {
		if _, err := b.pool.Exec(ctx, `insert into bench_commits (run, body) values ($1, $2)`, w.ID, hex.EncodeToString(body)); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
	}
	return nil
}

func bareWorkflow(ctx workflow.Context, in bareInput) error {
	retry := &temporal.RetryPolicy{MaximumAttempts: 3}
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: 2 * time.Second, RetryPolicy: retry})
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: in.Models, StartToCloseTimeout: time.Minute, HeartbeatTimeout: 10 * time.Second, RetryPolicy: retry,
	})
	local := func(w work) error { return workflow.ExecuteLocalActivity(ctx, "do", w).Get(ctx, nil) }
	normal := func(w work) error { return workflow.ExecuteActivity(ctx, "do", w).Get(ctx, nil) }
	if in.Only {
		return normal(work{ID: in.ID, First: true})
	}
	err := local(in.Begin)
	for range in.Rounds {
		err = errors.Join(err, normal(in.Ask), local(in.Tool))
	}
	return errors.Join(err, normal(in.Answer), local(in.Finish))
}

// start starts a bare workflow as turns are started.
func (b *bare) start(ctx context.Context, in bareInput) (sdkclient.WorkflowRun, error) {
	in.Models = b.modelsAt
	return b.client.ExecuteWorkflow(ctx, sdkclient.StartWorkflowOptions{
		ID: "bare/" + in.ID, TaskQueue: b.queue, EnableEagerStart: true,
	}, "bare", in)
}

// costs are what the steps of a turn write, each.
type costs struct{ create, begin, ask, tool, answer, finish cost }

// turn does what a turn of so many rounds does, and gives the time until its last commit.
func (b *bare) turn(ctx context.Context, rounds int, c costs) (time.Duration, error) {
	id := domain.NewID()
	each := func(c cost) work { return work{ID: id, Commits: c.commits, Bytes: c.bytes / max(1, c.commits)} }
	in := bareInput{ID: id, Rounds: rounds, Begin: each(c.begin), Ask: each(c.ask), Tool: each(c.tool), Answer: each(c.answer), Finish: each(c.finish)}
	in.Finish.Last = true
	ended := make(chan struct{})
	b.mu.Lock()
	b.ended[id] = ended
	b.mu.Unlock()
	started := time.Now()
	if err := b.commit(ctx, each(c.create)); err != nil {
		return 0, err
	}
	if _, err := b.start(ctx, in); err != nil {
		return 0, err
	}
	select {
	case <-ended:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return time.Since(started), nil
}

// arrival starts a workflow with one activity and gives the time until the activity runs.
func (b *bare) arrival(ctx context.Context) (time.Duration, error) {
	id := domain.NewID()
	began := make(chan time.Time, 1)
	b.mu.Lock()
	b.began[id] = began
	b.mu.Unlock()
	started := time.Now()
	run, err := b.start(ctx, bareInput{ID: id, Only: true})
	if err != nil {
		return 0, err
	}
	took := (<-began).Sub(started)
	return took, run.Get(ctx, nil)
}
