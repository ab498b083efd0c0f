package agenthub

import (
	"context"
	"hash/maphash"
	"sync"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// takeTries bounds how often a log is read again that others append to.
const takeTries = 5

// Ping notes that an agent lives.
func (h *Hub) Ping(ctx context.Context, agent domain.Agent) error {
	leave, err := h.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return h.Store.SeeAgent(ctx, agent.ID)
}

// Started notes that a command of the agent runs; not_found where it is not its own.
func (h *Hub) Started(ctx context.Context, agent domain.Agent, id string) error {
	leave, err := h.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return h.Store.CommandStarted(ctx, agent.ID, id)
}

// Output appends what a command has written to its log, without values of secrets, and says
// how much the log has: of what may be the beginning of a value nothing is taken. line is a
// line of a plain agent, which sends each once.
func (h *Hub) Output(ctx context.Context, agent domain.Agent, out agentwire.Output, line []byte) (agentwire.OutputTaken, error) {
	if err := checkOutput(out, line); err != nil {
		return agentwire.OutputTaken{}, err
	}
	defer h.turns.lock(out.RequestID)()
	scrubber, err := h.Secrets.Scrubber(ctx, agent.ProjectID)
	if err != nil {
		return agentwire.OutputTaken{}, err
	}
	leave, err := h.enter(ctx)
	if err != nil {
		return agentwire.OutputTaken{}, err
	}
	defer leave()
	for range takeTries {
		var command domain.Command
		if command, err = h.Store.CommandTaken(ctx, agent.ID, out.RequestID); err != nil {
			return agentwire.OutputTaken{}, err
		}
		if command.Status.Over() {
			return answer(command.Taken, true), nil
		}
		t := newTaking(command, scrubber)
		if line != nil {
			t.line(string(out.Stream), line)
		}
		for _, chunk := range out.Chunks {
			t.add(string(chunk.Stream), chunk.Offset, chunk.Data)
		}
		t.wrote(string(agentwire.Stdout), out.StdoutBytes)
		t.wrote(string(agentwire.Stderr), out.StderrBytes)
		err = h.Store.TakeOutput(ctx, agent.ID, out.RequestID, t.chunks, t.taken, t.written)
		if err == nil {
			return answer(t.taken, false), nil
		}
		if domain.CodeOf(err) != domain.CodeSuperseded {
			break
		}
	}
	return agentwire.OutputTaken{}, err
}

func answer(taken map[string]int64, over bool) agentwire.OutputTaken {
	return agentwire.OutputTaken{OK: true, Stdout: taken[string(agentwire.Stdout)], Stderr: taken[string(agentwire.Stderr)], Over: over}
}

func checkOutput(out agentwire.Output, line []byte) error {
	if out.RequestID == "" {
		return domain.Invalid("request_id", "name the command that wrote this")
	}
	if line != nil && !known(out.Stream) {
		return domain.Invalid("stream", "must be %s or %s", agentwire.Stdout, agentwire.Stderr)
	}
	size := 0
	for _, chunk := range out.Chunks {
		if !known(chunk.Stream) || chunk.Offset < 0 || chunk.Offset > maxBytes {
			return domain.Invalid("chunks", "each must be of %s or %s, with the bytes before it", agentwire.Stdout, agentwire.Stderr)
		}
		size += len(chunk.Data)
	}
	if size > agentwire.MaxChunks {
		return domain.Errorf(domain.CodeTooLarge, "the chunks of one post may have at most %d bytes", agentwire.MaxChunks)
	}
	return counted(out.StdoutBytes, out.StderrBytes)
}

func known(s agentwire.Stream) bool { return s == agentwire.Stdout || s == agentwire.Stderr }

// taking is output on its way into a log.
type taking struct {
	scrubber       domain.Scrubber
	taken, written map[string]int64
	held           map[string][]byte // follows what is taken, and may be the beginning of a value
	chunks         []domain.CommandChunk
}

func newTaking(c domain.Command, s domain.Scrubber) *taking {
	t := &taking{scrubber: s, taken: map[string]int64{}, written: map[string]int64{}, held: map[string][]byte{}}
	for stream, of := range map[agentwire.Stream]domain.CommandOutput{agentwire.Stdout: c.Stdout, agentwire.Stderr: c.Stderr} {
		t.taken[string(stream)], t.written[string(stream)] = c.Taken[string(stream)], of.Bytes
	}
	return t
}

// line adds a line of a plain agent, behind what it has written before.
func (t *taking) line(stream string, line []byte) {
	t.add(stream, t.written[stream], append(line, '\n'))
}

// add adds a chunk, as far as it is of the head of the stream, new, and goes on where the log
// ends.
func (t *taking) add(stream string, offset int64, data []byte) {
	t.wrote(stream, offset+int64(len(data)))
	data = data[:max(0, min(int64(len(data)), agentwire.HeadBytes-offset))]
	reached := t.taken[stream] + int64(len(t.held[stream]))
	if offset > reached || offset+int64(len(data)) <= reached {
		return
	}
	text := append(t.held[stream], data[reached-offset:]...)
	safe := safeBytes(t.scrubber, text)
	if safe > 0 {
		t.chunks = append(t.chunks, domain.CommandChunk{Stream: stream, Offset: t.taken[stream], Data: []byte(t.scrubber.Scrub(string(text[:safe])))})
		t.taken[stream] += int64(safe)
	}
	t.held[stream] = text[safe:]
}

func (t *taking) wrote(stream string, bytes int64) {
	t.written[stream] = max(t.written[stream], bytes)
}

// safeBytes gives how much of a text that goes on can be scrubbed and stored by itself: not
// what may be the beginning of a value, nor of a character.
func safeBytes(s domain.Scrubber, text []byte) int {
	safe := len(text) - s.Held(string(text))
	for back := 1; back < utf8.UTFMax && back <= safe; back++ {
		if b := text[safe-back]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(text[safe-back:safe]) && safe == len(text) {
				return safe - back
			}
			break
		}
	}
	return safe
}

// stripes make the posts about one command wait for each other.
type stripes [64]sync.Mutex

var seed = maphash.MakeSeed()

// lock gives what unlocks.
func (s *stripes) lock(id string) (unlock func()) {
	m := &s[maphash.String(seed, id)%uint64(len(s))]
	m.Lock()
	return m.Unlock
}
