// Package settings reads and keeps the agent's configuration file.
package settings

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// Defaults of where things are.
const (
	DefaultPath     = "/etc/harvest-agent/config.toml"
	DefaultStateDir = "/var/lib/harvest-agent"
)

// Values are the settings of the file.
type Values struct {
	ServerURL  string `toml:"server_url"`  // of the API, such as https://harvest.example.com
	AgentToken string `toml:"agent_token"` // the install token at first; the agent puts its permanent one in its place
	StateDir   string `toml:"state_dir"`   // of the journal; DefaultStateDir beside the default file, else the folder "state" beside the file
	CACert     string `toml:"ca_cert"`     // a PEM file with authorities that are trusted beside the system's
	Hostname   string `toml:"hostname"`    // to be known by; the machine's where it is empty
	// MaxCommands is how many commands run at once; others wait for their turn.
	MaxCommands int `toml:"max_commands"`
}

// File is the configuration on the disk.
type File struct {
	path string

	mu     sync.Mutex
	values Values
}

// Load reads the file. One that others can read is closed to them: it holds the token.
func Load(path string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no configuration at %s; the install command of a project writes it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, fmt.Errorf("%s holds a token and can be read by others; set its mode to 0600: %w", path, err)
		}
	}
	values, err := parse(text, path)
	if err != nil {
		return nil, err
	}
	return &File{path: path, values: values}, nil
}

func parse(text []byte, path string) (Values, error) {
	values := Values{MaxCommands: 64}
	decoder := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := decoder.Decode(&values); err != nil {
		return Values{}, fmt.Errorf("%s: %s", path, explain(err))
	}
	if values.StateDir == "" {
		values.StateDir = filepath.Join(filepath.Dir(path), "state")
		if path == DefaultPath {
			values.StateDir = DefaultStateDir
		}
	}
	return values, values.check(path)
}

func explain(err error) string {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		var names []string
		for _, e := range unknown.Errors {
			row, _ := e.Position()
			names = append(names, fmt.Sprintf("%s (line %d)", strings.Join(e.Key(), "."), row))
		}
		return "unknown setting " + strings.Join(names, ", ") +
			"; there are server_url, agent_token, state_dir, ca_cert, hostname and max_commands"
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		row, column := wrong.Position()
		return fmt.Sprintf("line %d, column %d: %s", row, column, wrong.Error())
	}
	return err.Error()
}

func (v Values) check(path string) error {
	server, err := url.Parse(v.ServerURL)
	switch {
	case v.ServerURL == "":
		return fmt.Errorf("%s: server_url is missing", path)
	case err != nil || server.Scheme != "http" && server.Scheme != "https" || server.Host == "":
		return fmt.Errorf("%s: server_url is no address such as https://harvest.example.com: %q", path, v.ServerURL)
	case server.User != nil || server.RawQuery != "" || server.Fragment != "":
		return fmt.Errorf("%s: server_url has no user, query or fragment", path)
	case v.AgentToken == "":
		return fmt.Errorf("%s: agent_token is missing; the install command of a project gives one", path)
	case !IsToken(v.AgentToken):
		return fmt.Errorf("%s: agent_token holds what no token has", path)
	case v.MaxCommands < 1 || v.MaxCommands > 1000:
		return fmt.Errorf("%s: max_commands is from 1 to 1000", path)
	}
	return nil
}

// IsToken reports whether a text may be a token: it becomes part of a header.
func IsToken(text string) bool {
	return text != "" && len(text) <= 1000 && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Values gives the settings as they are now.
func (f *File) Values() Values {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.values
}

// Path gives the absolute path of the file.
func (f *File) Path() string { return f.path }

// Token gives the token to connect with.
func (f *File) Token() string { return f.Values().AgentToken }

// tokenLine is the line of the token, wherever it stands before the first table.
var tokenLine = regexp.MustCompile(`(?m)^[ \t]*agent_token[ \t]*=.*$`)

// SetToken puts a token in the place of the one in the file and leaves the rest as it is. It
// counts from here on even where the file can't be written, which the error says.
func (f *File) SetToken(token string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.values.AgentToken = token
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("store the token: %w", err)
	}
	changed := tokenLine.ReplaceAllLiteral(text, []byte("agent_token = "+strconv.Quote(token)))
	if values, err := parse(changed, f.path); err != nil || values.AgentToken != token {
		return fmt.Errorf("store the token: there is no line for agent_token in %s", f.path)
	}
	if err := Replace(f.path, changed, 0o600); err != nil {
		return fmt.Errorf("store the token: %w", err)
	}
	return nil
}
