package embedded

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	temporalName     = "temporal"
	temporalGrace    = 12 * time.Second
	temporalPatience = 2 * time.Minute // the first start makes its tables
	shards           = 8               // can't be changed once there is data
	retention        = 7 * 24 * time.Hour
	storeConnections = 12 // in each of four pools; a third of it for visibility
)

var temporalEnding = []syscall.Signal{syscall.SIGTERM}

// The search attributes under which workflows are found in the Temporal UI.
var (
	SearchKeywords     = []string{"HarvestKind", "HarvestUser", "HarvestProject", "HarvestConversation", "HarvestSubject"}
	SearchKeywordLists = []string{"HarvestRepositories"}
)

// temporalSettings is the line that temporald reads; it mirrors that program's Settings.
type temporalSettings struct {
	DatabaseURL      string        `json:"database_url"`
	Database         string        `json:"database"`
	Visibility       string        `json:"visibility"`
	Port             int           `json:"port"`
	UIPort           int           `json:"ui_port"`
	UIPath           string        `json:"ui_path"`
	CodecEndpoint    string        `json:"codec_endpoint"`
	Namespace        string        `json:"namespace"`
	Retention        time.Duration `json:"retention"`
	Shards           int           `json:"shards"`
	Keywords         []string      `json:"keywords"`
	KeywordLists     []string      `json:"keyword_lists"`
	LogLevel         string        `json:"log_level"`
	StoreConnections int           `json:"store_connections"`
}

// newTemporalSettings puts Temporal's two databases beside the one that dsn names.
func newTemporalSettings(dsn string, o Options) (temporalSettings, error) {
	u, err := url.Parse(dsn)
	if err != nil || u.User == nil || strings.Trim(u.Path, "/") == "" {
		// The parser's error would repeat the password.
		return temporalSettings{}, domain.Errorf(domain.CodeInvalid,
			"the database's address must have the form postgres://user:password@host:port/database for the Temporal server to use it; write it so, or set TEMPORAL_ADDRESS")
	}
	database := strings.Trim(u.Path, "/") + "_temporal"
	return temporalSettings{
		DatabaseURL: dsn, Database: database, Visibility: database + "_visibility",
		Port: o.TemporalPort, UIPort: o.UIPort, UIPath: o.UIPath, CodecEndpoint: o.CodecEndpoint,
		Namespace: o.Namespace, Retention: retention, Shards: shards,
		Keywords: SearchKeywords, KeywordLists: SearchKeywordLists,
		LogLevel: "warn", StoreConnections: storeConnections,
	}, nil
}

// temporalRun is the server's command with the pipes that we hold the other ends of.
type temporalRun struct {
	cmd     *exec.Cmd
	leash   *os.File // settings go in here; the server ends when it is closed, also by our death
	answers *os.File // the ready line comes out here
	theirs  []*os.File
}

func newTemporalRun(program, logPath string) (*temporalRun, error) {
	log, err := openLog(logPath)
	if err != nil {
		return nil, err
	}
	r := &temporalRun{cmd: exec.Command(program), theirs: []*os.File{log}}
	input, leash, err := os.Pipe()
	if err != nil {
		r.release()
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	r.leash, r.theirs = leash, append(r.theirs, input)
	answers, output, err := os.Pipe()
	if err != nil {
		r.release()
		leash.Close()
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	r.answers, r.theirs = answers, append(r.theirs, output)
	r.cmd.Env = append(r.cmd.Environ(), "GOMEMLIMIT=400MiB") // it shares a small machine
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = input, output, log
	return r, nil
}

// release closes our copies of the child's ends.
func (r *temporalRun) release() {
	for _, file := range r.theirs {
		file.Close()
	}
}

// greet gives the settings and waits for the ready line. It closes answers.
func (r *temporalRun) greet(ctx context.Context, s temporalSettings) error {
	defer r.answers.Close()
	ctx, cancel := context.WithTimeout(ctx, temporalPatience)
	defer cancel()
	// The end of ctx ends a read that waits.
	defer context.AfterFunc(ctx, func() { _ = r.answers.SetReadDeadline(time.Unix(1, 0)) })()
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if _, err := r.leash.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("give the Temporal server its settings: %w", err)
	}
	if _, err := bufio.NewReader(r.answers).ReadString('\n'); err != nil {
		if ctx.Err() != nil {
			return domain.Wrap(domain.CodeTimeout, ctx.Err(), "the Temporal server was not ready in time")
		}
		return domain.Wrap(domain.CodeUnavailable, err, "the Temporal server ended while it started")
	}
	return nil
}

// launchTemporal starts the server and waits until it is ready.
func launchTemporal(ctx context.Context, program string, s temporalSettings, logPath string) (*process, error) {
	r, err := newTemporalRun(program, logPath)
	if err != nil {
		return nil, err
	}
	p, err := startProcess(r.cmd, temporalEnding[0])
	r.release()
	if err != nil {
		r.leash.Close()
		r.answers.Close()
		return nil, err
	}
	go func() { <-p.gone; r.leash.Close() }()
	if err := r.greet(ctx, s); err != nil {
		p.stop(temporalGrace, temporalEnding...)
		return nil, fmt.Errorf("%w; the end of %s:\n%s", err, logPath, tail(logPath))
	}
	return p, nil
}
