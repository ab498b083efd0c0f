package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
)

// A record is a file of four blocks, each JSON with its checksum. All are on disk before a
// command begins, and are overwritten in place: what is to be told of its end never needs
// room on a disk that may be full by then.
const (
	blockSize = 4096

	blockOrder  = 0 // Order, by the agent
	blockState  = 1 // State, by the shim
	blockEnding = 2 // Ending, by the shim, or by the agent where the shim is gone
	blockWish   = 3 // Wish, by the agent
	blocks      = 4
)

// errEmpty reports a block that nothing was written to.
var errEmpty = errors.New("empty block")

// seal gives the bytes of a block.
func seal(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	block := fmt.Appendf(text, "\n%08x\n", crc32.ChecksumIEEE(text))
	if len(block) > blockSize {
		return nil, fmt.Errorf("%d bytes don't fit in a block of %d", len(block), blockSize)
	}
	return append(block, make([]byte, blockSize-len(block))...), nil
}

// open reads the value of a block.
func open(block []byte, v any) error {
	if len(block) == 0 || block[0] == 0 {
		return errEmpty
	}
	text, rest, _ := bytes.Cut(block, []byte{'\n'})
	if len(rest) < 8 {
		return errors.New("a block is cut off")
	}
	sum, err := strconv.ParseUint(string(rest[:8]), 16, 32)
	if err != nil || uint32(sum) != crc32.ChecksumIEEE(text) {
		return errors.New("a block does not match its checksum")
	}
	return json.Unmarshal(text, v)
}

func (r *Record) writeBlock(n int, v any) error {
	block, err := seal(v)
	if err != nil {
		return err
	}
	_, err = r.disk.WriteAt(r.file, block, int64(n)*blockSize)
	return err
}

// readBlock reads a block. One that is just being overwritten may be seen half, so it looks
// again a few times.
func readBlock(f *os.File, n int, v any) error {
	const looks = 3
	block := make([]byte, blockSize)
	var err error
	for range looks {
		count, readErr := f.ReadAt(block, int64(n)*blockSize)
		if readErr != nil && count == 0 {
			return fmt.Errorf("read block %d: %w", n, readErr)
		}
		if err = open(block[:count], v); err == nil || errors.Is(err, errEmpty) {
			return err
		}
	}
	return err
}
