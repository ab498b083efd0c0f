package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"

	"github.com/rs/zerolog"
)

// database is the name of Harvest's own database in its cluster.
const database = "harvest"

// Options say what a Stack runs, and where.
type Options struct {
	DataDir       string // holds all data; made where needed
	CacheDir      string // for programs that are fetched or built; DefaultCacheDir()
	DatabaseURL   string // a server that runs already; "": run one
	NoTemporal    bool   // a Temporal service runs already
	PostgresPort  int    // ports on the loopback interface; 0: any free one
	TemporalPort  int
	UIPort        int
	UIPath        string // the Temporal UI's public path, such as "/temporal"
	CodecEndpoint string // where the UI has payloads decoded; "" for nowhere
	Namespace     string // Temporal's; made where needed
	// Reserve is called once the folder is locked, before anything starts; its error ends
	// the start. nil for nothing.
	Reserve  func() error
	Progress ProgressFunc
	Log      zerolog.Logger
}

// Stack is the servers of one data folder, while they run.
type Stack struct {
	options  Options
	lock     *Lock
	dsn      string
	postgres *keeper
	temporal *keeper
}

// Start locks the data folder, ends what an earlier run left behind, and starts what is
// not provided; it returns once everything is ready. From then on a server that dies is
// started again, on the same port. Errors for people are domain errors: conflict for a
// folder in use and for a taken port, unavailable for programs that can't be had.
func Start(ctx context.Context, o Options) (*Stack, error) {
	dir, err := filepath.Abs(o.DataDir)
	if err != nil {
		return nil, fmt.Errorf("find the data folder: %w", err)
	}
	o.DataDir = dir
	lock, err := LockData(dir)
	if err != nil {
		return nil, orFull(err, dir)
	}
	s := &Stack{options: o, lock: lock, dsn: o.DatabaseURL}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(orFull(err, dir), s.Stop())
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	if s.options.Reserve != nil {
		if err := s.options.Reserve(); err != nil {
			return err
		}
	}
	if err := s.endLeftovers(); err != nil {
		return err
	}
	if s.options.DatabaseURL == "" {
		if err := s.startPostgres(ctx); err != nil {
			return err
		}
	}
	if s.options.NoTemporal {
		return nil
	}
	return s.startTemporal(ctx)
}

func (s *Stack) runDir() string { return filepath.Join(s.options.DataDir, "run") }

func (s *Stack) logPath(name string) string {
	return filepath.Join(s.options.DataDir, "logs", name+".log")
}

// endLeftovers ends the servers of a parent that was killed.
func (s *Stack) endLeftovers() error {
	for _, left := range []*keeper{s.keeper(temporalName), s.keeper(postgresName)} {
		ended, err := endRecorded(s.runDir(), left.name, left.grace, left.ending...)
		if err != nil {
			return err
		}
		if ended {
			s.options.Log.Warn().Str("server", left.name).Msg("leftover_server_ended")
		}
	}
	return nil
}

func (s *Stack) keeper(name string) *keeper {
	k := &keeper{name: name, runDir: s.runDir(), log: s.options.Log}
	switch name {
	case postgresName:
		k.grace, k.ending = postgresGrace, postgresEnding
	case temporalName:
		k.grace, k.ending = temporalGrace, temporalEnding
	}
	return k
}

func (s *Stack) startPostgres(ctx context.Context) (err error) {
	home, _, err := postgresHome(s.options.DataDir)
	if err != nil {
		return err
	}
	cluster, err := OpenCluster(ctx, ClusterOptions{
		Home: home, CacheDir: s.options.CacheDir, Port: s.options.PostgresPort, Progress: s.options.Progress,
	})
	if err != nil {
		return err
	}
	if err := cluster.clearStale(); err != nil {
		return err
	}
	if err := CheckPort(cluster.Port(), "PostgreSQL", "--postgres-port"); err != nil {
		return err
	}
	k := s.keeper(postgresName)
	k.launch = func(ctx context.Context) (*process, error) {
		return launchPostgres(ctx, cluster, s.logPath(postgresName))
	}
	progress := beginStep(s.options.Progress, "starting PostgreSQL", "")
	defer progress.end(&err)
	if err := k.start(ctx); err != nil {
		return err
	}
	s.postgres, s.dsn = k, cluster.DSN(database)
	return cluster.EnsureDatabase(ctx, database)
}

func (s *Stack) startTemporal(ctx context.Context) (err error) {
	program, err := TemporalServer(ctx, s.options.CacheDir, s.options.Progress)
	if err != nil {
		return err
	}
	if err := CheckPort(s.options.TemporalPort, "Temporal", "--temporal-port"); err != nil {
		return err
	}
	if err := CheckPort(s.options.UIPort, "the Temporal UI", "--temporal-ui-port"); err != nil {
		return err
	}
	progress := beginStep(s.options.Progress, "starting Temporal", "")
	defer progress.end(&err)
	return startPatiently(ctx, s.options.Log, temporalName, func(ctx context.Context) error {
		return s.tryTemporal(ctx, program)
	})
}

// tryTemporal starts the server once, on the ports that are asked for or on free ones.
func (s *Stack) tryTemporal(ctx context.Context, program string) error {
	o := s.options
	for _, port := range []*int{&o.TemporalPort, &o.UIPort} {
		if *port == 0 {
			*port = int(freePort())
		}
	}
	settings, err := newTemporalSettings(s.dsn, o)
	if err != nil {
		return err
	}
	k := s.keeper(temporalName)
	k.launch = func(ctx context.Context) (*process, error) {
		return launchTemporal(ctx, program, settings, s.logPath(temporalName))
	}
	if err := k.start(ctx); err != nil {
		return err
	}
	s.temporal, s.options = k, o
	return nil
}

// DSN addresses Harvest's database.
func (s *Stack) DSN() string { return s.dsn }

// TemporalAddress is host:port of Temporal's frontend; "" where the stack runs none.
func (s *Stack) TemporalAddress() string { return s.local(s.options.TemporalPort) }

// UIAddress is the Temporal UI's address, with its path; "" where the stack runs none.
func (s *Stack) UIAddress() string {
	if address := s.local(s.options.UIPort); address != "" {
		return "http://" + address + s.options.UIPath
	}
	return ""
}

func (s *Stack) local(port int) string {
	if s.options.NoTemporal {
		return ""
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// PIDs are the process ids of the servers at this moment, by name.
func (s *Stack) PIDs() map[string]int {
	pids := map[string]int{}
	for _, k := range []*keeper{s.postgres, s.temporal} {
		if k != nil {
			pids[k.name] = k.pid()
		}
	}
	return pids
}

// Stop ends the servers, Temporal before its database, and gives the data folder back.
func (s *Stack) Stop() error {
	s.temporal.stop()
	s.postgres.stop()
	return s.lock.Unlock()
}
