package domain

import (
	"strings"
	"time"
)

// Flavor is a size of container.
type Flavor struct {
	ID        string `json:"id"`
	Label     string `json:"label"`
	CPU       int    `json:"cpu"`        // cores
	MemoryMiB int    `json:"memory_mib"` // MiB
}

// Flavors lists the sizes of containers, the smallest first.
func Flavors() []Flavor {
	return []Flavor{
		{ID: "tiny", Label: "Tiny", CPU: 1, MemoryMiB: 512},
		{ID: "small", Label: "Small", CPU: 1, MemoryMiB: 1024},
		{ID: "medium", Label: "Medium", CPU: 2, MemoryMiB: 2048},
		{ID: "large", Label: "Large", CPU: 4, MemoryMiB: 4096},
		{ID: "extra-large", Label: "Extra large", CPU: 8, MemoryMiB: 8192},
	}
}

// FindFlavor gives the size of that id, or invalid with those that there are.
func FindFlavor(id string) (Flavor, error) {
	var known []string
	for _, f := range Flavors() {
		if f.ID == id {
			return f, nil
		}
		known = append(known, f.ID)
	}
	return Flavor{}, Invalid("flavor", "%q is none of %s", Visible(id), strings.Join(known, ", "))
}

// ProvisionStatus is the state of the making of a container.
type ProvisionStatus string

// The states of a provision. Those after running are final.
const (
	ProvisionQueued   ProvisionStatus = "queued"
	ProvisionRunning  ProvisionStatus = "running"
	ProvisionDone     ProvisionStatus = "done"     // the agent is installed; it connects by itself
	ProvisionFailed   ProvisionStatus = "failed"   // what was made is removed again
	ProvisionCanceled ProvisionStatus = "canceled" // likewise
)

// Final reports whether s can change no more.
func (s ProvisionStatus) Final() bool { return s != ProvisionQueued && s != ProvisionRunning }

// ProvisionPhase is a step of a provision, in their order.
type ProvisionPhase string

// The phases of a provision.
const (
	PhaseNetwork ProvisionPhase = "ensure_network"
	PhaseToken   ProvisionPhase = "install_token"
	PhaseCreate  ProvisionPhase = "create_container"
	PhaseStart   ProvisionPhase = "start_container"
	PhaseRunning ProvisionPhase = "wait_running"
	PhaseInstall ProvisionPhase = "install_agent"

	// PhaseRemoving is told of what did not succeed, or is to stop; it is none of the order.
	PhaseRemoving ProvisionPhase = "removing"
)

// ProvisionPhases lists the phases in order.
func ProvisionPhases() []ProvisionPhase {
	return []ProvisionPhase{PhaseNetwork, PhaseToken, PhaseCreate, PhaseStart, PhaseRunning, PhaseInstall}
}

// Place gives the number of the phase, from 1; 0 before the first.
func (p ProvisionPhase) Place() int {
	for i, phase := range ProvisionPhases() {
		if phase == p {
			return i + 1
		}
	}
	return 0
}

// ProvisionOrder asks for an agent in a container of its own. Its ID makes it one and the
// same however often it is asked.
type ProvisionOrder struct {
	ID          string
	ProjectID   string
	UserID      string // who asked, or whose turn did
	Name        string // as the person wrote it
	Description string
	Flavor      string // the id of one
	Instance    string // the name of the container; see InstanceName
	// Key is the idempotency key of the request, "" for none; Hash stands for what was asked.
	Key  string
	Hash []byte
}

// ProvisionNote is what is told of a phase while it goes on.
type ProvisionNote struct {
	Phase   ProvisionPhase
	Message string // for people
	Waiting bool   // it is held up by what the message says, and tried again
}

// Provision is the making of an agent in a container, as it stands.
type Provision struct {
	ProvisionOrder
	Status          ProvisionStatus
	Phase           ProvisionPhase // that it is in, or ended in
	Note            string         // what goes on in it, for people; "" for nothing that is known
	Error           string         // for people: all that LXD and the script said
	ErrorCode       Code
	CancelRequested bool
	Launched        bool // its workflow was started
	CreatedAt       time.Time
	EndedAt         *time.Time
}

// The bounds of what names a container.
const (
	maxInstanceBase = 40 // of 63 bytes that a host name may have
	instanceSuffix  = 8  // characters of the id that make it unique
	fallbackName    = "agent"
)

// InstanceName makes the name of a container of what a person calls it: letters, digits and
// single hyphens, beginning with a letter, and a suffix that is good for one provision.
func InstanceName(name, provisionID string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(name) {
		plain := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		switch {
		case out.Len() >= maxInstanceBase:
		case plain:
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
	}
	base := strings.Trim(strings.TrimLeft(out.String(), "0123456789-"), "-")
	if base == "" {
		base = fallbackName
	}
	id := strings.ReplaceAll(provisionID, "-", "")
	return base + "-" + id[max(0, len(id)-instanceSuffix):]
}

// Container is a container that Harvest made, as LXD has it.
type Container struct {
	Name      string
	ProjectID string // of ours, not of LXD
	Provision string // the id of the provision that made it
	CreatedAt time.Time
}

// ContainerOrder asks for a container.
type ContainerOrder struct {
	Container
	Flavor Flavor
}

// ContainerNetwork is a network that Harvest made for the containers of a project.
type ContainerNetwork struct {
	Name      string
	ProjectID string
	InUse     bool
}

// ContainerAction is a change of a container's state.
type ContainerAction string

// The changes of a container's state.
const (
	ContainerStart   ContainerAction = "start"
	ContainerStop    ContainerAction = "stop"
	ContainerRestart ContainerAction = "restart"
)

// LXDIdentity is by what an installation is known to LXD servers.
type LXDIdentity struct {
	Installation string // an id of the database; it marks what is ours on a server
	Certificate  string // PEM
	Key          string // PEM; sealed where it is stored
}
