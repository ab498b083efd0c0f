package settings

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Machine is what the state folder says of the machine that it was made on.
type Machine struct {
	ID string
	// Copied: that was another one. Its commands are none of this machine's.
	Copied bool

	path  string
	facts facts
}

// facts tell a machine from one whose disk is a copy of its.
type facts struct {
	Boot      string   `json:"boot"`         // of the machine as it ran last
	Init      string   `json:"init"`         // when its first process began, by the clock of that boot; of containers each has its own
	MachineID string   `json:"machine_id"`   // of the system
	Product   string   `json:"product_uuid"` // of the hardware, which only root may read, and not in a container
	Addresses []string `json:"addresses"`    // of its network cards
}

// ReadMachine gives the id of this machine, which is made at the first call and kept in the
// state folder. Root is the folder with the system's own files: /.
func ReadMachine(stateDir, root string) (Machine, error) {
	m := Machine{path: filepath.Join(stateDir, "machine"), facts: readFacts(root)}
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return m, fmt.Errorf("make the state folder: %w", err)
	}
	text, err := os.ReadFile(m.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return m, fmt.Errorf("read the id of this machine: %w", err)
	}
	id, rest, _ := strings.Cut(string(text), "\n")
	if m.ID = strings.TrimSpace(id); m.ID == "" {
		return m, m.Renew()
	}
	var before facts
	if json.Unmarshal([]byte(rest), &before) == nil {
		m.Copied = before.copiedTo(m.facts)
	}
	if stored, _ := m.text(); !m.Copied && !bytes.Equal(stored, text) {
		_ = Replace(m.path, stored, 0o600) // a full disk keeps the facts of before
	}
	return m, nil
}

// Renew gives the machine an id of its own.
func (m *Machine) Renew() error {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails
	m.ID, m.Copied = hex.EncodeToString(random), false
	text, err := m.text()
	if err == nil {
		err = Replace(m.path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("store the id of this machine: %w", err)
	}
	return nil
}

// text is the file: the id, and the facts on a line of their own.
func (m *Machine) text() ([]byte, error) {
	facts, err := json.Marshal(m.facts)
	return fmt.Appendf(nil, "%s\n%s\n", m.ID, facts), err
}

// copiedTo reports whether the disk of a machine is now that of another one. A part of it may
// change, as a card, and so may all while it runs.
func (f facts) copiedTo(now facts) bool {
	switch {
	case f.Boot != "" && f.Boot == now.Boot && !f.besides(now):
		return false
	case f.MachineID != "" && now.MachineID != "" && f.MachineID != now.MachineID:
		return true
	case f.Product != "" && now.Product != "":
		return f.Product != now.Product
	case f.MachineID == "" || len(f.Addresses) == 0 || len(now.Addresses) == 0:
		return false // as in containers that are made anew for each run
	}
	return !slices.ContainsFunc(f.Addresses, func(a string) bool { return slices.Contains(now.Addresses, a) })
}

// besides reports whether two runs in one boot are of two containers of one host, of which the
// second was made from the first. A container that was merely started again has another first
// process too, but its cards keep their addresses where these were given for good: others, which
// programs draw as they start it (the second bit of the first byte is set), say nothing.
func (f facts) besides(now facts) bool {
	before, after := lasting(f.Addresses), lasting(now.Addresses)
	if f.Init == "" || now.Init == "" || f.Init == now.Init || len(before) == 0 || len(after) == 0 {
		return false
	}
	return !slices.ContainsFunc(before, func(a string) bool { return slices.Contains(after, a) })
}

// lasting gives those of addresses that nobody has drawn.
func lasting(addresses []string) []string {
	return slices.DeleteFunc(slices.Clone(addresses), func(address string) bool {
		first, _, _ := strings.Cut(address, ":")
		bits, err := strconv.ParseUint(first, 16, 8)
		return err != nil || bits&2 != 0
	})
}

// began gives when the first process of the machine was started; "" where that can't be read.
func began(root string) string {
	stat := line(filepath.Join(root, "proc/1/stat"))
	_, rest, _ := strings.Cut(stat[strings.LastIndexByte(stat, ')')+1:], " ") // its name may hold anything
	if fields := strings.Fields(rest); len(fields) >= 20 {
		return fields[19]
	}
	return ""
}

func readFacts(root string) facts {
	return facts{
		Init:      began(root),
		Boot:      line(filepath.Join(root, "proc/sys/kernel/random/boot_id")),
		MachineID: line(filepath.Join(root, "etc/machine-id")),
		Product:   line(filepath.Join(root, "sys/class/dmi/id/product_uuid")),
		Addresses: addresses(filepath.Join(root, "sys/class/net")),
	}
}

// addresses gives those of the network cards; where there is none, as in a container, those of
// what takes their place. Bridges are left out, which programs make, with addresses that a copy
// has as well.
func addresses(folder string) []string {
	var cards, others []string
	names, _ := os.ReadDir(folder)
	for _, name := range names {
		path := filepath.Join(folder, name.Name())
		address := line(filepath.Join(path, "address"))
		if strings.Trim(address, "0:") == "" || there(filepath.Join(path, "bridge")) {
			continue
		}
		if there(filepath.Join(path, "device")) {
			cards = append(cards, address)
		} else {
			others = append(others, address)
		}
	}
	if len(cards) > 0 {
		return cards
	}
	return others
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// line reads a file of one line; "" where it can't be read.
func line(path string) string {
	text, _ := os.ReadFile(path)
	return strings.TrimSpace(string(text))
}

// Boot names the current run of the machine; it is empty where the system does not say.
func Boot() string { return line("/proc/sys/kernel/random/boot_id") }
