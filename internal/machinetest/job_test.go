package machinetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

func farAway() time.Time { return time.Now().Add(24 * time.Hour) }

// job is a command whose effect and output are known. It leaves a line in the file "runs" each
// time it is run.
type job struct {
	s      *site
	m      *machine
	id     string
	dir    string
	stdout []byte
	stderr []byte
	limit  time.Duration
	line   string
}

// prepare gives a command without a line yet.
func (m *machine) prepare() *job {
	m.s.t.Helper()
	return &job{s: m.s, m: m, id: domain.NewID(), dir: m.s.t.TempDir(), limit: 10 * time.Minute}
}

// exitCode is how jobs exit.
const exitCode = 7

// newJob prepares a command: it writes a part of its output, of bytes that are no text, then
// waits until it is released, and then writes the rest.
func (m *machine) newJob() *job {
	m.s.t.Helper()
	return m.newLeaver("-i")
}

// newLeaver is newJob where what the command leaves behind is started by env with a flag: -i
// takes the command's mark from its environment.
func (m *machine) newLeaver(flag string) *job {
	m.s.t.Helper()
	j := m.prepare()
	first, second := noise(40<<10), noise(50<<10)
	j.stdout, j.stderr = append(first, second...), noise(5<<10)
	j.write("first", first)
	j.write("second", second)
	j.write("errors", j.stderr)
	j.gate()
	j.line = fmt.Sprintf(`cd %s; echo run >>runs; (setsid env %s bash -c 'exec -a rest-of-%s sleep 900' </dev/null >/dev/null 2>&1 &)
cat first; read -r word <gate; cat second; cat errors >&2; exit %d`, j.dir, flag, j.id, exitCode)
	return j
}

// gate makes the pipe at which a command waits until it is released.
func (j *job) gate() {
	j.s.t.Helper()
	if err := syscall.Mkfifo(j.path("gate"), 0o600); err != nil {
		j.s.t.Fatal(err)
	}
}

// newTalk prepares a command that writes for some seconds.
func (m *machine) newTalk() *job {
	m.s.t.Helper()
	j := m.prepare()
	var text bytes.Buffer
	for n := range 4000 {
		fmt.Fprintf(&text, "line %d of the output\n", n)
	}
	j.stdout = text.Bytes()
	j.line = fmt.Sprintf(`cd %s; echo run >>runs
for ((n = 0; n < 4000; n++)); do echo "line $n of the output"; ((n %% 50)) || sleep 0.02; done; exit %d`, j.dir, exitCode)
	return j
}

// newWord prepares a command that is over at once.
func (m *machine) newWord() *job {
	m.s.t.Helper()
	j := m.prepare()
	j.stdout, j.stderr = []byte("the word of "+j.id+"\n"), []byte("and of its errors\n")
	j.line = fmt.Sprintf("cd %s; echo run >>runs; echo the word of %s; echo and of its errors >&2; exit %d", j.dir, j.id, exitCode)
	return j
}

// noise gives bytes of any value.
func noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

func (j *job) path(name string) string { return filepath.Join(j.dir, name) }

func (j *job) write(name string, content []byte) {
	j.s.t.Helper()
	if err := os.WriteFile(j.path(name), content, 0o600); err != nil {
		j.s.t.Fatal(err)
	}
}

// ask orders the command by an engine that nothing happens to.
func (j *job) ask() error {
	_, err := j.s.StartCommand(context.Background(), domain.CommandOrder{
		ID: j.id, ProjectID: j.s.project, AgentID: j.m.id, Command: j.line, Timeout: j.limit, Wait: 20 * time.Minute, UserID: domain.OwnerID,
	})
	return err
}

// order is ask, which must not fail.
func (j *job) order() *job {
	j.s.t.Helper()
	if err := j.ask(); err != nil {
		j.s.t.Fatal(err)
	}
	return j
}

// now gives the command as it stands.
func (j *job) now() domain.Command {
	j.s.t.Helper()
	c, err := j.s.store.CommandByID(context.Background(), j.id)
	if err != nil {
		j.s.t.Fatal(err)
	}
	return c
}

// begins waits until the command runs.
func (j *job) begins() *job {
	j.s.t.Helper()
	eventually(j.s.t, "command "+j.id+" begins", func() bool { return j.runs() > 0 })
	return j
}

// speaks waits until the log has some of the output.
func (j *job) speaks() *job {
	j.s.t.Helper()
	eventually(j.s.t, "something of command "+j.id+" is logged", func() bool { return j.now().Taken[domain.StreamStdout] > 0 })
	return j
}

// over waits until the command has ended.
func (j *job) over() domain.Command {
	j.s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := j.s.AwaitCommand(ctx, j.id)
	if err != nil {
		j.s.t.Fatalf("command %s does not end: %v; it is %+v", j.id, err, j.now())
	}
	return c
}

