package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

func openJournal(t *testing.T, folder string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(folder, "boot-1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func begin(t *testing.T, j *journal.Journal, id string, seq int64) *journal.Record {
	t.Helper()
	record, err := j.Begin(journal.Order{ID: id, Seq: seq})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = record.Close() })
	return record
}

func TestOutputKeepsHeadAndTail(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, sizes := range [][2]int{
		{0, 0}, {1, 0}, {0, 3}, {1000, 2000}, {mib - 1, 1}, {mib, mib}, {mib + 1, 0}, {2 * mib, mib / 2},
		{2*mib + 1, 2*mib - 1}, {3*mib + 777, 5*mib + 13},
	} {
		t.Run(fmt.Sprint(sizes), func(t *testing.T) {
			t.Parallel()
			j := openJournal(t, t.TempDir())
			record := begin(t, j, "c1", 1)
			out := journal.NewOutput(record, journal.State{Begun: true})
			random := rand.New(rand.NewPCG(1, uint64(sizes[0])))
			var wrote [2][]byte
			for left := sizes; left != [2]int{}; {
				stream := random.IntN(2)
				n := min(left[stream], 1+random.IntN(100_000))
				part := make([]byte, n)
				for i := range part {
					part[i] = byte(random.Uint32())
				}
				out.Add(stream, part)
				wrote[stream] = append(wrote[stream], part...)
				left[stream] -= n
			}
			written, err := out.Close()
			if err != nil || written != [2]int64{int64(sizes[0]), int64(sizes[1])} {
				t.Errorf("it counted %v, %v", written, err)
			}
			result := record.Result("c1", journal.Ending{Outcome: agentwire.Exited, Written: written})
			check(t, "stdout", wrote[0], result.StdoutHead, result.StdoutTail, result.StdoutBytes)
			check(t, "stderr", wrote[1], result.StderrHead, result.StderrTail, result.StderrBytes)
			// A shim that is killed has brought all to the files, so the state gives the same.
			state, err := record.State()
			if err != nil {
				t.Fatal(err)
			}
			killed := record.Result("c1", journal.Ending{Outcome: agentwire.Unknown, Written: state.Written})
			check(t, "stdout of one that was killed", wrote[0], killed.StdoutHead, killed.StdoutTail, killed.StdoutBytes)
		})
	}
}

func check(t *testing.T, name string, wrote, head, tail []byte, count int64) {
	t.Helper()
	wantHead := wrote[:min(len(wrote), agentwire.HeadBytes)]
	rest := wrote[len(wantHead):]
	wantTail := rest[max(0, len(rest)-agentwire.TailBytes):]
	if !bytes.Equal(head, wantHead) || !bytes.Equal(tail, wantTail) || count != int64(len(wrote)) {
		t.Errorf("of %d bytes of %s are kept %d and %d (not %d and %d), and %d counted",
			len(wrote), name, len(head), len(tail), len(wantHead), len(wantTail), count)
	}
}

func TestTailThatWasBeingOverwrittenIsCutToWhatIsRight(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir())
	record := begin(t, j, "c1", 1)
	out := journal.NewOutput(record, journal.State{Begun: true})
	wrote := make([]byte, 3<<20)
	for i := range wrote {
		wrote[i] = byte(i >> 10)
	}
	out.Add(0, wrote)
	if _, err := out.Close(); err != nil {
		t.Fatal(err)
	}
	state, err := record.State()
	if err != nil {
		t.Fatal(err)
	}
	const more = 1000 // bytes that a shim which was killed may have written over the oldest
	state.Touched[0] += more
	if err := record.SetState(state); err != nil {
		t.Fatal(err)
	}
	result := record.Result("c1", journal.Ending{Outcome: agentwire.Unknown, Written: state.Written})
	if want := wrote[2<<20+more:]; !bytes.Equal(result.StdoutTail, want) {
		t.Errorf("the tail has %d bytes, not %d", len(result.StdoutTail), len(want))
	}
}

func TestPiecesComeInTheOrderInWhichTheyWereRead(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir())
	record := begin(t, j, "c1", 1)
	out := journal.NewOutput(record, journal.State{})
	var want strings.Builder
	for i := range 1000 {
		line := fmt.Sprintf("line %d\n", i)
		out.Add(i/3%2, []byte(line))
		want.WriteString(line)
	}
	if _, err := out.Close(); err != nil {
		t.Fatal(err)
	}
	reader := record.Head()
	t.Cleanup(reader.Close)
	var got strings.Builder
	var at [2]int64
	count := 0
	for {
		pieces, err := reader.Next(500)
		if err != nil {
			t.Fatal(err)
		}
		if len(pieces) == 0 {
			break
		}
		for _, piece := range pieces {
			if piece.Offset != at[piece.Stream] {
				t.Errorf("a piece of stream %d begins at %d, not %d", piece.Stream, piece.Offset, at[piece.Stream])
			}
			at[piece.Stream] += int64(len(piece.Data))
			got.Write(piece.Data)
			count++
		}
	}
	if got.String() != want.String() {
		t.Error("the pieces are in another order")
	}
	if count > 500 {
		t.Errorf("1000 lines are %d pieces: what follows each other is one", count)
	}
}

