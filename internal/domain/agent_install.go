package domain

import "time"

// The bounds of install tokens.
const (
	DefaultInstallLife = 24 * time.Hour
	MaxInstallLife     = 30 * 24 * time.Hour
	MaxInstallUses     = 100_000
)

// InstallOrder asks for the command that installs the agent on a machine.
type InstallOrder struct {
	ProjectID string
	CreatedBy string
	Life      time.Duration // of its token; 0: DefaultInstallLife
	Uses      int           // machines that may join with it; 0: any number
	Rotate    bool          // ends all earlier tokens of the project
}

// InstallCommand is what a person runs on a machine. The token in it is shown this once.
type InstallCommand struct {
	Command   string    `json:"command"`   // for a machine with curl
	Wget      string    `json:"wget"`      // for one with wget
	Uninstall string    `json:"uninstall"` // removes it again
	ExpiresAt time.Time `json:"expires_at"`
	Uses      *int      `json:"uses"` // machines that may join; nil: any number
}

// AgentBinary is the agent's program for one architecture.
type AgentBinary struct {
	Arch     string // amd64 or arm64
	Path     string
	SHA256   string // in hex
	Size     int64
	Modified time.Time
}
