package agent_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// peak gives the most memory that a process has had, in bytes.
func peak(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatal("the system tells nothing of its memory")
	return 0
}

func diskUse(t *testing.T, folder string) int64 {
	t.Helper()
	var sum int64
	err := filepath.Walk(folder, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestAGigabyteOfOutputIsBounded(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.connected()
	before := peak(t, d.cmd.Process.Pid)
	began := time.Now()
	s.send(agentwire.Message{
		Type: agentwire.Execute, RequestID: "c1", TimeoutSecs: 300,
		Command: `echo begin; head -c 1073741824 /dev/zero; echo end; echo x > ` + d.folder + `/written; until [ -e ` + d.folder + `/go ]; do sleep 0.01; done`,
	})
	d.file(filepath.Join(d.folder, "written"))
	t.Logf("1 GiB was written in %s", time.Since(began))
	shim := peak(t, d.shim("c1"))
	disk := diskUse(t, d.state)
	d.release()
	result := s.result("c1")
	agent := peak(t, d.cmd.Process.Pid)
	t.Logf("the shim took %d KiB, the agent %d after %d, the disk %d", shim>>10, agent>>10, before>>10, disk>>10)
	if shim > 32<<20 || agent-before > 64<<20 || disk > 5<<20 {
		t.Error("that is too much")
	}
	if want := int64(1<<30 + len("begin\nend\n")); result.StdoutBytes != want {
		t.Errorf("%d bytes were counted of %d", result.StdoutBytes, want)
	}
	if !bytes.HasPrefix(result.StdoutHead, []byte("begin\n\x00")) || len(result.StdoutHead) != agentwire.HeadBytes {
		t.Errorf("the head is %d bytes, %q", len(result.StdoutHead), result.StdoutHead[:10])
	}
	if !bytes.HasSuffix(result.StdoutTail, []byte("\x00end\n")) || len(result.StdoutTail) != agentwire.TailBytes {
		t.Errorf("the tail is %d bytes", len(result.StdoutTail))
	}
}

// smallDisk gives a folder that can be filled.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	folder := t.TempDir()
	if err := unix.Mount("none", folder, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Fatalf("a small disk can be mounted by root alone: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
	return folder
}

// fill leaves no byte free on a disk, and gives the file that does.
func fill(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "ballast")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for size := 64 << 10; size > 0; size /= 2 {
		for {
			if _, err := file.Write(make([]byte, size)); err != nil {
				break
			}
		}
	}
	return path
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	disk := smallDisk(t, 3<<20)
	d := newDaemon(t, s, fmt.Sprintf("state_dir = %q", filepath.Join(disk, "state")))
	d.state = filepath.Join(disk, "state")
	d.start()
	s.execute("c1", "echo fine")
	s.result("c1")

	// It fills up while a command runs: its end is told, its output as far as there is room.
	s.execute("c2", `printf first; until [ -e `+d.folder+`/go ]; do sleep 0.01; done; head -c 500000 /dev/zero; exit 6`)
	s.output("c2", "first")
	ballast := fill(t, disk)
	d.release()
	result := s.result("c2")
	if result.Outcome != agentwire.Exited || result.ExitCode == nil || *result.ExitCode != 6 || result.StdoutBytes != 500005 {
		t.Errorf("on a disk that was full the command ended %q by %v, %d bytes", result.Outcome, result.ExitCode, result.StdoutBytes)
	}
	if !bytes.HasPrefix(result.StdoutHead, []byte("first")) || !strings.Contains(result.Error, "no space left") {
		t.Errorf("of its output %d bytes are there, and it says %q", len(result.StdoutHead), result.Error)
	}

	// It is full before: the command does not run, and the agent goes on.
	d.forgets()
	fill(t, disk)
	s.execute("c3", "echo x > "+d.folder+"/ran")
	result = s.result("c3")
	if result.Outcome != agentwire.NotStarted || !strings.Contains(result.Error, "no space left") {
		t.Errorf("on a full disk the command ended %q: %s", result.Outcome, result.Error)
	}
	if _, err := os.Stat(filepath.Join(d.folder, "ran")); err == nil {
		t.Error("it ran all the same")
	}
	s.execute("c3", "echo x > "+d.folder+"/ran")
	if again := s.resultAgain("c3", 2); again.Outcome != agentwire.NotStarted {
		t.Errorf("delivered again it ended %q", again.Outcome)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s.execute("c4", "echo fine again")
	if result := s.result("c4"); string(result.StdoutHead) != "fine again\n" {
		t.Errorf("with room again it ended %+v", result)
	}
}
