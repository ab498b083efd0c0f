package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// endTail ends the names of the files of the tails: rings of the bytes behind the head.
var endTail = [2]string{".stdout", ".stderr"}

// tailWriter keeps the last bytes of a stream behind its head: in memory, and in a file that
// is brought up to date from there as often as the disk takes it.
type tailWriter struct {
	disk    disk
	path    string
	file    *os.File
	ring    []byte
	total   int64 // bytes of the stream behind its head
	flushed int64 // of these, those that were brought to the file or overtaken
}

func (t *tailWriter) add(data []byte) {
	if len(data) == 0 {
		return
	}
	if t.ring == nil {
		t.ring = make([]byte, agentwire.TailBytes)
	}
	if over := len(data) - len(t.ring); over > 0 {
		t.total += int64(over)
		data = data[over:]
	}
	at := t.total % agentwire.TailBytes
	n := copy(t.ring[at:], data)
	copy(t.ring, data[n:])
	t.total += int64(len(data))
}

func (t *tailWriter) flush() error {
	if t.flushed == t.total {
		return nil
	}
	if t.file == nil {
		file, err := t.disk.Create(t.path, os.O_TRUNC|os.O_RDWR)
		if err != nil {
			return err
		}
		t.file = file
	}
	for from := max(t.flushed, t.total-agentwire.TailBytes); from < t.total; {
		at := from % agentwire.TailBytes
		n := min(t.total-from, agentwire.TailBytes-at)
		if _, err := t.disk.WriteAt(t.file, t.ring[at:at+n], at); err != nil {
			return err
		}
		from += n
	}
	t.flushed = t.total
	return nil
}

// readTail gives the bytes behind the head of which written were counted. Where the shim was
// killed while it wrote more, up to touched, what that may have overwritten is left out.
func readTail(path string, written, touched int64) ([]byte, error) {
	end := written - agentwire.HeadBytes
	begin := max(0, max(written, touched)-agentwire.HeadBytes-agentwire.TailBytes)
	if end <= begin {
		return nil, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	tail := make([]byte, 0, end-begin)
	for from := begin; from < end; {
		at := from % agentwire.TailBytes
		n := min(end-from, agentwire.TailBytes-at)
		part := tail[len(tail) : len(tail)+int(n)]
		got, err := file.ReadAt(part, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if int64(got) < n {
			return nil, nil // the disk did not take it: nothing here is in its place
		}
		tail = tail[:len(tail)+int(n)]
		from += n
	}
	return tail, nil
}
