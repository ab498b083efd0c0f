package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/domain"
)

// commandView shows a command as it goes on: its output where it belongs, and all else beside it.
type commandView struct {
	mu     sync.Mutex // of all that is written
	errs   *os.File
	stream map[string]io.Writer
	onTerm []*terminal.Output
	shown  map[string]int64 // bytes of each stream
	beyond bool             // it was told that not all is shown as it comes
}

// view begins to show a command. Without raw what could harm a terminal is left out there.
func (p *program) view(raw, silent bool) *commandView {
	v := &commandView{errs: p.errs, shown: map[string]int64{}}
	open := func(file *os.File) io.Writer {
		switch {
		case silent:
			return io.Discard
		case raw || !terminal.Is(file):
			return file
		}
		out := terminal.NewOutput(file)
		v.onTerm = append(v.onTerm, out)
		return out
	}
	v.stream = map[string]io.Writer{domain.StreamStdout: open(p.out), domain.StreamStderr: open(p.errs)}
	return v
}

// note says something on a line of its own.
func (v *commandView) note(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endLines()
	fmt.Fprintf(v.errs, "harvest: "+format+"\n", args...)
}

func (v *commandView) endLines() {
	for _, out := range v.onTerm {
		out.EndLine()
	}
}

func (v *commandView) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endLines()
	for _, out := range v.onTerm {
		out.Close()
	}
}

// commandEnd is how a command ended.
type commandEnd struct {
	Status   domain.CommandStatus `json:"status"`
	ExitCode *int                 `json:"exit_code"`
	Error    string               `json:"error"`
	Stdout   int64                `json:"stdout_bytes"`
	Stderr   int64                `json:"stderr_bytes"`
}

// show shows an event; of the last it gives the end.
func (v *commandView) show(event client.Event) (*commandEnd, error) {
	switch event.Type {
	case domain.EventCommandOutput:
		return nil, v.output(event)
	case domain.EventCommandSkipped:
		if !v.beyond {
			v.beyond = true
			v.note("it writes more than is shown as it comes; the end of it is shown when it has ended")
		}
	case domain.EventTrimmed:
		v.note("the beginning of its output is no longer kept")
	case domain.EventCommandDone:
		var end commandEnd
		err := event.Decode(&end)
		return &end, err
	}
	return nil, nil
}

func (v *commandView) output(event client.Event) error {
	var piece struct {
		Stream string `json:"stream"`
		Text   string `json:"text"`
		Data   []byte `json:"data"`
	}
	if err := event.Decode(&piece); err != nil {
		return err
	}
	data := piece.Data
	if piece.Text != "" {
		data = []byte(piece.Text)
	}
	return v.write(piece.Stream, data)
}

func (v *commandView) write(stream string, data []byte) error {
	out := v.stream[stream]
	if out == nil {
		return nil // of a kind that this version does not know
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown[stream] += int64(len(data))
	_, err := out.Write(data)
	return err
}

// followRun shows a command to its end, which it gives as an error with the exit code. Where ctx
// ends it asks for the command's end; at the next interrupt it no longer waits for that.
func (p *program) followRun(ctx context.Context, api *client.Client, x domain.CommandInfo, asJSON, raw bool) error {
	v := p.view(raw, asJSON)
	defer v.close()
	api.Waits = func(reason string) { v.note("%s (it is tried again)", domain.VisibleFault(reason)) }
	following, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	defer p.onInterrupt(ctx, following, interrupt{
		of: "the command", cancel: func(ctx context.Context) error { return api.CancelCommand(ctx, x) }, note: v.note, leave: leave,
	})()
	end, err := follow(following, api, x, "", v)
	switch {
	case err != nil && following.Err() != nil:
		return exitError{exitStopped, fmt.Errorf("its end was asked for, and is not waited for; see what becomes of it with: harvest agents logs %s", x.ID)}
	case err != nil:
		return domain.Wrap(domain.CodeOf(err), err, "%s; the command goes on: harvest agents logs %s", domain.PublicMessage(err), x.ID)
	case asJSON:
		if err := p.printCommand(following, api, x.ID); err != nil {
			return err
		}
	}
	return ended(x, end)
}

// follow shows a command's events, and the rest of its output, and gives its end.
func follow(ctx context.Context, api *client.Client, x domain.CommandInfo, after string, v *commandView) (*commandEnd, error) {
	for event, err := range api.FollowCommand(ctx, x, after) {
		if err != nil {
			return nil, err
		}
		end, err := v.show(event)
		if err != nil || end == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		return end, v.rest(ctx, api, x, end)
	}
	return nil, errors.New("the log of the command breaks off")
}
