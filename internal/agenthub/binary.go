package agenthub

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// binaryName is how the programs in a folder begin.
const binaryName = "harvest-agent"

// arches are the architectures that agents run on, as programs say it of themselves.
var arches = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}

// archNames are what machines call them.
var archNames = map[string]string{"amd64": "amd64", "x86_64": "amd64", "arm64": "arm64", "aarch64": "arm64"}

// binaries finds the agent's programs, and remembers their checksums.
type binaries struct {
	path string

	mu   sync.Mutex
	sums map[string]sum // by path
}

// sum is the checksum of a file as it was.
type sum struct {
	size     int64
	modified time.Time
	arch     string // "" where it is no program of an agent's
	sha256   string
}

// Binary gives the agent's program for an architecture, as uname or Go call it; "" is that of
// most machines, amd64, or the only one there is. not_found where there is none.
func (h *Hub) Binary(arch string) (domain.AgentBinary, error) {
	all, err := h.binaries.all()
	if err != nil {
		return domain.AgentBinary{}, err
	}
	want := archNames[arch]
	if arch == "" {
		want = "amd64"
	}
	found, ok := all[want]
	if !ok && arch == "" && len(all) == 1 {
		for _, only := range all {
			return only, nil
		}
	}
	switch {
	case ok:
		return found, nil
	case h.BinaryPath == "":
		return found, domain.NotFound("this server has no harvest-agent to give away; set binary_path under [agents]")
	}
	return found, domain.NotFound("this server has no harvest-agent for %q; put one beside the others under [agents] binary_path", domain.Visible(arch))
}

// Installs gives what says, at each time, what keeps machines from being installed from a server
// with these settings: unavailable where it does not know its own address, or has no program to
// give away.
func Installs(publicURL, binaryPath string) func() error {
	programs := &binaries{path: binaryPath}
	return func() error {
		if publicURL == "" {
			return domain.Errorf(domain.CodeUnavailable, "machines would not find this server: set public_url under [agents]")
		}
		all, err := programs.all()
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return domain.Errorf(domain.CodeUnavailable, "this server has no harvest-agent to give away: set binary_path under [agents] to the folder that has it")
		}
		return nil
	}
}

// all gives the programs by architecture: the first, by name, of each.
func (b *binaries) all() (map[string]domain.AgentBinary, error) {
	paths, err := b.candidates()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	found := map[string]domain.AgentBinary{}
	for _, path := range paths {
		s, err := b.sum(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("read harvest-agent: %w", err)
		}
		if _, taken := found[s.arch]; !taken && s.arch != "" {
			found[s.arch] = domain.AgentBinary{Arch: s.arch, Path: path, SHA256: s.sha256, Size: s.size, Modified: s.modified}
		}
	}
	return found, nil
}

// candidates lists the files that may be programs of agents.
func (b *binaries) candidates() ([]string, error) {
	if b.path == "" {
		return nil, nil
	}
	if strings.ContainsAny(b.path, "*?[") {
		return filepath.Glob(b.path)
	}
	info, err := os.Stat(b.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for harvest-agent: %w", err)
	case !info.IsDir():
		return []string{b.path}, nil
	}
	entries, err := os.ReadDir(b.path) // by name
	if err != nil {
		return nil, fmt.Errorf("look for harvest-agent: %w", err)
	}
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), binaryName) {
			paths = append(paths, filepath.Join(b.path, e.Name()))
		}
	}
	return paths, nil
}

// sum gives the checksum of a file, computed once for as long as it stays the same.
func (b *binaries) sum(path string) (sum, error) {
	info, err := os.Stat(path)
	if err != nil {
		return sum{}, err
	}
	if known, ok := b.sums[path]; ok && known.size == info.Size() && known.modified.Equal(info.ModTime()) {
		return known, nil
	}
	s := sum{size: info.Size(), modified: info.ModTime()}
	if info.Mode().IsRegular() {
		if s.arch, s.sha256, err = digest(path); err != nil {
			return sum{}, err
		}
	}
	if b.sums == nil {
		b.sums = map[string]sum{}
	}
	b.sums[path] = s
	return s, nil
}

// digest gives the architecture of a program, "" where it is none of an agent's, and its
// checksum.
func digest(path string) (arch, checksum string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer file.Close()
	program, err := elf.NewFile(file)
	if err != nil {
		return "", "", nil // a list of checksums beside it, for instance
	}
	if arch = arches[program.Machine]; arch == "" {
		return "", "", nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", "", err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", "", err
	}
	return arch, hex.EncodeToString(hash.Sum(nil)), nil
}
