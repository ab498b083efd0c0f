package pg

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// keyOf is the id of a symbol key: 64 bits of a hash, so that an edge can be stored before
// its target, and without asking the database. In a version of a million symbols the chance
// that any two share one is below 1 in 30 million. local is "" for the file itself.
func keyOf(repo int32, path, local string) int64 {
	buf := make([]byte, 0, 160)
	buf = binary.BigEndian.AppendUint32(buf, uint32(repo))
	buf = append(buf, path...)
	buf = append(buf, 0)
	buf = append(buf, local...)
	sum := sha256.Sum256(buf)
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// hashBytes reads a hex hash as it is stored.
func hashBytes(field, id string) ([]byte, error) {
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) < 8 {
		return nil, domain.Invalid(field, "%q is not a hash in hex", id)
	}
	return raw, nil
}

// hashList reads several hashes.
func hashList[T ~string](field string, ids []T) ([][]byte, error) {
	raw := make([][]byte, len(ids))
	for i, id := range ids {
		var err error
		if raw[i], err = hashBytes(field, string(id)); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

// clean makes a text storable: PostgreSQL takes neither NUL nor broken UTF-8.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
