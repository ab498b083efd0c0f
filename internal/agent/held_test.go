package agent_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that did not descend from the command may hold its output open: here this test,
// by the command's own /proc. That holds up no end, and nothing that was written is lost.
func TestOutputThatIsHeldOpenEnds(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.execute("c1", `echo $$ > `+d.folder+`/pid.new; mv `+d.folder+`/pid.new `+d.folder+`/pid; until [ -e `+d.folder+`/go ]; do sleep 0.01; done; head -c 60000 /dev/zero; echo end`)
	pid := d.file(filepath.Join(d.folder, "pid"))
	held, err := os.OpenFile("/proc/"+pid[:len(pid)-1]+"/fd/1", os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close() })
	d.release()
	result := s.result("c1")
	if got := string(result.StdoutHead); len(got) != 60004 || got[60000:] != "end\n" {
		t.Errorf("of 60,004 bytes %d are kept", len(got))
	}
}
