package domain

import (
	"regexp"
	"strings"
	"time"
)

const (
	maxCommandID          = 200
	maxCommandDescription = 2000 // bytes
	maxCommandEnv         = 64 << 10
)

// variableName is what shells take as the name of a variable.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Check gives the order with its defaults, or an invalid error that names the field.
func (o CommandOrder) Check() (CommandOrder, error) {
	if o.Timeout == 0 {
		o.Timeout = DefaultCommandTimeout
	}
	if o.Wait == 0 {
		o.Wait = DefaultCommandWait
	}
	o.Description = CleanText(o.Description)
	if len(o.Description) > maxCommandDescription {
		o.Description = strings.ToValidUTF8(o.Description[:maxCommandDescription], "")
	}
	switch {
	case o.ID == "" || len(o.ID) > maxCommandID || CleanText(o.ID) != o.ID:
		return o, Invalid("id", "must be plain text of at most %d bytes", maxCommandID)
	case strings.TrimSpace(o.Command) == "":
		return o, Invalid("command", "must not be empty")
	case len(o.Command) > MaxCommandBytes:
		return o, Invalid("command", "must have at most %d bytes; put a longer one into a file on the machine", MaxCommandBytes)
	case CleanText(o.Command) != o.Command:
		return o, Invalid("command", "must be UTF-8 without NUL characters")
	case o.Timeout < time.Second || o.Timeout > MaxToolTimeout:
		return o, Invalid("timeout_secs", "must be between 1 and %d seconds", int(MaxToolTimeout.Seconds()))
	case o.Wait < 0 || o.Wait > MaxCommandWait:
		return o, Invalid("wait_secs", "must be at most %d seconds", int(MaxCommandWait.Seconds()))
	}
	return o, checkEnv(o.Env)
}

func checkEnv(env map[string]string) error {
	size := 0
	for name, value := range env {
		size += len(name) + len(value)
		if !variableName.MatchString(name) {
			return Invalid("env", "%q is no name of a variable; take letters, digits and _", name)
		}
		if CleanText(value) != value {
			return Invalid("env", "the value of %s must be UTF-8 without NUL characters", name)
		}
	}
	if size > maxCommandEnv {
		return Invalid("env", "must have at most %d bytes in all", maxCommandEnv)
	}
	return nil
}
