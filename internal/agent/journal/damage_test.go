package journal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedFilesAreNoResultAndNoPanic(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j := openJournal(t, folder)
	record := begin(t, j, "c1", 1)
	if err := record.SetEnding(journal.Ending{Outcome: agentwire.Exited, Error: strings.Repeat("\x00\xff\"", 5000)}); err != nil {
		t.Fatal(err)
	}
	if _, ended, err := record.Ending(); !ended || err != nil {
		t.Errorf("an ending with a long error is %v, %v", ended, err)
	}
	path := filepath.Join(folder, "commands", "c1.record")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(text[2*4096+5:], "xx") // a write that was cut in half
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ended, err := record.Ending(); ended || err == nil {
		t.Error("a damaged ending counts")
	}
	long := journal.Ending{Outcome: agentwire.Exited, Written: [2]int64{5 << 20, 5 << 20}}
	for _, head := range [][]byte{{}, {7}, {0, 0, 0, 0, 0}, {9, 0, 0, 0, 1, 'x'}, {0, 255, 255, 255, 255}, bytes.Repeat([]byte{1}, 1000)} {
		if err := os.WriteFile(filepath.Join(folder, "commands", "c1.head"), head, 0o600); err != nil {
			t.Fatal(err)
		}
		result := record.Result("c1", long)
		if len(result.StdoutHead)+len(result.StderrHead)+len(result.StdoutTail) > 0 || result.Outcome != agentwire.Exited {
			t.Errorf("of %v was read %d bytes", head, len(result.StdoutHead))
		}
	}
}

// frame is a piece of a head as it stands in the file.
func frame(stream byte, size int) []byte {
	head := binary.BigEndian.AppendUint32([]byte{stream}, uint32(size))
	return append(head, make([]byte, size)...)
}

func TestHeadsThatCantBeAreToldOf(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	record := begin(t, openJournal(t, folder), "c1", 1)
	long := journal.Ending{Outcome: agentwire.Exited, Written: [2]int64{2 << 20, 0}}
	write(t, filepath.Join(folder, "commands", "c1.stdout"), make([]byte, 1<<20))
	for name, c := range map[string]struct {
		head []byte
		read int // bytes of it that are right
	}{
		"a frame longer than any": {append(frame(0, 10), 0, 255, 255, 255, 255), 10},
		"more than is kept":       {append(frame(0, 1<<20), frame(0, 1)...), 1 << 20},
		"a stream that is none":   {append(frame(0, 10), frame(2, 1)...), 10},
	} {
		write(t, filepath.Join(folder, "commands", "c1.head"), c.head)
		result := record.Result("c1", long)
		if !strings.Contains(result.Error, "output can't be read") || len(result.StdoutHead) != c.read {
			t.Errorf("of %s %d bytes are read, and it says %q", name, len(result.StdoutHead), result.Error)
		}
	}
	// What lies behind a gap has no place.
	write(t, filepath.Join(folder, "commands", "c1.head"), frame(0, 10))
	if result := record.Result("c1", long); len(result.StdoutHead) != 10 || len(result.StdoutTail) != 0 {
		t.Errorf("behind a head of %d bytes comes a tail of %d", len(result.StdoutHead), len(result.StdoutTail))
	}
}

// A machine that stops leaves files of which the end is missing, or is zeros. The agent starts
// all the same, and remembers what stands in whole lines.
func TestBuriedCommandsAreRememberedBesideDamage(t *testing.T) {
	t.Parallel()
	for name, left := range map[string][]byte{
		"a line that was cut":  []byte(`{"id":"cut","outcome":"exi`),
		"zeros without an end": make([]byte, 1<<20),
		"what is no line":      []byte("null\n[]\n{}\n\xff\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			day := filepath.Join(folder, "done", time.Now().UTC().Format("2006-01-02")+".jsonl")
			if err := os.Mkdir(filepath.Dir(day), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, day, append([]byte("\n{\"id\":\"before\",\"outcome\":\"exited\"}\n"), left...))
			j := openJournal(t, folder)
			if err := j.Bury("behind", journal.Ending{Outcome: agentwire.Exited}, nil); err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			again := openJournal(t, folder)
			for _, id := range []string{"before", "behind"} {
				if _, known := again.Buried(id); !known {
					t.Errorf("%s is forgotten", id)
				}
			}
		})
	}
}

// Whatever bytes stand in its files, the journal opens, and gives no more than is kept.
func FuzzFiles(f *testing.F) {
	whole := f.TempDir()
	j, err := journal.Open(whole, "boot-1")
	if err != nil {
		f.Fatal(err)
	}
	record, err := j.Begin(journal.Order{ID: "c1", Seq: 1})
	if err != nil {
		f.Fatal(err)
	}
	for _, err := range []error{
		record.SetState(journal.State{Shim: 7, Begun: true, Written: [2]int64{3, 2 << 20}, Touched: [2]int64{3, 3 << 20}}),
		record.SetEnding(journal.Ending{Outcome: agentwire.Unknown, Written: [2]int64{3, 2 << 20}}), record.SetWish(journal.Wish{Cancel: true}),
	} {
		if err != nil {
			f.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(whole, "commands", "c1.record"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, frame(0, 3), []byte("tail"), []byte("\n{\"id\":\"a\"}\n"))
	f.Add(text[:5000], append(frame(1, 1<<20), frame(0, 3)...), bytes.Repeat([]byte("x"), 1<<20), make([]byte, 70_000))
	f.Add(bytes.ReplaceAll(text, []byte("2097152"), []byte("-999999")), frame(1, 3)[:4], []byte{}, []byte("{"))
	f.Fuzz(func(t *testing.T, text, head, tail, done []byte) {
		folder := t.TempDir()
		for _, name := range []string{"commands", "done"} {
			if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(folder, "commands", "c1.record"), text)
		write(t, filepath.Join(folder, "commands", "c1.head"), head)
		write(t, filepath.Join(folder, "commands", "c1.stderr"), tail)
		write(t, filepath.Join(folder, "done", time.Now().UTC().Format(time.DateOnly)+".jsonl"), done)
		j, err := journal.Open(folder, "boot-1")
		if err != nil {
			t.Fatalf("the journal does not open: %v", err)
		}
		defer func() { _ = j.Close() }()
		entries, err := j.Entries()
		if err != nil {
			t.Fatalf("its entries can't be read: %v", err)
		}
		if len(entries) == 0 {
			if _, err := os.Stat(filepath.Join(folder, "commands", "c1.record")); !errors.Is(err, fs.ErrNotExist) {
				t.Error("a record that is none stays")
			}
		}
		for _, entry := range entries {
			ending, _, _ := entry.Record.Ending()
			_, _ = entry.Record.State()
			_, _ = entry.Record.Wish()
			result := entry.Record.Result(entry.Order.ID, ending)
			if max(len(result.StdoutHead), len(result.StderrHead)) > agentwire.HeadBytes || max(len(result.StdoutTail), len(result.StderrTail)) > agentwire.TailBytes {
				t.Errorf("more was read than is kept: %d, %d, %d, %d", len(result.StdoutHead), len(result.StderrHead), len(result.StdoutTail), len(result.StderrTail))
			}
			entry.Record.Discard()
		}
	})
}
