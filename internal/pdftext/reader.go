package pdftext

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	// childLimit bounds the life of a child: the first on a machine compiles the reader, which
	// takes some seconds of two processors, and more where they are busy.
	childLimit = 90 * time.Second
	// childrenAtOnce bounds what is taken of a machine.
	childrenAtOnce = 2
	// maxOutput bounds what is taken from a child, in bytes.
	maxOutput = 4 * maxText
	// maxInput bounds the file, in bytes.
	maxInput = 32 << 20
)

// Reader reads the text of PDF files, each in a process of its own. It is safe for concurrent
// use.
type Reader struct {
	command []string
	running chan struct{}
}

// NewReader gives a reader whose children run the command, which is to call Serve with its
// standard input and output.
func NewReader(command ...string) *Reader {
	return &Reader{command: command, running: make(chan struct{}, childrenAtOnce)}
}

// Read gives the text of a file, or what kept it from being read: that is no error. An error is
// that the child could not be started, or that ctx ended.
func (r *Reader) Read(ctx context.Context, data []byte) (domain.DocumentText, error) {
	if len(data) > maxInput {
		return domain.DocumentText{Problem: domain.DocumentSlow}, nil
	}
	select {
	case r.running <- struct{}{}:
		defer func() { <-r.running }()
	case <-ctx.Done():
		return domain.DocumentText{}, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, childLimit)
	defer cancel()
	out := &boundedBuffer{most: maxOutput}
	child := exec.CommandContext(limited, r.command[0], r.command[1:]...)
	child.Env = []string{"GOMEMLIMIT=512MiB"} // and nothing that is ours
	child.Stdin, child.Stdout = bytes.NewReader(data), out
	child.WaitDelay = time.Second
	err := child.Run()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return domain.DocumentText{}, ctx.Err()
	case limited.Err() != nil:
		return domain.DocumentText{Problem: domain.DocumentSlow}, nil
	case errors.As(err, &ended) || errors.Is(err, errTooMuch): // the file was too much for it
		return domain.DocumentText{Problem: domain.DocumentBroken}, nil
	case err != nil:
		return domain.DocumentText{}, fmt.Errorf("start the reader of PDF files: %w", err)
	}
	var text domain.DocumentText
	if err := json.Unmarshal(out.Bytes(), &text); err != nil {
		return text, fmt.Errorf("understand the reader of PDF files: %w", err)
	}
	return text, nil
}

var errTooMuch = errors.New("the output is longer than it may be")

// boundedBuffer takes so many bytes, and refuses more.
type boundedBuffer struct {
	bytes.Buffer
	most int
}

// Write implements io.Writer.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, errTooMuch
	}
	return b.Buffer.Write(p)
}
