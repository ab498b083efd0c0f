package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Sealer encrypts large values and credentials at rest. The context binds a value to its owner.
// A sealed value begins with the length of its key's id, in one byte, and the id.
type Sealer interface {
	// Seal encrypts a value for a context.
	Seal(plain, context []byte) ([]byte, error)
	// Open gives what Seal was given; an error where the context is another one, the key is
	// not known, or the value was changed.
	Open(sealed, context []byte) ([]byte, error)
}

// plain stores values as they are.
type plain struct{}

func (plain) Seal(b, _ []byte) ([]byte, error) { return b, nil }
func (plain) Open(b, _ []byte) ([]byte, error) { return b, nil }

// Ref names a large value by its content.
type Ref struct {
	SHA256 []byte `json:"sha256"`
	Size   int64  `json:"size"`
}

var (
	sqlPutValue = statement("put a value", `
insert into large_values (owner, sha256, size, body) values (@owner, @sha256, @size, @body)
on conflict (owner, sha256) do update set unused_since = null`)  // locks it against its removal
	sqlUseValue = statement("use a value", `
insert into value_uses (owner, sha256, message_id) values (@owner, @sha256, @message) on conflict do nothing`)
	sqlValue = statement("read a value", `select body from large_values where owner = @owner and sha256 = @sha256`)
)

// codec compresses; both halves are safe for concurrent use of EncodeAll and DecodeAll.
var codec = sync.OnceValue(func() (c struct {
	*zstd.Encoder
	*zstd.Decoder
}) {
	c.Encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest)) // fails on bad options only
	c.Decoder, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(256<<20))
	return c
})

// queuePut adds the storing of a value to a batch and gives its name.
func (s *Store) queuePut(steps *pgx.Batch, owner string, body []byte) (Ref, error) {
	sum := sha256.Sum256(body)
	sealed, err := s.seal.Seal(codec().EncodeAll(body, nil), sum[:])
	if err != nil {
		return Ref{}, fmt.Errorf("seal a value: %w", err)
	}
	ref := Ref{SHA256: sum[:], Size: int64(len(body))}
	steps.Queue(sqlPutValue, pgx.NamedArgs{"owner": owner, "sha256": ref.SHA256, "size": ref.Size, "body": sealed})
	return ref, nil
}

// value reads a large value.
func (s *Store) value(ctx context.Context, owner string, ref Ref) ([]byte, error) {
	var sealed []byte
	err := s.pool.QueryRow(ctx, sqlValue, pgx.NamedArgs{"owner": owner, "sha256": ref.SHA256}).Scan(&sealed)
	if noRows(err) {
		return nil, domain.NotFound("a stored value is gone")
	}
	if err != nil {
		return nil, failed("read a value", err)
	}
	packed, err := s.seal.Open(sealed, ref.SHA256)
	if err != nil {
		return nil, fmt.Errorf("open a sealed value: %w", err)
	}
	body, err := codec().DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack a value: %w", err)
	}
	return body, nil
}
