package machinetest_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/engine"
	"github.com/harvest-engine/harvest/internal/obs"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
	"github.com/harvest-engine/harvest/worker"
	"github.com/harvest-engine/harvest/workflows"
)

// sharedKey encrypts what the processes of all sites give to Temporal.
const sharedKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// site is a test's own Harvest: an API and a worker as processes of their own, which it may
// kill, and an engine in the test itself, as another process has it that is not killed.
type site struct {
	*engine.Engine
	t        *testing.T
	dir      string
	on       testkit.Servers
	queues   workflows.Queues
	pool     *pgxpool.Pool
	store    *postgres.Store
	temporal sdkclient.Client
	project  string
	install  string // a token with which machines join the project
}

// of gives the site to a test below the one that made it.
func (s *site) of(t *testing.T) *site {
	below := *s
	below.t = t
	return &below
}

// newSite makes a site whose model says what a script has; nothing runs yet.
func newSite(t *testing.T, script string) *site {
	t.Helper()
	id := domain.NewID()
	s := &site{t: t, dir: t.TempDir(), on: testkit.Stack(t), queues: workflows.Queues{
		Turns: "turns-" + id, Models: "models-" + id, Tools: "tools-" + id, Ingest: "ingest-" + id, Deploy: "deploy-" + id,
	}}
	s.write("script.json", script)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	var err error
	if s.pool, err = postgres.Open(ctx, s.on.DSN+"&pool_max_conns=4"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.pool.Close)
	s.store = postgres.NewStore(s.pool)
	go func() { _ = s.store.Serve(ctx) }() // until the test ends
	s.connect(ctx)
	project, err := s.store.CreateProject(ctx, domain.Project{Name: "machines", GroupID: "everyone", CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	s.project = project.ID
	token, hash := domain.NewMachineToken(domain.InstallTokenPrefix)
	s.install = token
	err = s.store.AddInstallToken(ctx, domain.InstallToken{
		ID: domain.NewID(), ProjectID: s.project, Hash: hash, CreatedBy: domain.OwnerID, ExpiresAt: farAway(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// connect connects the engine of the test itself.
func (s *site) connect(ctx context.Context) {
	s.t.Helper()
	keys, err := worker.ParseKeyring("shared " + sharedKey)
	if err != nil {
		s.t.Fatal(err)
	}
	codec, err := worker.NewCodec(keys)
	if err != nil {
		s.t.Fatal(err)
	}
	s.temporal, err = worker.Dial(ctx, worker.Connection{
		Address: s.on.TemporalAddress, Namespace: s.on.TemporalNamespace, Codec: codec, Log: obs.TemporalLogger(zerolog.Nop()),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.temporal.Close)
	s.Engine, err = engine.New(ctx, engine.Config{
		Temporal: s.temporal, Namespace: s.on.TemporalNamespace, Turns: s.store, Actions: s.store, Projects: s.store, Ingests: s.store,
		Commands: s.store, Events: s.store, House: s.store, Queues: s.queues, Owner: domain.OwnerID, Log: zerolog.Nop(),
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// half starts harvest serve or harvest worker, which reaches Temporal by an address.
func (s *site) half(verb string, port int, temporal string) *process {
	s.t.Helper()
	name := verb + "-" + strconv.Itoa(port)
	config := s.write(name+".toml", fmt.Sprintf(`[server]
host = "127.0.0.1"
port = %d
[data]
dir = %q
[log]
format = "json"
[temporal]
namespace = %q
[temporal.queues]
turns = %q
models = %q
tools = %q
ingest = %q
deploy = %q
[temporal.codec.keys]
shared = %q
[[llm]]
provider = "scripted"
script = %q
`, port, filepath.Join(s.dir, name), s.on.TemporalNamespace, s.queues.Turns, s.queues.Models, s.queues.Tools, s.queues.Ingest, s.queues.Deploy,
		sharedKey, filepath.Join(s.dir, "script.json")))
	path := program(s.t, "harvest")
	return startProcess(s.t, filepath.Join(s.dir, name+".log"), `"event":"ready"`, func() *exec.Cmd {
		cmd := exec.Command(path, verb, "--config", config)
		cmd.Dir = s.dir
		cmd.Env = append(os.Environ(), "DATABASE_URL="+s.on.DSN, "TEMPORAL_ADDRESS="+temporal)
		return cmd
	})
}

// work starts a worker.
func (s *site) work() *process {
	s.t.Helper()
	return s.half("worker", freePort(s.t), s.on.TemporalAddress)
}

// api is an API that can be killed.
type api struct {
	*process
	address string
	port    int
}

// serve starts an API.
func (s *site) serve() *api {
	s.t.Helper()
	return s.serveBy(s.on.TemporalAddress)
}

// serveBy starts an API that reaches Temporal by an address.
func (s *site) serveBy(temporal string) *api {
	s.t.Helper()
	port := freePort(s.t)
	return &api{process: s.half("serve", port, temporal), address: "127.0.0.1:" + strconv.Itoa(port), port: port}
}

// token gives the owner's token of an API.
func (s *site) token(a *api) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "serve-"+strconv.Itoa(a.port), "owner-token"))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
