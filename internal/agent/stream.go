package agent

import (
	"context"
	"time"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agent/uplink"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// The pace of what is posted of a command that runs.
const (
	quietFor   = 50 * time.Millisecond  // a command that ends within it posts its result alone
	outputPace = 100 * time.Millisecond // between two looks at the output
	slowPace   = 5 * time.Second        // where the server takes nothing, and of mere counts
)

// stream posts that the command was started and what it writes, until it is over. What the
// server does not get this way is in the result.
func (c *command) stream(ctx context.Context, over <-chan struct{}) {
	backoff := uplink.Backoff{First: 500 * time.Millisecond, Most: 15 * time.Second}
	out := newWindow(c.id, c.currentRecord())
	defer out.close()
	tell := true
	for wait := quietFor; ; {
		select {
		case <-ctx.Done():
			return
		case <-over:
			return
		case <-c.again:
			tell = true
		case <-c.nudge:
			backoff.Reset()
		case <-time.After(wait):
		}
		var err error
		if tell && begun(c.currentRecord()) {
			err = c.agent.client.Post(ctx, "/agent/started", agentwire.Started{RequestID: c.id}, &struct{}{})
			tell = err != nil && !uplink.NotFound(err)
		}
		if err == nil {
			wait, err = out.post(ctx, c.agent.client)
		}
		if err == nil {
			backoff.Reset()
			continue
		}
		wait = backoff.Next()
		if uplink.NotFound(err) {
			out.over = true // what the server does not know it wants nothing of
		}
	}
}

// begun reports whether a command may have run: only then the server is told of it, which never
// has it run again from there on.
func begun(record *journal.Record) bool {
	state, err := record.State()
	return err != nil || state.Begun
}

// window is the part of an output that is on its way to the server.
type window struct {
	id     string
	record *journal.Record
	reader *journal.HeadReader

	pieces  []journal.Piece // read, and not yet taken
	read    [2]int64        // up to where the pieces reach
	dropped [2]int64        // up to where they were forgotten, since the server had them
	counted [2]int64        // the counts that the server knows
	countAt time.Time
	over    bool
}

func newWindow(id string, record *journal.Record) *window {
	return &window{id: id, record: record, reader: record.Head()}
}

func (w *window) close() { w.reader.Close() }

// post posts what is new, and gives the wait before the next look.
func (w *window) post(ctx context.Context, client *uplink.Client) (time.Duration, error) {
	if w.over {
		return slowPace, nil
	}
	if err := w.fill(); err != nil {
		w.over = true // the result tells what can be read
		return slowPace, nil
	}
	state, err := w.record.State()
	if err != nil {
		return outputPace, nil
	}
	body := agentwire.Output{
		RequestID: w.id, Chunks: w.chunks(),
		StdoutBytes: max(state.Written[0], w.read[0]), StderrBytes: max(state.Written[1], w.read[1]),
	}
	counts := [2]int64{body.StdoutBytes, body.StderrBytes}
	if len(body.Chunks) == 0 && (counts == w.counted || time.Since(w.countAt) < slowPace) {
		return outputPace, nil
	}
	var taken agentwire.OutputTaken
	if err := client.Post(ctx, "/agent/output", body, &taken); err != nil {
		return 0, err
	}
	w.counted, w.countAt = counts, time.Now()
	w.over = taken.Over
	if !w.took([2]int64{taken.Stdout, taken.Stderr}) && len(body.Chunks) > 0 {
		return 10 * outputPace, nil // it waits for more, or has no room
	}
	if len(w.pieces) > 0 && w.size() >= agentwire.MaxChunks/2 {
		return 0, nil
	}
	return outputPace, nil
}

func (w *window) size() int {
	size := 0
	for _, piece := range w.pieces {
		size += len(piece.Data) + journal.PieceCost
	}
	return size
}

func (w *window) fill() error {
	room := agentwire.MaxChunks - w.size()
	if room <= 0 {
		return nil
	}
	pieces, err := w.reader.Next(room)
	for _, piece := range pieces {
		end := piece.Offset + int64(len(piece.Data))
		w.read[piece.Stream] = max(w.read[piece.Stream], end)
		if end > w.dropped[piece.Stream] {
			w.pieces = append(w.pieces, piece)
		}
	}
	return err
}

// chunks gives what is posted next: the pieces in their order, up to the limit.
func (w *window) chunks() []agentwire.Chunk {
	var chunks []agentwire.Chunk
	for size := 0; len(chunks) < len(w.pieces) && size < agentwire.MaxChunks; {
		piece := w.pieces[len(chunks)]
		size += journal.PieceCost
		data := piece.Data[:min(len(piece.Data), max(1, agentwire.MaxChunks-size))]
		chunks = append(chunks, agentwire.Chunk{Stream: journal.Streams[piece.Stream], Offset: piece.Offset, Data: data})
		size += len(data)
	}
	return chunks
}

// took notes how much of each stream the server has, and reports whether that is news.
func (w *window) took(taken [2]int64) bool {
	if taken[0] < w.dropped[0] || taken[1] < w.dropped[1] {
		// The server has less than it once said: all is read again, from where it is now.
		w.reader.Rewind()
		w.pieces, w.read = nil, [2]int64{}
		w.dropped = [2]int64{max(0, taken[0]), max(0, taken[1])}
		return true
	}
	kept := w.pieces[:0]
	for _, piece := range w.pieces {
		have := taken[piece.Stream] - piece.Offset
		switch {
		case have >= int64(len(piece.Data)):
			continue
		case have > 0:
			piece.Data, piece.Offset = piece.Data[have:], piece.Offset+have
		}
		kept = append(kept, piece)
	}
	clear(w.pieces[len(kept):])
	w.pieces = kept
	news := taken != w.dropped
	w.dropped = taken
	return news
}
