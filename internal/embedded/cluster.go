package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const superuser = "harvest"

// Cluster is a PostgreSQL data folder with the programs and the user that run it.
type Cluster struct {
	binaries Binaries
	home     string // holds data and password
	account  *account
	password string
	port     int
}

// ClusterOptions say where a cluster lies and how it is made.
type ClusterOptions struct {
	Home     string       // its folder; it must be reachable by the user who runs it
	CacheDir string       // for fetched programs
	Port     int          // 0: any free one
	Fleeting bool         // made for a test: nothing is synced to the disk
	Progress ProgressFunc // may be nil
}

// OpenCluster finds the programs for the cluster in its folder, fetching them where the
// machine has none, and makes the cluster if it isn't there yet. Nothing runs afterwards.
func OpenCluster(ctx context.Context, o ClusterOptions) (cluster *Cluster, err error) {
	acct, err := serverAccount(o.Home)
	if err != nil {
		return nil, err
	}
	c := &Cluster{home: o.Home, account: acct, port: o.Port}
	if c.port == 0 {
		c.port = int(freePort())
	}
	if err := makeHome(o.Home, acct); err != nil {
		return nil, err
	}
	major := c.madeBy()
	var ok bool
	if c.binaries, ok = InstalledPostgres(ctx, major); !ok {
		if c.binaries, err = FetchPostgres(ctx, o.CacheDir, major, o.Progress); err != nil {
			return nil, err
		}
	}
	if c.password, err = c.loadPassword(); err != nil {
		return nil, err
	}
	if major == 0 {
		s := beginStep(o.Progress, "making the database", "")
		defer s.end(&err)
		if err := c.init(ctx, o.Fleeting); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// DSN addresses a database of the cluster.
func (c *Cluster) DSN(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, c.password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)), Path: "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Port is where the cluster's server listens while it runs.
func (c *Cluster) Port() int { return c.port }

func (c *Cluster) data() string { return filepath.Join(c.home, "data") }

// Command is the server's command line; settings are "name=value" and come on top of the
// project's own.
func (c *Cluster) Command(settings ...string) *exec.Cmd {
	args := []string{"-D", c.data(), "-p", strconv.Itoa(c.port)}
	for _, s := range append([]string{
		"listen_addresses=127.0.0.1",
		"unix_socket_directories=",
		"max_connections=100",
		"log_min_messages=warning",
		"log_line_prefix=%m [%p] %d ",
		"max_wal_size=1GB",
		"random_page_cost=1.1",
		"jit=off", // compiling costs more than the project's short queries
	}, settings...) {
		args = append(args, "-c", s)
	}
	cmd := exec.Command(c.binaries.Postgres(), args...)
	cmd.Dir = c.home
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.account.credential()}
	return cmd
}

// madeBy gives the major version of the cluster that is there, 0 for none.
func (c *Cluster) madeBy() int {
	text, err := os.ReadFile(filepath.Join(c.data(), "PG_VERSION"))
	if err != nil {
		return 0
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return major
}

// loadPassword reads the superuser's password, and makes one where there is none.
func (c *Cluster) loadPassword() (string, error) {
	path := filepath.Join(c.home, "password")
	text, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(text)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the database's password: %w", err)
	}
	password := rand.Text()
	if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write the database's password: %w", err)
	}
	return password, c.account.own(path)
}

// init makes the cluster beside its final place, so that one cut off half-way is never
// taken for a whole one.
func (c *Cluster) init(ctx context.Context, fleeting bool) error {
	fresh := c.data() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("remove a half-made database: %w", err)
	}
	args := []string{
		"-D", fresh, "-U", superuser, "-A", "scram-sha-256", "--pwfile", filepath.Join(c.home, "password"),
		"--encoding=UTF8", "--lc-collate=C", "--lc-ctype=" + characterType(),
	}
	if fleeting {
		args = append(args, "--no-sync", "--no-instructions")
	}
	cmd := exec.CommandContext(ctx, c.binaries.InitDB(), args...)
	cmd.Dir = c.home
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.account.credential()}
	if out, err := cmd.CombinedOutput(); err != nil {
		return domain.Wrap(domain.CodeUnavailable, err, "the database could not be made in %s: %s", c.home, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(fresh, c.data()); err != nil {
		return fmt.Errorf("put the new database in place: %w", err)
	}
	return nil
}

// characterType is a locale that knows letters beyond ASCII, for trigram search; sorting
// stays bytewise everywhere.
func characterType() string {
	if runtime.GOOS == "linux" {
		return "C.UTF-8"
	}
	return "C"
}

// Await waits until the server answers, and gives up when ctx does or gone is closed.
func (c *Cluster) Await(ctx context.Context, gone <-chan struct{}) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		conn, err := pgx.Connect(attempt, c.DSN("postgres"))
		cancel()
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return domain.Wrap(domain.CodeTimeout, err, "PostgreSQL did not answer in time")
		case <-gone:
			return domain.Errorf(domain.CodeUnavailable, "PostgreSQL ended while it started")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// EnsureDatabase makes the database where it doesn't exist. The server must be running.
func (c *Cluster) EnsureDatabase(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, c.DSN("postgres"))
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var exists bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).Scan(&exists); err != nil {
		return fmt.Errorf("look for database %s: %w", name, err)
	}
	if exists {
		return nil
	}
	if _, err := conn.Exec(ctx, "create database "+pgx.Identifier{name}.Sanitize()); err != nil {
		return fmt.Errorf("make database %s: %w", name, err)
	}
	return nil
}
