package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// killDelay is how long git may take to end after it was asked to, before it is killed.
const killDelay = 5 * time.Second

// passedOn are the variables of the environment that git and ssh may see: where things are,
// proxies, certificates and the ssh agent. Everything else, GIT_* above all, is left out.
var passedOn = map[string]bool{
	"PATH": true, "HOME": true, "TMPDIR": true, "SSH_AUTH_SOCK": true, "USER": true, "LOGNAME": true,
	"http_proxy": true, "https_proxy": true, "HTTP_PROXY": true, "HTTPS_PROXY": true, "all_proxy": true, "ALL_PROXY": true,
	"no_proxy": true, "NO_PROXY": true, "SSL_CERT_FILE": true, "SSL_CERT_DIR": true, "GIT_SSL_CAINFO": true, "GIT_SSL_CAPATH": true,
}

// hardened are settings that hold for every run; settings of the command line win over those
// of a repository's own configuration.
var hardened = []string{
	"-c", "core.hooksPath=/dev/null",
	"-c", "core.fsmonitor=false",
	"-c", "core.untrackedCache=false",
	"-c", "core.attributesFile=/dev/null",
	"-c", "core.quotePath=false",
	"-c", "safe.directory=*",
	"-c", "submodule.recurse=false",
	"-c", "fetch.recurseSubmodules=false",
	"-c", "credential.helper=",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	"-c", "fetch.unpackLimit=1", // packs only: small fetches would leave a file for each object
	"-c", "protocol.version=2",
}

// git is how commands are run.
type git struct {
	binary string
	env    []string // passed-on variables and fixed ones
}

func newGit(environ []string) git {
	env := []string{
		"GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ASKPASS=", "SSH_ASKPASS=", "LC_ALL=C",
	}
	for _, pair := range environ {
		if name, _, ok := strings.Cut(pair, "="); ok && passedOn[name] {
			env = append(env, pair)
		}
	}
	return git{binary: "git", env: env}
}

// command builds a hardened command. It is ended with its children when ctx is.
func (g git) command(ctx context.Context, protocols string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, g.binary, append(append([]string{}, hardened...), args...)...)
	cmd.Env = append(append([]string{}, g.env...), "GIT_ALLOW_PROTOCOL="+protocols)
	isolate(cmd)
	cmd.WaitDelay = killDelay
	return cmd
}

// output runs a local command, one that reaches no network, and gives its standard output.
func (g git) output(ctx context.Context, args ...string) ([]byte, error) {
	return g.feed(ctx, nil, args...)
}

// feed is output with a standard input.
func (g git) feed(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	cmd := g.command(ctx, "none", args...)
	var stdout bytes.Buffer
	stderr := &tail{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, stderr
	if err := cmd.Run(); err != nil {
		return nil, classifyLocal(ctx, err, stderr.String())
	}
	return stdout.Bytes(), nil
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

const tailSize = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if len(t.text) > 2*tailSize {
		t.text = append(t.text[:0], t.text[len(t.text)-tailSize:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.text) }

// failure maps what git and ssh say to a code; the first that matches counts.
type failure struct {
	text string
	code domain.Code
	hint string
}

var failures = append([]failure{
	{"Authentication failed", domain.CodeForbidden, "the token was refused"},
	{"could not read Username", domain.CodeForbidden, "it is private or does not exist; give a token"},
	{"terminal prompts disabled", domain.CodeForbidden, "it is private or does not exist; give a token"},
	{"Host key verification failed", domain.CodeForbidden,
		"the host's key is not the one that was seen first; if it was changed, remove its line from repositories/known_hosts in the data folder"},
	{"Load key", domain.CodeForbidden, "the ssh key can't be used; it must be a private key without passphrase"},
	{"Permission denied", domain.CodeForbidden, "the ssh key was refused: the host must know it, and it must have no passphrase"},
	{"The requested URL returned error: 403", domain.CodeForbidden, "access was refused"},
	{"not found", domain.CodeNotFound, "it does not exist"},
	{"does not exist", domain.CodeNotFound, "it does not exist"},
	{"Could not resolve host", domain.CodeUnavailable, "its host is not known"},
	{"unable to access", domain.CodeUnavailable, "it can't be reached"},
	{"unable to connect", domain.CodeUnavailable, "it can't be reached"},
	{"Connection", domain.CodeUnavailable, "it can't be reached"},
	{"early EOF", domain.CodeUnavailable, "the connection broke off"},
	{"hung up", domain.CodeUnavailable, "the connection broke off"},
}, localFailures...)

var localFailures = []failure{
	{"No space left", domain.CodeUnavailable, "the disk is full"},
	{"Permission denied", domain.CodeForbidden, "the user who runs Harvest may not read it"},
	{"bad config", domain.CodeUnprocessable, "its git configuration is broken; git config --list in it says where"},
	{"not a git repository", domain.CodeUnprocessable, "it is not a git repository"},
	{"loose object", domain.CodeUnprocessable, damaged},
	{"packfile", domain.CodeUnprocessable, damaged},
	{"bad object", domain.CodeUnprocessable, damaged},
	{"not a valid object", domain.CodeUnprocessable, damaged},
	{"not a tree object", domain.CodeUnprocessable, damaged},
	{"corrupt", domain.CodeUnprocessable, damaged},
}

// damaged says what to do about a repository that lacks objects.
const damaged = "objects are missing or damaged; git fsck in it says which, and a partial clone must be made whole (git fetch --refetch)"

// classify turns a failed run that reached the network into a domain error that carries
// git's own last words.
func classify(ctx context.Context, err error, stderr string) error {
	return explain(ctx, err, stderr, failures)
}

// classifyLocal is classify for a run that read what is on this machine.
func classifyLocal(ctx context.Context, err error, stderr string) error {
	return explain(ctx, err, stderr, localFailures)
}

func explain(ctx context.Context, err error, stderr string, known []failure) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return domain.Wrap(domain.CodeUnavailable, err, "git is not installed")
	}
	cause := errors.New(lastWords(stderr, err))
	for _, f := range known {
		if strings.Contains(stderr, f.text) {
			return domain.Wrap(f.code, cause, "the repository can't be read: %s", f.hint)
		}
	}
	return domain.Wrap(domain.CodeUpstream, cause, "git could not read the repository")
}

// lastWords finds the line of stderr that tells the reason.
func lastWords(stderr string, err error) string {
	lines := strings.FieldsFunc(stderr, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range lines {
		if strings.HasPrefix(line, "fatal:") || strings.HasPrefix(line, "error:") {
			return line
		}
	}
	if len(lines) > 0 {
		return lines[len(lines)-1]
	}
	return err.Error()
}
