package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/harvest-engine/harvest/worker"
	"github.com/harvest-engine/harvest/workflows"
)

// apartOrder is what a worker in a process of its own is told.
type apartOrder struct {
	Database, Temporal string
	Keys               string // of payloads, as worker.ParseKeyring reads them; "" makes it the bare reference's worker
	Queues             workflows.Queues
	Profile            string // file for a CPU profile of the process; "" for none
}

// DSN implements servers.
func (o apartOrder) DSN() string { return o.Database }

// TemporalAddress implements servers.
func (o apartOrder) TemporalAddress() string { return o.Temporal }

// The questions that such a process answers, a line each.
const (
	askMemory = "memory" // after a collection
	askDone   = "done"
)

// apartReport is its answer.
type apartReport struct {
	Heap     float64 // MB of heap and stacks in use
	Resident float64 // MB that the kernel counts
	Done     int64   // activities that the bare reference has run
}

// serveApart is such a process: it works until its input ends.
func serveApart(ctx context.Context, text string) error {
	var o apartOrder
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	stop, err := startProfile(o.Profile)
	if err != nil {
		return err
	}
	defer stop()
	done := func() int64 { return 0 }
	if o.Keys == "" {
		b, err := workBare(o)
		if err != nil {
			return err
		}
		defer b.stop()
		done = b.done.Load
	} else {
		h, err := workApart(ctx, o)
		if err != nil {
			return err
		}
		defer h.close()
	}
	return answer(os.Stdin, os.Stdout, done)
}

// workApart is a house with nothing but a worker.
func workApart(ctx context.Context, o apartOrder) (h *house, err error) {
	h = &house{counter: newCounter()}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	keys, err := worker.ParseKeyring(o.Keys)
	if err != nil {
		return nil, err
	}
	codec, err := worker.NewCodec(keys)
	if err != nil {
		return nil, err
	}
	if h.back, err = h.openHalf(ctx, o, codec); err != nil {
		return nil, err
	}
	chain, err := modelChain(askingModel{})
	if err != nil {
		return nil, err
	}
	return h, h.startWorker(o.Queues, chain, askingTools())
}

// answer says that the process is ready, and then what it is asked.
func answer(in io.Reader, out io.Writer, done func() int64) error {
	reports := json.NewEncoder(out)
	if err := reports.Encode(apartReport{}); err != nil {
		return err
	}
	for questions := bufio.NewScanner(in); questions.Scan(); {
		report := apartReport{Done: done()}
		if questions.Text() == askMemory {
			report.Heap = float64(heldMemory()) / 1e6
			var err error
			if report.Resident, err = resident(os.Getpid()); err != nil && runtime.GOOS == "linux" {
				return err
			}
		}
		if err := reports.Encode(report); err != nil {
			return err
		}
	}
	return nil
}

// apart is a worker process, as who started it sees it.
type apart struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *json.Decoder
	said *strings.Builder // on its standard error
}

// startApart starts this program as a worker, and waits until it works.
func startApart(o apartOrder) (*apart, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a := &apart{cmd: exec.Command(program, "-worker", string(text)), said: &strings.Builder{}}
	a.cmd.Stderr = a.said
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.out = json.NewDecoder(out)
	if err := a.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	if err := a.out.Decode(&apartReport{}); err != nil {
		a.stop()
		return nil, errors.New("a worker does not start: " + a.said.String())
	}
	return a, nil
}

// ask asks the process a question.
func (a *apart) ask(question string) (report apartReport, err error) {
	if _, err := fmt.Fprintln(a.in, question); err != nil {
		return report, fmt.Errorf("ask a worker: %w", err)
	}
	if err := a.out.Decode(&report); err != nil {
		return report, fmt.Errorf("a worker is gone: %w", err)
	}
	return report, nil
}

// stop ends the process and waits for it.
func (a *apart) stop() {
	_ = a.in.Close()
	_ = a.cmd.Wait() // how it ends is of no interest: it has been measured
}
