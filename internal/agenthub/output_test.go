package agenthub_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

const value = "correct horse battery"

// newRunning is a rig with a secret, on whose agent the command "c1" runs.
func newRunning(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, with(safe{values: []string{value}}))
	r.runs("c1")
	return r
}

func chunk(stream agentwire.Stream, offset int64, data string) agentwire.Chunk {
	return agentwire.Chunk{Stream: stream, Offset: offset, Data: []byte(data)}
}

func (r *rig) post(chunks ...agentwire.Chunk) agentwire.OutputTaken {
	r.t.Helper()
	got, err := r.Output(r.t.Context(), r.agent, agentwire.Output{RequestID: "c1", Chunks: chunks}, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

// Chunks are taken where the log ends: what comes twice is taken once, and what comes too
// early not at all.
func TestOutput(t *testing.T) {
	t.Parallel()
	r := newRunning(t)
	for _, step := range []struct {
		chunks []agentwire.Chunk
		want   agentwire.OutputTaken
	}{
		{[]agentwire.Chunk{chunk("stdout", 0, "one "), chunk("stderr", 0, "oops "), chunk("stdout", 4, "two ")}, agentwire.OutputTaken{OK: true, Stdout: 8, Stderr: 5}},
		{[]agentwire.Chunk{chunk("stdout", 4, "two ")}, agentwire.OutputTaken{OK: true, Stdout: 8, Stderr: 5}},
		{[]agentwire.Chunk{chunk("stdout", 6, "o three ")}, agentwire.OutputTaken{OK: true, Stdout: 14, Stderr: 5}},
		{[]agentwire.Chunk{chunk("stdout", 20, "late")}, agentwire.OutputTaken{OK: true, Stdout: 14, Stderr: 5}},
		{nil, agentwire.OutputTaken{OK: true, Stdout: 14, Stderr: 5}},
	} {
		if got := r.post(step.chunks...); got != step.want {
			t.Errorf("of %v is taken %+v, want %+v", step.chunks, got, step.want)
		}
	}
	want := []domain.CommandChunk{
		{Stream: "stdout", Data: []byte("one ")}, {Stream: "stderr", Data: []byte("oops ")},
		{Stream: "stdout", Offset: 4, Data: []byte("two ")}, {Stream: "stdout", Offset: 8, Data: []byte("three ")},
	}
	if diff := cmp.Diff(want, r.m.logs["c1"]); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
}

// A value that comes in pieces is in the log in none of them, wherever it is cut.
func TestOutputHoldsBackValues(t *testing.T) {
	t.Parallel()
	text := "the password is " + value + " indeed"
	for cut := 1; cut < len(text); cut++ {
		r := newRunning(t)
		taken := r.post(chunk("stdout", 0, text[:cut])).Stdout
		if log := r.m.text("c1", "stdout"); strings.Contains(log, value[:4]) && !strings.Contains(log, "[secret]") {
			t.Errorf("cut at %d the log has %q", cut, log)
		}
		r.post(chunk("stdout", taken, text[taken:]))
		if log := r.m.text("c1", "stdout"); log != "the password is [secret] indeed" {
			t.Errorf("cut at %d the log is %q", cut, log)
		}
	}
	r := newRunning(t) // in pieces of one post
	r.post(chunk("stdout", 0, text[:20]), chunk("stderr", 0, "x"), chunk("stdout", 20, text[20:]))
	if log := r.m.text("c1", "stdout"); log != "the password is [secret] indeed" {
		t.Errorf("the log is %q", log)
	}
}

// Characters are not torn, and bytes that are none are kept.
func TestOutputKeepsBytes(t *testing.T) {
	t.Parallel()
	r := newRunning(t)
	if got := r.post(chunk("stdout", 0, "a\xe2\x82")); got.Stdout != 1 {
		t.Errorf("of half a character %d bytes are taken", got.Stdout)
	}
	r.post(chunk("stdout", 1, "\xe2\x82\xac\x00\xff\xfe b"))
	if log := r.m.text("c1", "stdout"); log != "a€\x00\xff\xfe b" {
		t.Errorf("the log is %q", log)
	}
}

// A plain agent sends lines, each once.
func TestLines(t *testing.T) {
	t.Parallel()
	r := newRunning(t)
	for _, text := range []string{"one", "", "the password is " + value, "two"} {
		if _, err := r.Output(t.Context(), r.agent, agentwire.Output{RequestID: "c1", Stream: agentwire.Stdout}, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if log := r.m.text("c1", "stdout"); log != "one\n\nthe password is [secret]\ntwo\n" {
		t.Errorf("the log is %q", log)
	}
}

// Only the head of a stream is in the log, and nothing once the command has ended.
func TestOutputEnds(t *testing.T) {
	t.Parallel()
	r := newRunning(t)
	r.m.commands["c1"] = func() domain.Command {
		c := r.m.commands["c1"]
		c.Taken = map[string]int64{"stdout": agentwire.HeadBytes - 4}
		return c
	}()
	if got := r.post(chunk("stdout", agentwire.HeadBytes-4, "123456")); got.Stdout != agentwire.HeadBytes || r.m.text("c1", "stdout") != "1234" {
		t.Errorf("taken is %+v, of %q", got, r.m.text("c1", "stdout"))
	}
	if err := r.Result(t.Context(), r.agent, agentwire.Result{RequestID: "c1", Outcome: agentwire.Exited}); err != nil {
		t.Fatal(err)
	}
	if got := r.post(chunk("stdout", agentwire.HeadBytes, "more")); !got.Over {
		t.Errorf("after the end: %+v", got)
	}
}

// Posts about what is not the agent's own, or is no post, are refused.
func TestOutputRefused(t *testing.T) {
	t.Parallel()
	r := newRunning(t)
	other, _ := r.m.agent(domain.Agent{})
	for name, c := range map[string]struct {
		agent domain.Agent
		out   agentwire.Output
		line  []byte
		code  domain.Code
	}{
		"another's":       {other, agentwire.Output{RequestID: "c1"}, nil, domain.CodeNotFound},
		"no command":      {r.agent, agentwire.Output{RequestID: "none"}, nil, domain.CodeNotFound},
		"no id":           {r.agent, agentwire.Output{}, nil, domain.CodeInvalid},
		"no stream":       {r.agent, agentwire.Output{RequestID: "c1"}, []byte("x"), domain.CodeInvalid},
		"negative offset": {r.agent, agentwire.Output{RequestID: "c1", Chunks: []agentwire.Chunk{chunk("stdout", -1, "x")}}, nil, domain.CodeInvalid},
		"stream":          {r.agent, agentwire.Output{RequestID: "c1", Chunks: []agentwire.Chunk{chunk("stdin", 0, "x")}}, nil, domain.CodeInvalid},
		"too much":        {r.agent, agentwire.Output{RequestID: "c1", Chunks: []agentwire.Chunk{chunk("stdout", 0, strings.Repeat("x", agentwire.MaxChunks+1))}}, nil, domain.CodeTooLarge},
	} {
		if _, err := r.Output(t.Context(), c.agent, c.out, c.line); domain.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.Started(t.Context(), other, "c1"); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("another's start: %v", err)
	}
	if err := r.Result(t.Context(), other, agentwire.Result{RequestID: "c1"}); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("another's result: %v", err)
	}
}

// A result ends the command whole: the log gets what it lacks, and no part holds a value.
func TestResult(t *testing.T) {
	t.Parallel()
	r := newRunning(t)
	taken := r.post(chunk("stdout", 0, "begin correct ho")).Stdout
	code := 3
	err := r.Result(t.Context(), r.agent, agentwire.Result{
		RequestID: "c1", Outcome: agentwire.Exited, ExitCode: &code, Swept: 2,
		StdoutHead: []byte("begin " + value + " end"), StdoutBytes: int64(len("begin " + value + " end")),
		StderrHead: []byte("\x00\xff"), StderrBytes: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	c := r.m.command("c1")
	if c.Status != domain.CommandDone || *c.ExitCode != 3 || string(c.Stdout.Head) != "begin [secret] end" || c.Stdout.Cut() != 0 || string(c.Stderr.Head) != "\x00\xff" {
		t.Errorf("it ended as %+v", c)
	}
	if log := r.m.text("c1", "stdout"); taken != 6 || log != "begin [secret] end" {
		t.Errorf("%d taken, the log is %q", taken, log)
	}
	if got := r.waiters.list(); len(got) != 1 || got[0] != "c1" {
		t.Errorf("told are %v", got)
	}
	for range 2 { // it may come again
		if err := r.Result(t.Context(), r.agent, agentwire.Result{RequestID: "c1", Outcome: agentwire.Canceled}); err != nil {
			t.Error(err)
		}
	}
	if c := r.m.command("c1"); c.Status != domain.CommandDone || len(r.m.ends) != 1 {
		t.Errorf("it ended again: %+v", c)
	}
}

// Why there is no exit code is told without values, and shortly.
func TestReasonIsScrubbed(t *testing.T) {
	t.Parallel()
	r := newRunning(t)
	reason := strings.Repeat("x", 4<<10-10) + value + strings.Repeat("y", 100)
	if err := r.Result(t.Context(), r.agent, agentwire.Result{RequestID: "c1", Outcome: agentwire.NotStarted, Error: reason}); err != nil {
		t.Fatal(err)
	}
	if c := r.m.command("c1"); c.Status != domain.CommandFailed || strings.Contains(c.Error, value[:4]) || len(c.Error) > 4<<10 {
		t.Errorf("it is %s: …%s", c.Status, c.Error[len(c.Error)-20:])
	}
}

// A result is not acknowledged before whoever waits was told.
func TestResultIsToldFirst(t *testing.T) {
	t.Parallel()
	r := newRunning(t)
	r.waiters.err = domain.Errorf(domain.CodeUnavailable, "Temporal can't be reached")
	post := func() error {
		return r.Result(context.Background(), r.agent, agentwire.Result{RequestID: "c1", Outcome: agentwire.Exited})
	}
	if err := post(); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("while nobody can be told: %v", err)
	}
	r.waiters.err = nil
	if err := post(); err != nil || len(r.waiters.list()) != 1 {
		t.Errorf("again: %v, told %v", err, r.waiters.list())
	}
}

// An output that others append to meanwhile is read again.
func TestLogGrowsMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRunning(t)
	r.m.races = 2
	if got := r.post(chunk("stdout", 0, "one")); got.Stdout != 3 {
		t.Errorf("taken is %+v", got)
	}
	r.m.races = 2
	if err := r.Result(t.Context(), r.agent, agentwire.Result{RequestID: "c1", Outcome: agentwire.TimedOut, StdoutHead: []byte("one two"), StdoutBytes: 7}); err != nil {
		t.Fatal(err)
	}
	if c := r.m.command("c1"); c.Status != domain.CommandTimedOut || r.m.text("c1", "stdout") != "one two" {
		t.Errorf("it is %+v, with %q", c, r.m.text("c1", "stdout"))
	}
}

// Numbers that nothing has are refused, and are no fault of this server.
func TestUncountable(t *testing.T) {
	t.Parallel()
	r := newRunning(t)
	code := 1 << 40
	for field, result := range map[string]agentwire.Result{
		"exit_code": {ExitCode: &code}, "swept": {Swept: 1 << 40}, "stdout_bytes": {StdoutBytes: -1}, "stderr_bytes": {StderrBytes: math.MaxInt64},
	} {
		result.RequestID = "c1"
		var fault *domain.Error
		if err := r.Result(t.Context(), r.agent, result); !errors.As(err, &fault) || fault.Code != domain.CodeInvalid || fault.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := r.Output(t.Context(), r.agent, agentwire.Output{RequestID: "c1", StdoutBytes: math.MaxInt64}, nil); domain.CodeOf(err) != domain.CodeInvalid {
		t.Errorf("an output: %v", err)
	}
	if c := r.m.command("c1"); c.Status.Over() {
		t.Errorf("the command is %s", c.Status)
	}
}

// Of a value at the cut of an output neither half is kept.
func TestValueAtTheCut(t *testing.T) {
	t.Parallel()
	r := newRunning(t)
	pad := func(n int) string { return strings.Repeat(".", n) }
	head, tail := pad(agentwire.HeadBytes-9)+value[:9], value[9:]+pad(100)
	err := r.Result(t.Context(), r.agent, agentwire.Result{
		RequestID: "c1", Outcome: agentwire.Exited, StdoutHead: []byte(head), StdoutTail: []byte(tail), StdoutBytes: int64(len(head)+len(tail)) + 77,
	})
	if err != nil {
		t.Fatal(err)
	}
	c := r.m.command("c1")
	if string(c.Stdout.Head) != pad(agentwire.HeadBytes-9) || string(c.Stdout.Tail) != pad(100) || c.Stdout.Cut() != int64(77+len(value)) {
		t.Errorf("kept are …%q and %.30q…, cut %d", c.Stdout.Head[len(c.Stdout.Head)-12:], c.Stdout.Tail, c.Stdout.Cut())
	}
	if log := r.m.text("c1", "stdout"); log != pad(agentwire.HeadBytes-9) {
		t.Errorf("the log ends in %q", log[len(log)-12:])
	}
}
