package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// ToolRunCommand is the tool by which models run commands on machines. A person's own command
// that waits for approval is an action of this name, too.
const ToolRunCommand = "run_command"

// CommandPolicy says which command lines of models run without asking a person.
type CommandPolicy string

// The policies of a project about commands.
const (
	CommandsAlwaysAsk   CommandPolicy = "always"
	CommandsChangesAsk  CommandPolicy = "changes"    // what only reads runs at once
	CommandsAllowListed CommandPolicy = "allow_list" // what the project lists runs at once
)

// Known reports whether p is one of the policies.
func (p CommandPolicy) Known() bool {
	return slices.Contains([]CommandPolicy{CommandsAlwaysAsk, CommandsChangesAsk, CommandsAllowListed}, p)
}

// CommandRules is what a project has settled about commands on its machines.
type CommandRules struct {
	Policy  CommandPolicy
	Allowed []string // patterns, for CommandsAllowListed
}

// ActionStatus gives the state of an action whose command is in state s: applying until it has
// ended.
func (s CommandStatus) ActionStatus() ActionStatus {
	switch s {
	case CommandPending:
		return ActionPending
	case CommandDone:
		return ActionApplied
	case CommandUnknown:
		return ActionUnknown
	case CommandRejected:
		return ActionRejected
	}
	if s.Over() {
		return ActionFailed
	}
	return ActionApplying
}

// CommandIDOf gives the id of the command that a turn's call runs: the same whenever that call is
// run again. It is as long as other ids.
func CommandIDOf(turnID, callID string) string {
	sum := sha256.Sum256([]byte(turnID + "\x00" + callID))
	id := hex.EncodeToString(sum[:16])
	return strings.Join([]string{id[:8], id[8:12], id[12:16], id[16:20], id[20:]}, "-")
}
