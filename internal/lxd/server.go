package lxd

import (
	"context"
	"io"
	"time"
)

// InstanceServer is what Harvest does on an LXD server, by the names of LXD's own client. All
// of it happens in the one LXD project of the configuration. Errors are domain errors that
// carry LXD's own text: not_found; unavailable where the server can't be reached or does not
// answer; upstream for all that it refuses.
type InstanceServer interface {
	// GetServer says who the server is, and whether it trusts us. It needs no trust.
	GetServer(ctx context.Context) (Server, error)
	// CreateCertificate makes our certificate a trusted one, by a trust token.
	CreateCertificate(ctx context.Context, name, token string) error

	// GetProject gives a project of LXD.
	GetProject(ctx context.Context, name string) (Project, error)
	// CreateProject makes one.
	CreateProject(ctx context.Context, p Project) error
	// GetProfile gives a profile.
	GetProfile(ctx context.Context, name string) (Profile, error)
	// GetImageAlias gives what an alias of a local image stands for.
	GetImageAlias(ctx context.Context, name string) (ImageAlias, error)

	// GetClusterMembers lists the members of the cluster.
	GetClusterMembers(ctx context.Context) ([]ClusterMember, error)
	// UseTarget gives a server whose calls are meant for one member of the cluster.
	UseTarget(member string) InstanceServer
	// GetNetworks lists the networks.
	GetNetworks(ctx context.Context) ([]Network, error)
	// GetNetwork gives one.
	GetNetwork(ctx context.Context, name string) (Network, error)
	// CreateNetwork makes one.
	CreateNetwork(ctx context.Context, n Network) error
	// DeleteNetwork removes one.
	DeleteNetwork(ctx context.Context, name string) error

	// GetInstances lists the instances.
	GetInstances(ctx context.Context) ([]Instance, error)
	// GetInstance gives one.
	GetInstance(ctx context.Context, name string) (Instance, error)
	// GetInstanceState says how a running one fares.
	GetInstanceState(ctx context.Context, name string) (InstanceState, error)
	// CreateInstance begins to make one.
	CreateInstance(ctx context.Context, n NewInstance) (Operation, error)
	// UpdateInstanceState begins to start, stop or restart one.
	UpdateInstanceState(ctx context.Context, name string, change StateChange) (Operation, error)
	// DeleteInstance begins to remove one, which must be stopped.
	DeleteInstance(ctx context.Context, name string) (Operation, error)
	// ExecInstance runs a command in one, to its end, and gives its exit code.
	ExecInstance(ctx context.Context, name string, e Exec) (code int, err error)

	// GetOperations lists the operations that run, or have just ended.
	GetOperations(ctx context.Context) ([]OperationInfo, error)
	// GetOperation gives one, to be waited for.
	GetOperation(id string) Operation
}

// Operation is work that goes on in the server.
type Operation interface {
	// Wait blocks until the operation has ended. Where ctx ends first the operation is canceled.
	// Errors: upstream with the operation's own error; unavailable where the server has lost it.
	Wait(ctx context.Context) (OperationInfo, error)
	// AddHandler has Wait give the operation to handler as it stands, every few seconds.
	AddHandler(handler func(OperationInfo))
	// Cancel asks the server to stop it; one that has ended is left alone.
	Cancel(ctx context.Context) error
}

// Server is what a server says of itself.
type Server struct {
	Auth        string `json:"auth"` // trusted or untrusted
	Environment struct {
		ServerName    string `json:"server_name"`
		ServerVersion string `json:"server_version"`
		Clustered     bool   `json:"server_clustered"`
	} `json:"environment"`
}

// Project is a project of LXD.
type Project struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Config      map[string]string `json:"config"`
}

// Profile is a profile of LXD.
type Profile struct {
	Name    string                       `json:"name"`
	Devices map[string]map[string]string `json:"devices"`
}

// ImageAlias is a name of a local image.
type ImageAlias struct {
	Name   string `json:"name"`
	Target string `json:"target"` // fingerprint
}

// ClusterMember is a member of a cluster.
type ClusterMember struct {
	Name   string `json:"server_name"`
	Status string `json:"status"` // Online, Offline or Evacuated
}

// MemberOffline is the status of a member that does not answer the others.
const MemberOffline = "Offline"

// Network is a network of LXD.
type Network struct {
	Name        string            `json:"name"`
	Type        string            `json:"type,omitempty"`
	Description string            `json:"description"`
	Managed     bool              `json:"managed,omitempty"`
	Status      string            `json:"status,omitempty"` // Created; in a cluster Pending or Errored before
	Config      map[string]string `json:"config"`
	UsedBy      []string          `json:"used_by,omitempty"` // paths of the API
}

// Instance is an instance of LXD.
type Instance struct {
	Name      string            `json:"name"`
	Status    string            `json:"status"` // Running, Stopped, …
	Config    map[string]string `json:"config"`
	Expanded  map[string]string `json:"expanded_config"` // with what its profiles say
	CreatedAt time.Time         `json:"created_at"`
}

// InstanceState is how a running instance fares.
type InstanceState struct {
	Network map[string]InstanceDevice `json:"network"` // by the device's name
}

// InstanceDevice is a network device in an instance.
type InstanceDevice struct {
	Addresses []InstanceAddress `json:"addresses"`
}

// InstanceAddress is an address of a network device.
type InstanceAddress struct {
	Family  string `json:"family"` // inet or inet6
	Address string `json:"address"`
	Scope   string `json:"scope"` // local, link or global
}

// The statuses of an instance that are asked about.
const (
	StatusRunning = "Running"
	StatusStopped = "Stopped"
)

// NewInstance asks for an instance.
type NewInstance struct {
	Name        string                       `json:"name"`
	Description string                       `json:"description"`
	Type        string                       `json:"type"` // container
	Profiles    []string                     `json:"profiles"`
	Config      map[string]string            `json:"config"`
	Devices     map[string]map[string]string `json:"devices"`
	Source      Source                       `json:"source"`
}

// Source is where an instance's files come from.
type Source struct {
	Type     string `json:"type"` // image
	Alias    string `json:"alias,omitempty"`
	Server   string `json:"server,omitempty"`   // "": a local image
	Protocol string `json:"protocol,omitempty"` // simplestreams
	Mode     string `json:"mode,omitempty"`     // pull
}

// StateChange asks for another state of an instance.
type StateChange struct {
	Action  string `json:"action"` // start, stop or restart
	Timeout int    `json:"timeout"`
	Force   bool   `json:"force"`
}

// Exec is a command to run in an instance.
type Exec struct {
	Command     []string
	Environment map[string]string
	Stdin       io.Reader // nil for none
	// Stdout and Stderr take what it writes; they may be one.
	Stdout, Stderr io.Writer
}

// OperationInfo is an operation as it stands.
type OperationInfo struct {
	ID         string              `json:"id"`
	StatusCode int                 `json:"status_code"`
	Err        string              `json:"err"`
	MayCancel  bool                `json:"may_cancel"`
	Resources  map[string][]string `json:"resources"` // kind to paths of the API
	Metadata   operationMetadata   `json:"metadata"`
}

// operationMetadata is what operations of an exec hold, and those that fetch an image.
type operationMetadata struct {
	Return   *int              `json:"return"`
	FDs      map[string]string `json:"fds"`
	Download string            `json:"download_progress"` // such as "rootfs: 12% (3.45MB/s)"
}

// The status codes of operations.
const (
	operationSucceeded = 200
	operationCanceled  = 401
)

// over reports whether the operation has ended.
func (o OperationInfo) over() bool { return o.StatusCode >= operationSucceeded }
