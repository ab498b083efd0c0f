package tools

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// How much of each output a model gets, in bytes.
const (
	stdoutShown = 28 << 10
	stderrShown = 12 << 10
)

// commandResult is the end of a command as a model reads it.
func commandResult(c domain.Command) domain.ToolResult {
	var r report
	how := ending(c)
	r.line("%s", how)
	showOutput(&r, "stdout", c.Stdout, stdoutShown)
	showOutput(&r, "stderr", c.Stderr, stderrShown)
	switch {
	case c.Swept == 1:
		r.line("It left a process behind, which was ended with it.")
	case c.Swept > 1:
		r.line("It left %d processes behind, which were ended with it.", c.Swept)
	}
	first, _, _ := strings.Cut(how, "\n")
	result := r.result("%s", first)
	result.Error = c.Status != domain.CommandDone
	result.Unknown = c.Status == domain.CommandUnknown
	return result
}

// ending says how a command ended, and what that means.
func ending(c domain.Command) string {
	why := ""
	if c.Error != "" {
		why = ": " + c.Error
	}
	switch c.Status {
	case domain.CommandDone:
		code := "without an exit code"
		if c.ExitCode != nil {
			code = fmt.Sprintf("with exit code %d", *c.ExitCode)
		}
		return fmt.Sprintf("The command ended %s on %s%s.", code, c.Hostname, took(c))
	case domain.CommandTimedOut:
		return fmt.Sprintf("The command was ended on %s at its time limit of %s, with all that it had started%s.\nWhat it did until then is done. Ask for more time (timeout_secs), or for less.", c.Hostname, c.Timeout, why)
	case domain.CommandCanceled:
		return fmt.Sprintf("The command was canceled on %s%s.\nWhat it did until then is done.", c.Hostname, why)
	case domain.CommandExpired:
		return fmt.Sprintf("Not run: %s was not connected in time%s.\nlist_agents tells which machines are online.", c.Hostname, why)
	case domain.CommandFailed:
		return fmt.Sprintf("Not run: %s could not start the command%s.", c.Hostname, why)
	case domain.CommandRejected:
		return fmt.Sprintf("Not run: nobody approved it%s.", why)
	}
	return fmt.Sprintf("Unknown: the command was sent to %s, and how it ended can't be known%s.\nIt is not run again by itself. Find out how things stand before anything else.", c.Hostname, why)
}

// took says how long a command ran.
func took(c domain.Command) string {
	if c.StartedAt == nil || c.EndedAt == nil || c.EndedAt.Before(*c.StartedAt) {
		return ""
	}
	return fmt.Sprintf(", %s after it was begun", c.EndedAt.Sub(*c.StartedAt).Round(10*time.Millisecond))
}

// showOutput writes an output: whole, or its beginning and its end with what lacks between.
func showOutput(r *report, name string, o domain.CommandOutput, most int) {
	if o.Bytes == 0 && len(o.Head) == 0 {
		r.line("%s: nothing", name)
		return
	}
	head, tail := string(o.Head), string(o.Tail)
	cut := o.Cut()
	if cut == 0 {
		head, tail = head+tail, ""
	}
	if len(head)+len(tail) > most {
		all := head + tail
		first, last := most*2/3, most/3
		if cut > 0 && len(head) < first {
			first = len(head)
		}
		cut += int64(len(all) - first - last)
		head, tail = all[:first], all[len(all)-last:]
	}
	if cut == 0 {
		r.line("%s (%d bytes):\n%s", name, o.Bytes, strings.TrimSuffix(readable(head), "\n"))
		return
	}
	r.truncated = true
	r.line("%s (%d bytes; the beginning and the end are shown):\n%s\n… %d bytes are left out here. Ask for a part of it (head, tail, grep) …\n%s",
		name, o.Bytes, readable(head), cut, strings.TrimSuffix(readable(tail), "\n"))
}

// readable gives bytes as text: letters that were cut in two at the ends are left out, and bytes
// that are none show as such.
func readable(text string) string {
	for i := 0; i < utf8.UTFMax-1 && len(text) > 0 && !utf8.RuneStart(text[0]); i++ {
		text = text[1:]
	}
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(text[len(text)-i:]) {
				text = text[:len(text)-i]
			}
			break
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
