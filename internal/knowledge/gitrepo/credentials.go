package gitrepo

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Credentials open a private repository. The zero value is no credentials. They reach git by
// its environment and by a file of mode 0600, never by the command line.
type Credentials struct {
	Token      string // https: a personal access token or password, as NAME:TOKEN where the host wants a name of its own
	SSHKey     []byte // ssh: a private key without passphrase, as text
	SSHKeyPath string // ssh: the path of such a key
}

// String hides the secrets.
func (c Credentials) String() string {
	return fmt.Sprintf("credentials(token %t, key %t)", c.Token != "", len(c.SSHKey) > 0 || c.SSHKeyPath != "")
}

// GoString hides the secrets.
func (c Credentials) GoString() string { return c.String() }

// environment gives the variables that let git use c for addr, and a function that removes
// what was written for it. knownHosts is the file in which ssh remembers keys of hosts.
func (c Credentials) environment(addr Address, knownHosts string) (env []string, clean func(), err error) {
	clean = func() {}
	scheme, _, _ := strings.Cut(addr.URL, "://")
	switch scheme {
	case "https":
		return c.header(addr), clean, nil
	case "ssh":
		key := c.SSHKeyPath
		if len(c.SSHKey) > 0 {
			if key, clean, err = writeKey(c.SSHKey); err != nil {
				return nil, nil, err
			}
		}
		return []string{"GIT_SSH_VARIANT=ssh", "GIT_SSH_COMMAND=" + sshCommand(key, knownHosts)}, clean, nil
	}
	return nil, clean, nil
}

// header configures an authorization header for the address's host alone. Redirects are
// refused then, so that the token reaches no other host.
func (c Credentials) header(addr Address) []string {
	if c.Token == "" {
		return nil
	}
	u, err := url.Parse(addr.URL)
	if err != nil {
		return nil
	}
	basic := base64.StdEncoding.EncodeToString([]byte(c.login()))
	return []string{
		"GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=http.https://" + u.Host + "/.extraHeader", "GIT_CONFIG_VALUE_0=Authorization: Basic " + basic,
		"GIT_CONFIG_KEY_1=http.followRedirects", "GIT_CONFIG_VALUE_1=false",
	}
}

// anyUser stands for the name of those whose hosts judge the token alone, as GitHub and GitLab
// do with personal ones.
const anyUser = "x-access-token"

// login gives what basic authorization is made of.
func (c Credentials) login() string {
	if name, _, named := strings.Cut(c.Token, ":"); named && name != "" {
		return c.Token
	}
	return anyUser + ":" + strings.TrimPrefix(c.Token, ":")
}

func writeKey(key []byte) (path string, clean func(), err error) {
	dir, err := os.MkdirTemp("", "harvest-key-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the ssh key: %w", err)
	}
	clean = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, "key")
	// ssh refuses a key whose last line is not ended.
	text := append([]byte(strings.TrimRight(string(key), "\r\n")), '\n')
	if err := os.WriteFile(path, text, 0o600); err != nil {
		clean()
		return "", nil, fmt.Errorf("write the ssh key: %w", err)
	}
	return path, clean, nil
}

func sshCommand(key, knownHosts string) string {
	parts := []string{"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ForwardAgent=no", "-o", "ClearAllForwardings=yes",
		"-o", "StrictHostKeyChecking=accept-new", "-o", quote(`UserKnownHostsFile="` + knownHosts + `" ~/.ssh/known_hosts`)}
	if key != "" {
		parts = append(parts, "-o", "IdentitiesOnly=yes", "-i", quote(key))
	}
	return strings.Join(parts, " ")
}

// quote makes s one word of a shell command.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// check refuses credentials that the address can't use, so that a wrong setting is told and
// not ignored.
func (c Credentials) check(addr Address) error {
	scheme, _, _ := strings.Cut(addr.URL, "://")
	if c.Token != "" && scheme != "https" {
		return domain.Invalid("token", "a token is for https addresses only")
	}
	if strings.ContainsAny(c.Token, "\r\n\x00") {
		return domain.Invalid("token", "the token holds a line break")
	}
	if (len(c.SSHKey) > 0 || c.SSHKeyPath != "") && scheme != "ssh" {
		return domain.Invalid("ssh_key", "an ssh key is for ssh addresses only")
	}
	return nil
}
