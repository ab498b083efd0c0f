package pg

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A load writes rows in the hundreds of thousands, and their columns are of five types. So rows
// are written in the binary format of COPY right here: by pgx each value is put into an interface
// first, which shows in the time of an ingestion (docs/measurements.md).

// copyHeader begins the binary format: its signature, no flags, no extension.
const copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// copyChunk is about how many bytes are written before they are sent.
const copyChunk = 60 << 10

// rows is a stream of rows in that format. It is an io.Reader.
type rows struct {
	columns int
	next    func(*rows) error // writes one row, or gives io.EOF
	buf     []byte
	sent    int
	err     error // io.EOF behind the last row
}

// copyRows streams rows into columns of a table, and gives how many there were. next begins a
// row and writes each of its columns, in order.
func copyRows(ctx context.Context, tx pgx.Tx, table string, columns []string, next func(*rows) error) (int64, error) {
	r := &rows{columns: len(columns), next: next, buf: append(make([]byte, 0, copyChunk+4096), copyHeader...)}
	sql := fmt.Sprintf("copy %s (%s) from stdin binary", table, strings.Join(columns, ", "))
	tag, err := tx.Conn().PgConn().CopyFrom(ctx, r, sql)
	if err != nil { // of next as well: the server repeats it
		return 0, fmt.Errorf("copy %s: %w", table, err)
	}
	return tag.RowsAffected(), nil
}

// Read implements io.Reader.
func (r *rows) Read(into []byte) (int, error) {
	if r.sent == len(r.buf) {
		if r.err != nil {
			return 0, r.err
		}
		r.buf, r.sent = r.buf[:0], 0
	}
	for len(r.buf) < copyChunk && r.err == nil {
		if r.err = r.next(r); errors.Is(r.err, io.EOF) {
			r.buf = binary.BigEndian.AppendUint16(r.buf, 0xffff)
		}
	}
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		return 0, r.err
	}
	n := copy(into, r.buf[r.sent:])
	r.sent += n
	return n, nil
}

// begin begins a row.
func (r *rows) begin() { r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(r.columns)) }

func (r *rows) length(n int) { r.buf = binary.BigEndian.AppendUint32(r.buf, uint32(n)) }

func (r *rows) bigint(v int64) {
	r.length(8)
	r.buf = binary.BigEndian.AppendUint64(r.buf, uint64(v))
}

func (r *rows) integer(v int32) {
	r.length(4)
	r.buf = binary.BigEndian.AppendUint32(r.buf, uint32(v))
}

func (r *rows) smallint(v int16) {
	r.length(2)
	r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(v))
}

func (r *rows) boolean(v bool) {
	r.length(1)
	b := byte(0)
	if v {
		b = 1
	}
	r.buf = append(r.buf, b)
}

func (r *rows) text(v string) {
	r.length(len(v))
	r.buf = append(r.buf, v...)
}
