package crashtest_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/engine"
	"github.com/harvest-engine/harvest/internal/testkit"
	"github.com/harvest-engine/harvest/workflows"
)

// patience bounds what a test waits for.
const patience = 2 * time.Minute

// progressLimit is how soon after a worker is there a turn must go on.
const progressLimit = 15 * time.Second

// replays holds recorded histories, by release, and the key of all payloads of these tests; latest
// is where those go that are recorded now.
const (
	replays = "../../workflows/testdata/replay"
	latest  = replays + "/next"
)

var record = flag.Bool("record", false, "keep the histories of some turns for the replay tests")

// site is a test's own Harvest: processes that it may kill, and an engine and a store in the
// test itself, which are not killed.
type site struct {
	*node
	*engine.Engine
	t     *testing.T
	order nodeOrder
}

// newSite makes a site on the servers that the tests share.
func newSite(t *testing.T) *site {
	t.Helper()
	servers := testkit.Stack(t)
	return openSite(t, nodeOrder{DSN: servers.DSN, Temporal: servers.TemporalAddress, Namespace: servers.TemporalNamespace})
}

// openSite makes a site on given servers.
func openSite(t *testing.T, o nodeOrder) *site {
	t.Helper()
	keys, err := os.ReadFile(filepath.Join(replays, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	o.Keys, o.Queue, o.Owner = string(keys), "crash-"+domain.NewID(), domain.OwnerID
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	n, err := o.open(ctx, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.client.Close(); n.pool.Close() })
	if _, err := n.pool.Exec(ctx, "create table if not exists tool_runs (turn_id text, step int, at timestamptz default clock_timestamp())"); err != nil {
		t.Fatal(err)
	}
	s := &site{node: n, t: t, order: o}
	if s.Engine, err = n.engine(ctx, &o); err != nil {
		t.Fatal(err)
	}
	return s
}

// worker starts a worker process.
func (s *site) worker() *process {
	s.t.Helper()
	o := s.order
	o.Worker = true
	var ready string
	return spawn(s.t, order{Node: &o}, &ready)
}

// api starts a process with an API at an address, and a worker where asked for.
func (s *site) api(address string, withWorker bool) *process {
	s.t.Helper()
	o := s.order
	o.API, o.Worker = address, withWorker
	var ready string
	return spawn(s.t, order{Node: &o}, &ready)
}

// freeAddress gives an address to listen at that nobody has taken.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// start starts the turn that every test asks for.
func (s *site) start() domain.Turn {
	s.t.Helper()
	return s.ask(domain.TurnRequest{Query: "Where does the server start?"})
}

// ask starts a turn.
func (s *site) ask(req domain.TurnRequest) domain.Turn {
	s.t.Helper()
	req.UserID = domain.OwnerID
	turn, err := s.StartTurn(context.Background(), req)
	if err != nil {
		s.t.Fatalf("start a turn: %v", err)
	}
	return turn
}

// watch follows a turn in the background.
type watch struct {
	testkit.Transcript
	t       *testing.T
	id      string
	mu      sync.Mutex
	changed chan struct{}
	over    chan struct{}
	err     error
}

func (s *site) watch(id string) *watch {
	s.t.Helper()
	w := &watch{t: s.t, id: id, changed: make(chan struct{}), over: make(chan struct{})}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	s.t.Cleanup(cancel)
	go func() {
		defer close(w.over)
		for e, err := range s.store.Follow(ctx, id, domain.Cursor{}) {
			w.mu.Lock()
			if err == nil {
				err = w.Take(e)
			}
			w.err = err
			close(w.changed)
			w.changed = make(chan struct{})
			w.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return w
}

// until waits for n more events of a type, or for any with typ "".
func (w *watch) until(typ domain.EventType, n int) {
	w.t.Helper()
	w.mu.Lock()
	seen := len(w.Events)
	w.mu.Unlock()
	for {
		w.mu.Lock()
		changed, err := w.changed, w.err
		for ; seen < len(w.Events); seen++ {
			if typ == "" || w.Events[seen].Type == typ {
				n--
			}
		}
		w.mu.Unlock()
		switch {
		case n <= 0:
			return
		case err != nil:
			w.t.Fatalf("turn %s: %v", w.id, err)
		}
		select {
		case <-changed:
		case <-w.over:
			w.t.Fatalf("turn %s is over; it wanted %d more %s", w.id, n, typ)
		}
	}
}

// end waits for the end of a turn and checks everything that must hold then.
func (s *site) end(w *watch) domain.Turn {
	s.t.Helper()
	<-w.over
	if w.err != nil {
		s.t.Errorf("turn %s: %v", w.id, w.err)
	}
	turn, err := s.Turn(context.Background(), w.id)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := w.Agrees(s.stored(w.id), turn.Status != domain.TurnDone); err != nil {
		s.t.Errorf("turn %s: %v", w.id, err)
	}
	s.neverAgain(w.id)
	return turn
}

// undisturbed checks that a turn has the outcome of one that nobody disturbed.
func (s *site) undisturbed(turn domain.Turn) {
	s.t.Helper()
	script := script().Rounds
	if want := script[len(script)-1].Text; turn.Status != domain.TurnDone || turn.Answer != want {
		s.t.Errorf("turn %s is %s (%s) with the answer %q, want done with %q", turn.ID, turn.Status, turn.Error, turn.Answer, want)
	}
	if turn.ToolCallsMade != 4 || len(turn.Sources) != 1 || !turn.Sources[0].Verified {
		s.t.Errorf("turn %s has %d tool calls and sources %+v", turn.ID, turn.ToolCallsMade, turn.Sources)
	}
}

// stored reads a turn's whole log from the database.
func (s *site) stored(id string) []domain.Event {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var log testkit.Transcript
	for e, err := range s.store.Follow(ctx, id, domain.Cursor{}) {
		if err == nil {
			err = log.Take(e)
		}
		if err != nil {
			s.t.Fatalf("read the log of turn %s: %v", id, err)
		}
	}
	return log.Events
}

// neverAgain checks that no tool call ran after its outcome was committed.
func (s *site) neverAgain(turnID string) {
	s.t.Helper()
	var again int
	err := s.pool.QueryRow(context.Background(), `
select count(*) from tool_runs r join turn_calls c on c.turn_id = r.turn_id and (c.input->>'step')::int = r.step
where c.kind = 'tool' and r.turn_id = $1 and r.at > c.ended_at`, turnID).Scan(&again)
	if err != nil {
		s.t.Fatal(err)
	}
	if again > 0 {
		s.t.Errorf("turn %s: %d runs of calls whose outcome was committed before", turnID, again)
	}
}

// runs waits until the tool call of a step has begun.
func (s *site) runs(turnID string, step int) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("step %d begins", step), func(ctx context.Context) bool {
		var begun bool
		err := s.pool.QueryRow(ctx, "select exists (select from tool_runs where turn_id = $1 and step = $2)", turnID, step).Scan(&begun)
		return err == nil && begun
	})
}

func (s *site) eventually(what string, ok func(context.Context) bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok(ctx) {
		select {
		case <-ctx.Done():
			s.t.Fatalf("it does not come to pass that %s", what)
		case <-tick.C:
		}
	}
}

// goesOn checks that a turn makes progress soon after something that let it go on.
func (s *site) goesOn(w *watch, since time.Time) {
	s.t.Helper()
	w.until("", 1)
	if took := time.Since(since); took > progressLimit {
		s.t.Errorf("turn %s went on after %s, want %s", w.id, took.Round(time.Millisecond), progressLimit)
	}
}

// history gives the events of a turn's workflow, once it is closed. With -record it is kept
// under the given name for the replay tests.
func (s *site) history(id, name string) *historypb.History {
	s.t.Helper()
	return s.recorded(workflows.TurnQuery.Name, workflows.TurnWorkflowID(id), name)
}

// recorded is history for a workflow of any type.
func (s *site) recorded(workflow, workflowID, name string) *historypb.History {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.client.GetWorkflow(ctx, workflowID, "").Get(ctx, nil); err != nil {
		s.t.Fatal(err)
	}
	return s.keep(ctx, workflow, workflowID, name)
}

// keep reads the history of a workflow that is closed, and records it where that is asked for.
func (s *site) keep(ctx context.Context, workflow, workflowID, name string) *historypb.History {
	s.t.Helper()
	history := &historypb.History{}
	pages := s.client.GetWorkflowHistory(ctx, workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for pages.HasNext() {
		event, err := pages.Next()
		if err != nil {
			s.t.Fatal(err)
		}
		history.Events = append(history.Events, event)
	}
	if *record {
		text, err := protojson.Marshal(history)
		if err != nil {
			s.t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(latest, workflow), 0o755); err != nil {
			s.t.Fatal(err)
		}
		path := filepath.Join(latest, workflow, strings.ReplaceAll(name, " ", "-")+".json")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	return history
}

// types lists the types of a watch's events.
func (w *watch) types() (list []domain.EventType) {
	for _, e := range w.Events {
		list = append(list, e.Type)
	}
	return list
}
