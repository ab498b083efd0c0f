package journal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// step is something that was done to a disk, or, with neither path nor data, told to others.
type step struct {
	what string // create, write, sync, folder, syncFolder, remove, or a word of the test's
	path string
	at   int64
	data []byte
}

// recorder is a disk that remembers what was done to it.
type recorder struct {
	journal.Disk
	mu    sync.Mutex
	steps []step
}

func (r *recorder) note(s step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, s)
}

func (r *recorder) Create(path string, flag int) (*os.File, error) {
	r.note(step{what: "create", path: path})
	return r.Disk.Create(path, flag)
}

func (r *recorder) WriteAt(f *os.File, data []byte, at int64) (int, error) {
	r.note(step{what: "write", path: f.Name(), at: at, data: bytes.Clone(data)})
	return r.Disk.WriteAt(f, data, at)
}

func (r *recorder) MakeFolder(path string) error {
	r.note(step{what: "folder", path: path})
	return r.Disk.MakeFolder(path)
}

func (r *recorder) Remove(path string) error {
	r.note(step{what: "remove", path: path})
	return r.Disk.Remove(path)
}

// What was brought to the disk counts once that was said, not before.

func (r *recorder) Sync(f *os.File) error {
	err := r.Disk.Sync(f)
	r.note(step{what: "sync", path: f.Name()})
	return err
}

func (r *recorder) SyncFolder(path string) error {
	err := r.Disk.SyncFolder(path)
	r.note(step{what: "syncFolder", path: path})
	return err
}

// remains is what a power cut has left of a disk: names by what their folders had on the disk, and
// bytes of files by what was synced. Of the rest keep says what is there all the same.
type remains struct {
	folders map[string]bool
	names   map[string]bool // of files
	files   map[string][]byte
}

// cut gives what is left where the power is cut behind steps. Of blocks that are overwritten any
// may be there; a file that grows has its beginning, and no holes.
func cut(steps []step, keep func() bool) remains {
	left := remains{folders: map[string]bool{}, names: map[string]bool{}, files: map[string][]byte{}}
	safe := func(n int, what, path string) bool { // a sync of it comes behind
		for _, s := range steps[n+1:] {
			if s.what == what && s.path == path {
				return true
			}
		}
		return false
	}
	grown := map[string]bool{} // what comes behind what is missing is missing too
	for n, s := range steps {
		switch s.what {
		case "folder":
			left.folders[s.path] = safe(n, "syncFolder", filepath.Dir(s.path)) || keep()
		case "create":
			left.names[s.path] = safe(n, "syncFolder", filepath.Dir(s.path)) || keep()
			left.files[s.path] = nil
		case "remove":
			if safe(n, "syncFolder", filepath.Dir(s.path)) || keep() {
				delete(left.names, s.path)
			}
		case "write":
			file := left.files[s.path]
			grows := s.at+int64(len(s.data)) > int64(len(file))
			if grows && grown[s.path] || !safe(n, "sync", s.path) && !keep() {
				grown[s.path] = grown[s.path] || grows
				continue
			}
			if more := int(s.at) + len(s.data) - len(file); more > 0 {
				file = append(file, make([]byte, more)...)
			}
			copy(file[s.at:], s.data)
			left.files[s.path] = file
		}
	}
	return left
}

// build makes the folder of a journal from what is left.
func (l remains) build(t *testing.T, from, to string) {
	t.Helper()
	there := func(path string) bool {
		for folder := filepath.Dir(path); folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
			if made, known := l.folders[folder]; known && !made {
				return false
			}
		}
		return true
	}
	for path := range l.names {
		if !l.names[path] || !there(path) {
			continue
		}
		name := filepath.Join(to, strings.TrimPrefix(path, from))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, name, l.files[path])
	}
}

