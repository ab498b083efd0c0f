package journal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// The head of both outputs is one file of frames, in the order in which they were read: a
// byte for the stream, the length in four, and the bytes. What a full disk or a killed shim
// cut off is no frame.
const (
	frameHeader = 5
	endHead     = ".head"
)

// Streams are the outputs of a command; their places here are those in State and Ending.
var Streams = [2]agentwire.Stream{agentwire.Stdout, agentwire.Stderr}

// headWriter writes frames. What a full disk refuses waits in memory, which the limit of
// each stream bounds.
type headWriter struct {
	disk    disk
	path    string
	file    *os.File
	written int64    // bytes of the file
	taken   [2]int64 // bytes of the streams in frames
	flushed [2]int64 // of these, those in the file
	pending []byte   // frames, or the rest of one
	open    int      // where in pending the last frame begins that may still grow; -1 for none
	openOf  int      // its stream
}

// add takes the bytes of a stream that still belong to its head, and says how many.
func (h *headWriter) add(stream int, data []byte) int {
	data = data[:min(int64(len(data)), agentwire.HeadBytes-h.taken[stream])]
	if len(data) == 0 {
		return 0
	}
	if h.open < 0 || h.openOf != stream {
		h.open, h.openOf = len(h.pending), stream
		h.pending = append(h.pending, byte(stream), 0, 0, 0, 0)
	}
	h.pending = append(h.pending, data...)
	length := uint32(len(h.pending) - h.open - frameHeader)
	binary.BigEndian.PutUint32(h.pending[h.open+1:], length)
	h.taken[stream] += int64(len(data))
	return len(data)
}

// flush writes what is pending.
func (h *headWriter) flush() error {
	if len(h.pending) == 0 {
		return nil
	}
	if h.file == nil {
		file, err := h.disk.Create(h.path+endHead, os.O_TRUNC|os.O_WRONLY)
		if err != nil {
			return err
		}
		h.file = file
	}
	h.open = -1 // its beginning is on the disk, with its length
	n, err := h.disk.WriteAt(h.file, h.pending, h.written)
	h.written += int64(n)
	if err != nil {
		h.pending = append(h.pending[:0], h.pending[n:]...)
		return err
	}
	h.pending = h.pending[:0]
	h.flushed = h.taken
	return nil
}

// Piece is a frame of a head: bytes of a stream and their place in it.
type Piece struct {
	Stream int // see Streams
	Offset int64
	Data   []byte
}

// HeadReader reads the pieces of a head as they come.
type HeadReader struct {
	path    string
	file    *os.File
	at      int64    // where the next frame begins
	offsets [2]int64 // of it, in its stream
}

// PieceCost is what a piece costs beside its bytes, in memory and in a post: an output of single
// bytes, now of one stream and now of the other, is little data in many pieces.
const PieceCost = 64

// Head gives a reader of the command's head, from its beginning.
func (r *Record) Head() *HeadReader { return &HeadReader{path: r.path} }

// Rewind makes the next piece the first one.
func (h *HeadReader) Rewind() { h.at, h.offsets = 0, [2]int64{} }

// Close closes the file.
func (h *HeadReader) Close() {
	if h.file != nil {
		_ = h.file.Close()
	}
}

// Next gives the pieces that are there behind the last one: none where nothing new is, and
// no more once they hold limit bytes, with PieceCost for each.
func (h *HeadReader) Next(limit int) ([]Piece, error) {
	if h.file == nil {
		file, err := os.Open(h.path + endHead)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		h.file = file
	}
	if info, err := h.file.Stat(); err != nil || info.Size() <= h.at {
		return nil, err
	}
	in := bufio.NewReaderSize(io.NewSectionReader(h.file, h.at, 1<<62), 64<<10)
	var pieces []Piece
	for size := 0; size < limit; {
		piece, err := h.frame(in)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return pieces, nil // the rest of the frame may be about to be written
		}
		if err != nil {
			return pieces, err
		}
		h.at += int64(frameHeader + len(piece.Data))
		h.offsets[piece.Stream] += int64(len(piece.Data))
		pieces = append(pieces, piece)
		size += len(piece.Data) + PieceCost
	}
	return pieces, nil
}

func (h *HeadReader) frame(in io.Reader) (Piece, error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return Piece{}, err
	}
	length := binary.BigEndian.Uint32(header[1:])
	if header[0] > 1 || length == 0 || length > agentwire.HeadBytes {
		return Piece{}, errors.New("the file of the output is damaged")
	}
	data := make([]byte, length)
	if _, err := io.ReadFull(in, data); err != nil {
		return Piece{}, err
	}
	return Piece{Stream: int(header[0]), Offset: h.offsets[header[0]], Data: data}, nil
}
