package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// The environment that names a server on another machine.
const (
	urlVariable   = "HARVEST_URL"
	tokenVariable = "HARVEST_TOKEN"
)

// connect gives a client of the running Harvest.
func (p *program) connect() (*client.Client, error) {
	base, token, err := p.find()
	if err != nil {
		return nil, err
	}
	api := client.New(base, token, client.DefaultPatience)
	api.Waits = p.waits
	return api, nil
}

// waits says that the server is waited for, and why; commands with a screen say it there.
func (p *program) waits(reason string) {
	fmt.Fprintf(p.errs, "harvest: %s (it is tried again)\n", domain.VisibleFault(reason))
}

// find gives the address of the running Harvest, and a key or the owner token: the one that the
// environment names, the one of the data folder, or the one of harvest login.
func (p *program) find() (base, token string, err error) {
	if base, ok := p.env(urlVariable); ok && base != "" {
		token, _ := p.env(tokenVariable)
		if token == "" {
			_, token, _ = p.keptKey(base)
		}
		if token == "" {
			return "", "", domain.Errorf(domain.CodeUnauthorized,
				"%s is set, but %s is not; set it to the server's owner token or an API key, or log in with: harvest login %s", urlVariable, tokenVariable, base)
		}
		if parsed, err := url.Parse(base); err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
			return "", "", domain.Errorf(domain.CodeInvalid, "%s must be the address of a server, such as https://harvest.example.com", urlVariable)
		}
		return base, token, nil
	}
	dir, err := p.findDataDir()
	if err != nil {
		return "", "", err
	}
	running, err := readInstance(dir)
	if domain.CodeOf(err) == domain.CodeUnavailable { // none runs here
		if base, key, ok := p.keptKey(""); ok {
			return base, key, nil
		}
	}
	if err != nil {
		return "", "", err
	}
	if errors.Is(syscall.Kill(running.PID, 0), syscall.ESRCH) {
		return "", "", domain.Errorf(domain.CodeUnavailable,
			"the harvest of the data folder %s (process %d) is gone; start it with: harvest up (what was under way goes on)", dir, running.PID)
	}
	token, err = readToken(dir)
	return running.API, token, err
}

// findDataDir gives the data folder that the flags or the configuration name; where that is
// the default, also one that lies in a folder above.
func (p *program) findDataDir() (string, error) {
	cfg, err := p.configure()
	if err != nil {
		return "", err
	}
	if p.dataDir != "" || filepath.Base(cfg.Data.Dir) != ".harvest" {
		return cfg.Data.Dir, nil
	}
	for dir := filepath.Dir(cfg.Data.Dir); ; dir = filepath.Dir(dir) {
		candidate := filepath.Join(dir, ".harvest")
		if _, err := os.Stat(filepath.Join(candidate, instanceFile)); err == nil {
			return candidate, nil
		}
		if dir == filepath.Dir(dir) {
			return cfg.Data.Dir, nil
		}
	}
}

// addressOf makes a local path absolute, so that the server finds it from its own folder;
// other addresses stay as they are.
func addressOf(text string) (string, error) {
	if _, err := os.Stat(text); err != nil {
		if isPath(text) && !filepath.IsAbs(text) {
			return "", noFolder(text)
		}
		return text, nil
	}
	path, err := filepath.Abs(text)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", text, err)
	}
	return path, nil
}

func noFolder(path string) error {
	return domain.Errorf(domain.CodeInvalid, "there is no folder %s on this machine", path)
}

// isPath reports whether a text can't be an address: those hold "://", or a host before ":".
func isPath(text string) bool {
	before, _, colon := strings.Cut(text, ":")
	return !colon || strings.ContainsRune(before, os.PathSeparator)
}
