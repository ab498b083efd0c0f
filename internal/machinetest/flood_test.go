package machinetest_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// memory gives a figure of a process in bytes: VmRSS, what it has, or VmHWM, the most it had.
func memory(pid int, figure string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0 // it has ended
	}
	_, rest, _ := strings.Cut(string(text), figure+":")
	line, _, _ := strings.Cut(rest, " kB")
	kib, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return kib << 10
}

// A command that writes a gigabyte makes nobody large, and the beginning and the end of it are
// kept.
func TestGigabyte(t *testing.T) {
	t.Parallel()
	const (
		size = 1 << 30
		most = 64 << 20 // that anybody may grow
		row  = "0123456789abcdef\n"
	)
	s := newStack(t)
	m := s.machine(s.api.address)
	m.newWord().order().ended() // once, so that what is needed anyway is there
	j := m.prepare()
	j.gate()
	j.line = fmt.Sprintf("cd %s; echo run >>runs; read -r word <gate; yes %s | head -c %d; exit %d", j.dir, strings.TrimSpace(row), size, exitCode)
	j.order().begins()
	grown := map[string]int{"agent": m.cmd.Process.Pid, "API": s.api.cmd.Process.Pid, "shim": shimOf(t, j.id)}
	before, peak := map[string]int64{}, map[string]int64{}
	for name, pid := range grown {
		before[name] = memory(pid, "VmRSS")
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
			t.Fatal(err) // the peak begins anew
		}
	}
	j.release()
	eventually(t, "the gigabyte is written", func() bool {
		for name, pid := range grown {
			peak[name] = max(peak[name], memory(pid, "VmHWM"))
		}
		return j.now().Status.Over()
	})
	for name := range grown {
		t.Logf("the %s grows by %d MiB from %d MiB", name, (peak[name]-before[name])>>20, before[name]>>20)
		if peak[name]-before[name] > most {
			t.Errorf("the %s grows by %d MiB", name, (peak[name]-before[name])>>20)
		}
	}
	c := j.over()
	if c.Status != domain.CommandDone || c.ExitCode == nil || *c.ExitCode != exitCode || c.Stdout.Bytes != size || j.runs() != 1 {
		t.Errorf("the command, which was run %d times, is %s with %d bytes", j.runs(), c.Status, c.Stdout.Bytes)
	}
	rows := bytes.Repeat([]byte(row), 2*agentwire.HeadBytes/len(row))
	end := rows[(size-agentwire.TailBytes)%len(row):][:agentwire.TailBytes]
	if !bytes.Equal(c.Stdout.Head, rows[:agentwire.HeadBytes]) || !bytes.Equal(c.Stdout.Tail, end) {
		t.Errorf("%d and %d bytes of beginning and end are kept, or others", len(c.Stdout.Head), len(c.Stdout.Tail))
	}
	if logged := j.logged()[domain.StreamStdout]; !bytes.Equal(logged, rows[:agentwire.HeadBytes]) {
		t.Errorf("%d bytes are logged, or others", len(logged))
	}
	j.settled(c)
}

// Of a command whose time is up nothing is left, whatever it has started and however that hides.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	m := s.machine(s.api.address)
	j := m.newJob()
	j.limit = 2 * time.Second
	c := j.order().over()
	if c.Status != domain.CommandTimedOut || j.runs() != 1 || !bytes.Equal(c.Stdout.Head, j.stdout[:40<<10]) {
		t.Errorf("the command is %s with %d bytes", c.Status, len(c.Stdout.Head))
	}
	j.settled(c)

	canceled := m.newJob().order().begins()
	if _, err := s.CancelCommand(t.Context(), s.project, canceled.id, domain.Actor{UserID: domain.OwnerID, Name: "owner"}); err != nil {
		t.Fatal(err)
	}
	if c = canceled.over(); c.Status != domain.CommandCanceled || canceled.runs() != 1 {
		t.Errorf("the command is %s", c.Status)
	}
	canceled.settled(c)
}