// lives does with a journal what agent and shim do for three commands: one that ends, whose result
// the server gets, one that ends, and one that runs as the power goes. What they write is told.
func lives(t *testing.T, disk *recorder, folder string) (wrote []byte) {
	t.Helper()
	j, err := journal.OpenOn(disk, folder, "boot-1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	wrote = make([]byte, 3<<20+12345)
	for i := range wrote {
		wrote[i] = byte(i>>8) ^ byte(i)
	}
	for seq, id := range []string{"told", "ended", "running"} {
		record, err := j.Begin(journal.Order{ID: id, Seq: int64(seq)})
		if err != nil {
			t.Fatal(err)
		}
		defer record.Close()
		disk.note(step{what: "may begin " + id})
		state := journal.State{Shim: 1, Begun: true}
		if err := record.SetState(state); err != nil {
			t.Fatal(err)
		}
		disk.note(step{what: "runs " + id})
		out := journal.NewOutput(record, state)
		for rest := wrote; len(rest) > 0; {
			n := min(len(rest), 300_000)
			out.Add(0, rest[:n])
			rest = rest[n:]
		}
		written, err := out.Close()
		if err != nil {
			t.Fatal(err)
		}
		if id == "running" {
			return wrote
		}
		ending := journal.Ending{Outcome: agentwire.Exited, Written: written}
		for _, err := range []error{record.SetEnding(ending), out.Sync(), record.Sync()} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if id == "told" {
			disk.note(step{what: "forgets " + id})
			if err := j.Bury(id, ending, record); err != nil {
				t.Fatal(err)
			}
		}
	}
	return wrote
}

// Whenever the power goes, and whatever of that which was not synced is there then: a command that
// may have begun is in the journal until the server has its result, so it is not begun again, and
// what is told of its output is what it wrote.
func TestPowerCutAtAnyMoment(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "state")
	disk := &recorder{Disk: journal.System()}
	wrote := lives(t, disk, folder)
	random := rand.New(rand.NewPCG(1, 2))
	fates := map[string]func() bool{
		"nothing more": func() bool { return false }, "all": func() bool { return true },
		"a half": func() bool { return random.IntN(2) == 0 }, "most": func() bool { return random.IntN(8) > 0 },
	}
	for n := range disk.steps {
		for fate, keep := range fates {
			steps := disk.steps[:n+1]
			state := filepath.Join(t.TempDir(), "state")
			cut(steps, keep).build(t, folder, state)
			j, err := journal.Open(state, "boot-2")
			if err != nil {
				t.Fatalf("behind step %d, with %s of the rest, the journal does not open: %v", n, fate, err)
			}
			holds(t, fmt.Sprintf("step %d (%s), with %s of the rest", n, steps[n].what, fate), j, steps, wrote)
			_ = j.Close()
			_ = os.RemoveAll(state)
		}
	}
}

func holds(t *testing.T, when string, j *journal.Journal, steps []step, wrote []byte) {
	t.Helper()
	entries, err := j.Entries()
	if err != nil {
		t.Fatalf("behind %s its entries can't be read: %v", when, err)
	}
	known := map[string]bool{}
	for _, entry := range entries {
		known[entry.Order.ID] = true
		ending, ended, _ := entry.Record.Ending()
		if !ended {
			state, _ := entry.Record.State()
			ending = journal.Ending{Outcome: agentwire.Unknown, Written: state.Written}
		}
		result := entry.Record.Result(entry.Order.ID, ending)
		if !bytes.HasPrefix(wrote, result.StdoutHead) {
			t.Errorf("behind %s the head of %s is not what it wrote", when, entry.Order.ID)
		}
		if at := ending.Written[0] - int64(len(result.StdoutTail)); !bytes.HasPrefix(wrote[at:], result.StdoutTail) {
			t.Errorf("behind %s the tail of %s is not what it wrote", when, entry.Order.ID)
		}
		if whole := len(result.StdoutHead)+len(result.StdoutTail) == 2<<20; !whole && ending.Written[0] > 2<<20 && result.Error == "" {
			t.Errorf("behind %s it is not told that output of %s is missing", when, entry.Order.ID)
		}
		_ = entry.Record.Close()
	}
	for _, s := range steps {
		id, begins := strings.CutPrefix(s.what, "may begin ")
		if begins && !known[id] && !forgets(steps, id) {
			t.Errorf("behind %s nothing is known of %s, which may have begun", when, id)
		}
	}
}

func forgets(steps []step, id string) bool {
	for _, s := range steps {
		if s.what == "forgets "+id {
			return true
		}
	}
	return false
}

// Before a ring is overwritten the record says how far: a shim that is killed amid that leaves no
// wrong bytes.
func TestTheStateComesBeforeTheRing(t *testing.T) {
	t.Parallel()
	disk := &recorder{Disk: journal.System()}
	lives(t, disk, filepath.Join(t.TempDir(), "state"))
	rings := 0
	for n, s := range disk.steps {
		if s.what != "write" || !strings.HasSuffix(s.path, ".stdout") {
			continue
		}
		rings++
		for n--; disk.steps[n].path == s.path; n-- { // its name, and what was written for the same state
		}
		before := disk.steps[n]
		for strings.HasSuffix(before.path, ".head") { // heads are written before rings
			n--
			before = disk.steps[n]
		}
		var state journal.State
		if before.what == "write" && strings.HasSuffix(before.path, ".record") && before.at == 4096 {
			text, _, _ := bytes.Cut(before.data, []byte{'\n'})
			if err := json.Unmarshal(text, &state); err != nil {
				t.Fatal(err)
			}
		}
		if state.Touched[0] <= state.Written[0] {
			t.Errorf("before the ring came %s of %s, with %+v", before.what, filepath.Base(before.path), state)
		}
	}
	if rings < 3 {
		t.Errorf("rings were written %d times", rings)
	}
}
