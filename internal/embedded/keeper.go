package embedded

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	firstBackoff = 200 * time.Millisecond
	lastBackoff  = 10 * time.Second
	steadyTime   = time.Minute // a child that ran this long starts again without a wait
)

// startTries bounds how often the first start of a server is tried that ends before it is
// ready: another program may have taken one of its ports in between, or the database may not
// have had room for its connections.
const startTries = 3

// startPatiently calls start again where it fails as unavailable, and says so.
func startPatiently(ctx context.Context, log zerolog.Logger, name string, start func(context.Context) error) error {
	backoff := firstBackoff
	for try := 1; ; try++ {
		err := start(ctx)
		if err == nil || try == startTries || domain.CodeOf(err) != domain.CodeUnavailable {
			return err
		}
		log.Warn().Str("server", name).Int("try", try).Int("of", startTries).Err(err).Msg("server_start_tried_again")
		select {
		case <-ctx.Done():
			return err
		case <-time.After(backoff):
		}
		backoff *= 2
	}
}

// keeper keeps one server running: when it ends by itself, it is started again.
type keeper struct {
	name   string
	runDir string
	launch func(ctx context.Context) (*process, error) // gives a server that is ready
	grace  time.Duration                               // for each of the signals
	ending []syscall.Signal
	log    zerolog.Logger

	cancel  context.CancelFunc
	stopped chan struct{}
	mu      sync.Mutex
	current *process
}

// start launches the server and returns once it is ready; from then on it is kept.
func (k *keeper) start(ctx context.Context) error {
	p, err := k.launchRecorded(ctx)
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.Background())
	k.cancel, k.stopped = cancel, make(chan struct{})
	go k.keep(running, p)
	return nil
}

func (k *keeper) launchRecorded(ctx context.Context) (*process, error) {
	p, err := k.launch(ctx)
	if err != nil {
		return nil, err
	}
	if err := writeRecord(k.runDir, k.name, p.pid()); err != nil {
		p.stop(k.grace, k.ending...)
		return nil, err
	}
	k.mu.Lock()
	k.current = p
	k.mu.Unlock()
	return p, nil
}

func (k *keeper) keep(ctx context.Context, p *process) {
	defer close(k.stopped)
	began, backoff := time.Now(), firstBackoff
	for {
		select {
		case <-ctx.Done():
			p.stop(k.grace, k.ending...)
			dropRecord(k.runDir, k.name)
			return
		case <-p.gone:
		}
		k.log.Error().Str("server", k.name).Int("pid", p.pid()).AnErr("error", p.err).Msg("server_ended")
		if time.Since(began) > steadyTime {
			backoff = firstBackoff
		}
		if p = k.again(ctx, &backoff); p == nil {
			return
		}
		began = time.Now()
		k.log.Info().Str("server", k.name).Int("pid", p.pid()).Msg("server_restarted")
	}
}

// again launches until it works, waiting longer each time; nil once ctx has ended.
func (k *keeper) again(ctx context.Context, backoff *time.Duration) *process {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(*backoff):
		}
		*backoff = min(2**backoff, lastBackoff)
		p, err := k.launchRecorded(ctx)
		if err == nil {
			return p
		}
		if ctx.Err() == nil {
			k.log.Error().Str("server", k.name).Err(err).Dur("next_try_ms", *backoff).Msg("server_restart_failed")
		}
	}
}

// pid is the server's process id at this moment.
func (k *keeper) pid() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil {
		return 0
	}
	return k.current.pid()
}

// stop ends the server in order, and returns once it is gone.
func (k *keeper) stop() {
	if k == nil || k.cancel == nil {
		return
	}
	k.cancel()
	<-k.stopped
}