func TestOutputOfSingleBytesIsWhole(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir())
	record := begin(t, j, "c1", 1)
	out := journal.NewOutput(record, journal.State{})
	const each = 100_000
	for i := range 2 * each {
		out.Add(i%2, []byte{byte(i / 2)})
	}
	written, err := out.Close()
	if err != nil {
		t.Fatal(err)
	}
	result := record.Result("c1", journal.Ending{Written: written})
	if len(result.StdoutHead) != each || !bytes.Equal(result.StdoutHead, result.StderrHead) || result.StdoutHead[77_777] != byte(77_777%256) {
		t.Errorf("of %d bytes each %d and %d are kept", each, len(result.StdoutHead), len(result.StderrHead))
	}
	reader := record.Head()
	t.Cleanup(reader.Close)
	pieces, err := reader.Next(64 << 10)
	if err != nil || len(pieces) > 1100 {
		t.Errorf("%d pieces were given at once, %v", len(pieces), err)
	}
}

func TestEntriesAreThereAgainInTheirOrder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j := openJournal(t, folder)
	for i, id := range []string{"c3", "c1", "../odd/ö", "c2"} {
		begin(t, j, id, int64(i+1))
	}
	held := begin(t, j, "held", 9)
	if _, err := j.Begin(journal.Order{ID: "c1", Seq: 7}); err == nil {
		t.Error("an id was begun twice")
	}
	if err := os.WriteFile(filepath.Join(folder, "commands", "half.record"), make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(folder, "boot-1"); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("a folder in use was opened: %v", err)
	}
	entries, err := j.Entries()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, entry := range entries {
		ids = append(ids, entry.Order.ID)
		if !entry.Held || entry.Order.Boot != "boot-1" {
			t.Errorf("%s is %+v", entry.Order.ID, entry)
		}
	}
	if got := strings.Join(ids, " "); got != "c3 c1 ../odd/ö c2 held" {
		t.Errorf("the entries are %s", got)
	}
	if _, err := os.Stat(filepath.Join(folder, "commands", "half.record")); err == nil {
		t.Error("a record that was never whole stays")
	}
	if free, err := entries[4].Record.Free(); free || err != nil {
		t.Error("a record is free that somebody has")
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if free, err := entries[4].Record.Free(); !free || err != nil {
		t.Error("a record is not free that nobody has")
	}
}

// A journal whose folder was removed makes it anew: commands go on, and no id is forgotten.
func TestRemovedFolderIsMadeAnew(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j := openJournal(t, folder)
	for _, id := range []string{"before", "after"} {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := j.Bury(id, journal.Ending{Outcome: agentwire.Exited}, begin(t, j, id, 1)); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []string{"before", "after"} {
		if _, known := j.Buried(id); !known {
			t.Errorf("%s is forgotten", id)
		}
	}
}

// An agent that was killed as it forgot a command goes on with that: the output, which goes
// first, is not posted again as if there were none.
func TestBurialsThatWereCutOffAreFinished(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j := openJournal(t, folder)
	ending := journal.Ending{Outcome: agentwire.Exited, Written: [2]int64{5, 0}}
	for i, id := range []string{"buried", "open"} {
		if err := begin(t, j, id, int64(i)).SetEnding(ending); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Bury("buried", ending, nil); err != nil { // the line alone, as where it stopped then
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again := openJournal(t, folder)
	entries, err := again.Entries()
	if err != nil || len(entries) != 1 || entries[0].Order.ID != "open" {
		t.Fatalf("there are %+v, %v", entries, err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "commands", "buried*")); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	if result := entries[0].Record.Result("open", ending); result.Error == "" {
		t.Error("of an output that is gone it is not said that it is")
	}
}

func TestBuriedCommandsAreRemembered(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j := openJournal(t, folder)
	code := 3
	for i := range 5 {
		id := fmt.Sprintf("c%d", i)
		if err := j.Bury(id, journal.Ending{Outcome: agentwire.Exited, ExitCode: &code}, begin(t, j, id, int64(i))); err != nil {
			t.Fatal(err)
		}
	}
	old := filepath.Join(folder, "done", "2020-01-01.jsonl")
	if err := os.WriteFile(old, []byte("\n{\"id\":\"old\",\"outcome\":\"exited\"}\n{\"id\":\"cu"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again := openJournal(t, folder)
	ending, known := again.Buried("c4")
	if !known || ending.Outcome != agentwire.Exited || ending.ExitCode == nil || *ending.ExitCode != 3 {
		t.Errorf("of a command that is over is known %v, %+v", known, ending)
	}
	for _, id := range []string{"c9", "old", "cu"} {
		if _, known := again.Buried(id); known {
			t.Errorf("%s is known", id)
		}
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("what is long past stays")
	}
	if names, _ := filepath.Glob(filepath.Join(folder, "commands", "*")); len(names) > 0 {
		t.Errorf("%v stay", names)
	}
}

// closedAbove is a disk of whose folders one can't be read.
type closedAbove struct {
	journal.Disk
	folder string
}

func (c closedAbove) SyncFolder(path string) error {
	if path == c.folder {
		return &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	return c.Disk.SyncFolder(path)
}

// The state folder may stand in one that the agent can't read.
func TestTheFolderAboveMayBeClosed(t *testing.T) {
	t.Parallel()
	above := t.TempDir()
	disk := closedAbove{journal.System(), above}
	for range 2 { // made, and found
		j, err := journal.OpenOn(disk, filepath.Join(above, "state"), "boot")
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}