// release lets the command go on.
func (j *job) release() {
	j.s.t.Helper()
	eventually(j.s.t, "command "+j.id+" waits to go on", func() bool {
		gate, err := os.OpenFile(j.path("gate"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return false
		}
		_, err = gate.WriteString("go\n")
		return errors.Join(err, gate.Close()) == nil
	})
}

// runs counts how often the command was run.
func (j *job) runs() int {
	text, err := os.ReadFile(j.path("runs"))
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte("\n"))
}

// ended checks that the command was run once, to its end, and that all of that is known.
func (j *job) ended() {
	j.s.t.Helper()
	j.told()
	logged := j.logged()
	for stream, want := range map[string][]byte{domain.StreamStdout: j.stdout, domain.StreamStderr: j.stderr} {
		if !bytes.Equal(logged[stream], want) {
			j.s.t.Errorf("the log of command %s has %d bytes of %s, which has %d, or others", j.id, len(logged[stream]), stream, len(want))
		}
	}
	j.nothingLeft()
}

// told checks that the command was run once, and what its row and its workflow say of that.
func (j *job) told() domain.Command {
	j.s.t.Helper()
	c := j.over()
	if c.Status != domain.CommandDone || c.ExitCode == nil || *c.ExitCode != exitCode || c.Error != "" || c.Late != nil {
		code := "none"
		if c.ExitCode != nil {
			code = fmt.Sprint(*c.ExitCode)
		}
		j.s.t.Errorf("command %s is %s with the exit code %s: %q, late %+v", j.id, c.Status, code, c.Error, c.Late)
	}
	j.wrote("stdout", c.Stdout, j.stdout)
	j.wrote("stderr", c.Stderr, j.stderr)
	if n := j.runs(); n != 1 {
		j.s.t.Errorf("command %s was run %d times", j.id, n)
	}
	j.known(c)
	return c
}

func (j *job) wrote(stream string, got domain.CommandOutput, want []byte) {
	j.s.t.Helper()
	if got.Bytes != int64(len(want)) || !bytes.Equal(append(bytes.Clone(got.Head), got.Tail...), want) {
		j.s.t.Errorf("command %s has %d bytes of %s, kept %d and %d; it wrote %d, or others", j.id, got.Bytes, stream, len(got.Head), len(got.Tail), len(want))
	}
}

// settled checks what holds however a command has ended: its workflow knows, and nothing of it
// is left on the machine.
func (j *job) settled(c domain.Command) {
	j.s.t.Helper()
	j.known(c)
	j.nothingLeft()
}

// known checks that the workflow of a command ends as the command did. One that was over before
// its workflow could be started has none.
func (j *job) known(c domain.Command) {
	j.s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var result workflows.CommandResult
	err := j.s.temporal.GetWorkflow(ctx, workflows.CommandWorkflowID(j.id), "").Get(ctx, &result)
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return
	}
	if err != nil || result.Status != c.Status {
		j.s.t.Errorf("the workflow of command %s, which is %s, ends with %+v, %v", j.id, c.Status, result, err)
	}
}

func (j *job) nothingLeft() {
	j.s.t.Helper()
	nothingLeft(j.s.t, j.id)
}

// logged puts together what the events of a command say that it wrote.
func (j *job) logged() map[string][]byte {
	j.s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	outputs := map[string][]byte{}
	var types []string
	var last domain.Cursor
	for e, err := range j.s.FollowCommand(ctx, j.id, domain.Cursor{}) {
		if err != nil {
			j.s.t.Fatalf("read the log of command %s: %v", j.id, err)
		}
		if e.Cursor.Seq != last.Seq+1 {
			j.s.t.Errorf("the log of command %s goes on with %d behind %d", j.id, e.Cursor.Seq, last.Seq)
		}
		last = e.Cursor
		types = append(types, string(e.Type))
		if e.Type != domain.EventCommandOutput {
			continue
		}
		var piece struct {
			Stream string `json:"stream"`
			Offset int64  `json:"offset"`
			Text   string `json:"text"`
			Data   []byte `json:"data"`
		}
		if err := json.Unmarshal(e.Payload, &piece); err != nil {
			j.s.t.Fatal(err)
		}
		if piece.Offset != int64(len(outputs[piece.Stream])) {
			j.s.t.Errorf("the log of command %s goes on at %d of %s behind %d", j.id, piece.Offset, piece.Stream, len(outputs[piece.Stream]))
		}
		outputs[piece.Stream] = append(append(outputs[piece.Stream], piece.Text...), piece.Data...)
	}
	all := strings.Join(types, " ")
	if strings.Count(all, string(domain.EventCommandDone)) != 1 || strings.Count(all, string(domain.EventCommandStarted)) > 1 {
		j.s.t.Errorf("the log of command %s has %s", j.id, all)
	}
	return outputs
}
