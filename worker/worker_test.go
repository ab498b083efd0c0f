package worker_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/flow"
	"github.com/harvest-engine/harvest/internal/obs"
	"github.com/harvest-engine/harvest/internal/testkit"
	"github.com/harvest-engine/harvest/worker"
	"github.com/harvest-engine/harvest/workflows"
)

// guarded runs an activity behind the guard that every worker has.
func guarded(t *testing.T, log zerolog.Logger, do func(context.Context, string) (string, error)) (string, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(sdkworker.Options{Interceptors: []interceptor.WorkerInterceptor{worker.Guard(log)}})
	handle := flow.Activity[string, string]{Name: "tested"}
	handle.Register(env, do)
	value, err := env.ExecuteActivity(handle.Name, "in")
	if err != nil {
		return "", err
	}
	var out string
	return out, value.Get(&out)
}

func TestGuardTurnsPanicsIntoPermanentFailures(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	_, err := guarded(t, zerolog.New(&out), func(context.Context, string) (string, error) { panic("a secret of the customer") })
	var failure *temporal.ApplicationError
	if !errors.As(err, &failure) || !failure.NonRetryable() || failure.Type() != string(domain.CodeInternal) {
		t.Fatalf("error %#v, want a permanent application error", err)
	}
	if strings.Contains(failure.Message(), "secret") || !strings.Contains(out.String(), "secret") || !strings.Contains(out.String(), "worker_test.go") {
		t.Errorf("message %q, log %s; want the details in the log alone", failure.Message(), &out)
	}
}

// What another worker can take over is let go as a worker stops; an action that was begun is
// given the time to end.
func TestActionsEndBeforeTheirWorker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		finish time.Duration
		letGo  bool
	}{
		{workflows.RunTool.Name, time.Minute, true},
		{workflows.ApplyAction.Name, time.Minute, false},
		{workflows.ApplyAction.Name, 10 * time.Millisecond, true},
	} {
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestActivityEnvironment()
		env.SetWorkerOptions(sdkworker.Options{Interceptors: []interceptor.WorkerInterceptor{worker.Stopping(10*time.Millisecond, c.finish)}})
		stopped := make(chan struct{})
		close(stopped)
		env.SetWorkerStopChannel(stopped)
		flow.Activity[string, bool]{Name: c.name}.Register(env, func(ctx context.Context, _ string) (bool, error) {
			select {
			case <-ctx.Done():
				return true, nil
			case <-time.After(300 * time.Millisecond):
				return false, nil
			}
		})
		value, err := env.ExecuteActivity(c.name, "in")
		if err != nil {
			t.Fatal(err)
		}
		var letGo bool
		if err := value.Get(&letGo); err != nil || letGo != c.letGo {
			t.Errorf("%s with %s: let go %v, %v", c.name, c.finish, letGo, err)
		}
	}
}

func TestGuardRendersDomainErrors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err       error
		permanent bool
		code      domain.Code
		message   string
		wait      time.Duration
	}{
		"permanent": {domain.Invalid("query", "must not be empty"), true, domain.CodeInvalid, "must not be empty", 0},
		"transient": {&domain.Error{Code: domain.CodeRateLimited, Message: "slow down", Wait: 7 * time.Second}, false, domain.CodeRateLimited, "slow down", 7 * time.Second},
		"unknown":   {errors.New("pq: secret"), false, domain.CodeInternal, "something went wrong on our side; the log holds the details", 0},
		"theirs":    {temporal.NewNonRetryableApplicationError("as it is", "special", nil), true, "special", "as it is", 0},
	}
	for name, c := range cases {
		_, err := guarded(t, zerolog.Nop(), func(context.Context, string) (string, error) { return "", c.err })
		var failure *temporal.ApplicationError
		if !errors.As(err, &failure) {
			t.Errorf("%s: error %#v, want an application error", name, err)
			continue
		}
		if failure.NonRetryable() != c.permanent || failure.Type() != string(c.code) || failure.Message() != c.message || failure.NextRetryDelay() != c.wait {
			t.Errorf("%s: %v (permanent %v, next after %v), want %+v", name, failure, failure.NonRetryable(), failure.NextRetryDelay(), c)
		}
	}
}

func TestGuardGivesTheContextItsIDs(t *testing.T) {
	t.Parallel()
	var seen obs.IDs
	got, err := guarded(t, zerolog.Nop(), func(ctx context.Context, in string) (string, error) {
		seen = obs.From(ctx)
		return in + " out", nil
	})
	if err != nil || got != "in out" || seen.WorkflowID == "" {
		t.Errorf("got %q with ids %+v, %v", got, seen, err)
	}
}

func TestServedQueues(t *testing.T) {
	t.Parallel()
	apart := workflows.Queues{Turns: "t", Models: "m", Tools: "o", Ingest: "i", Deploy: "d"}
	cases := map[string]struct {
		queues workflows.Queues
		serve  []string
		want   string
		code   domain.Code
	}{
		"combined":       {workflows.CombinedQueues("turns"), nil, "turns", ""},
		"apart":          {apart, nil, "t m o i d", ""},
		"some":           {apart, []string{"ingest", "models"}, "m i", ""},
		"shared":         {workflows.Queues{Turns: "t", Models: "t", Tools: "t", Ingest: "i", Deploy: "i"}, nil, "t i", ""},
		"unknown":        {apart, []string{"turn"}, "", domain.CodeInvalid},
		"without a name": {workflows.Queues{Turns: "t"}, nil, "", domain.CodeInvalid},
	}
	for name, c := range cases {
		got, err := worker.ServedQueues(c.queues, c.serve)
		if domain.CodeOf(err) != c.code || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestDialSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	codec := newCodec(t, worker.NewKey())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	servers := testkit.Stack(t)
	junk := filepath.Join(t.TempDir(), "junk.pem")
	if err := os.WriteFile(junk, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		connection worker.Connection
		code       domain.Code
		says       string
	}{
		"nobody listens":   {worker.Connection{Address: address, Namespace: "default"}, domain.CodeUnavailable, address},
		"no such space":    {worker.Connection{Address: servers.TemporalAddress, Namespace: "elsewhere"}, domain.CodeNotFound, "elsewhere"},
		"no certificate":   {worker.Connection{Address: address, TLS: &worker.TLS{CAFile: junk}}, domain.CodeInvalid, "junk.pem"},
		"half a pair":      {worker.Connection{Address: address, TLS: &worker.TLS{CertFile: junk}}, domain.CodeInvalid, "key_file"},
		"a broken pair":    {worker.Connection{Address: address, TLS: &worker.TLS{CertFile: junk, KeyFile: junk}}, domain.CodeInvalid, "junk.pem"},
		"TLS to cleartext": {worker.Connection{Address: servers.TemporalAddress, Namespace: "default", APIKey: "key"}, domain.CodeUnavailable, servers.TemporalAddress},
	}
	for name, c := range cases {
		c.connection.Codec, c.connection.Log = codec, obs.TemporalLogger(zerolog.Nop())
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
		client, err := worker.Dial(ctx, c.connection)
		stop()
		if err == nil {
			client.Close()
		}
		if domain.CodeOf(err) != c.code || !strings.Contains(domain.PublicMessage(err), c.says) {
			t.Errorf("%s: %v, want code %q and a word of %s", name, err, c.code, c.says)
		}
	}
	good := worker.Connection{Address: servers.TemporalAddress, Namespace: servers.TemporalNamespace, Codec: codec, Log: obs.TemporalLogger(zerolog.Nop())}
	client, err := worker.Dial(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
}
