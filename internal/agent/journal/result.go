package journal

import (
	"errors"
	"fmt"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// Result gives what is posted of a command that ended, with what is kept of its output. What
// can't be read of that is left out, and Error says so: how it ended is told all the same.
func (r *Record) Result(id string, ending Ending) agentwire.Result {
	result := Told(id, ending)
	touched := ending.Written
	state, stateErr := r.State()
	if stateErr == nil && ending.Outcome == agentwire.Unknown {
		touched = state.Touched
	}
	torn := r.stopped && (stateErr != nil || !state.Synced) // a ring may hold any mixture of old and new
	heads, err := r.heads()
	if err != nil {
		result.Error = join(result.Error, fmt.Errorf("its output can't be read: %w", err))
	}
	var tails [2][]byte
	for stream := range tails {
		if int64(len(heads[stream])) < agentwire.HeadBytes {
			continue // what lies behind a gap has no place
		}
		if torn && ending.Written[stream] > agentwire.HeadBytes {
			result.Error = join(result.Error, errTorn)
			continue
		}
		if tails[stream], err = readTail(r.path+endTail[stream], ending.Written[stream], touched[stream]); err != nil {
			result.Error = join(result.Error, fmt.Errorf("the end of its output can't be read: %w", err))
		}
	}
	for stream, head := range heads {
		behind := max(0, ending.Written[stream]-agentwire.HeadBytes) // the head, of which the tail is the end
		cut := int64(len(head)) < min(ending.Written[stream], agentwire.HeadBytes) || ending.Outcome != agentwire.Unknown && int64(len(tails[stream])) < min(behind, agentwire.TailBytes)
		if cut && result.Error == "" {
			result.Error = "a part of its output is not there any more"
		}
	}
	result.StdoutHead, result.StdoutTail = heads[0], tails[0]
	result.StderrHead, result.StderrTail = heads[1], tails[1]
	return result
}

var errTorn = errors.New("the end of its output was not on the disk as the machine stopped")

func join(text string, err error) string {
	if text == "" {
		return err.Error()
	}
	return text + "; " + err.Error()
}

// Told gives the result without any output.
func Told(id string, ending Ending) agentwire.Result {
	return agentwire.Result{
		RequestID: id, Outcome: ending.Outcome, ExitCode: ending.ExitCode, Error: ending.Error,
		StdoutBytes: ending.Written[0], StderrBytes: ending.Written[1],
		DurationMS: ending.Millis, Swept: ending.Swept,
	}
}

// heads gives what is kept of both beginnings; before what is damaged, with an error.
func (r *Record) heads() ([2][]byte, error) {
	reader := r.Head()
	defer reader.Close()
	var heads [2][]byte
	for {
		pieces, err := reader.Next(agentwire.HeadBytes)
		for _, piece := range pieces {
			if len(heads[piece.Stream])+len(piece.Data) > agentwire.HeadBytes {
				return heads, errors.New("the file of the output is damaged")
			}
			heads[piece.Stream] = append(heads[piece.Stream], piece.Data...)
		}
		if err != nil || len(pieces) == 0 {
			return heads, err
		}
	}
}
