package secrets

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/xchacha20poly1305"
	"github.com/tink-crypto/tink-go/v2/insecuresecretdataaccess"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/secretdata"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/harvest-engine/harvest/internal/domain"
)

// keySize is the size of a derived key, in bytes.
const keySize = 32

// Key is a configured encryption key. It encrypts nothing here itself: a key of its own is
// derived from it, so that what is sealed here has no key in common with anything else.
type Key struct {
	ID     string
	Secret []byte // 32 bytes
}

// Sealer seals and opens values. It is safe for concurrent use.
type Sealer struct {
	active string
	keys   map[string]tink.AEAD
}

// NewSealer builds a sealer on keys in order of age: the last one seals, all of them open.
func NewSealer(keys []Key) (*Sealer, error) {
	s := &Sealer{keys: map[string]tink.AEAD{}}
	for _, key := range keys {
		derived, err := derive(key)
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", key.ID, err)
		}
		s.keys[key.ID], s.active = derived, key.ID
	}
	if s.active == "" {
		return nil, domain.Errorf(domain.CodeNotConfigured, "there is no encryption key to seal secrets with")
	}
	return s, nil
}

func derive(key Key) (tink.AEAD, error) {
	raw, err := hkdf.Key(sha256.New, key.Secret, nil, "harvest secrets, xchacha20-poly1305, "+key.ID, keySize)
	if err != nil {
		return nil, fmt.Errorf("derive: %w", err)
	}
	params, err := xchacha20poly1305.NewParameters(xchacha20poly1305.VariantNoPrefix)
	if err != nil {
		return nil, err
	}
	own, err := xchacha20poly1305.NewKey(secretdata.NewBytesFromData(raw, insecuresecretdataaccess.Token{}), 0, params)
	if err != nil {
		return nil, err
	}
	set := keyset.NewManager()
	id, err := set.AddKey(own)
	if err != nil {
		return nil, err
	}
	if err := set.SetPrimary(id); err != nil {
		return nil, err
	}
	handle, err := set.Handle()
	if err != nil {
		return nil, err
	}
	return aead.New(handle)
}

// Active gives the id of the key that seals.
func (s *Sealer) Active() string { return s.active }

// Seal seals a value for its place: the project, slot and version of at.
func (s *Sealer) Seal(value domain.SecretValue, at domain.SealedSecret) (domain.SealedSecret, error) {
	body, err := s.keys[s.active].Encrypt([]byte(value.Reveal()), place(at))
	if err != nil {
		return domain.SealedSecret{}, fmt.Errorf("seal a secret: %w", err)
	}
	at.Key, at.Body = s.active, body
	return at, nil
}

// Open opens a sealed value. Errors: unavailable where its key is not among those given; forbidden
// where it does not open in this place: it was changed, or belongs to another one.
func (s *Sealer) Open(sealed domain.SealedSecret) (domain.SecretValue, error) {
	key, ok := s.keys[sealed.Key]
	if !ok {
		return domain.SecretValue{}, domain.Errorf(domain.CodeUnavailable,
			"the secret %s is sealed with the key %q, which this process does not have; give it the key under [temporal.codec]", sealed.Slot, sealed.Key)
	}
	plain, err := key.Decrypt(sealed.Body, place(sealed))
	if err != nil {
		return domain.SecretValue{}, domain.Wrap(domain.CodeForbidden, err,
			"the secret %s does not open: it was changed or moved in the database, or the key %q is another one; save it anew", sealed.Slot, sealed.Key)
	}
	return domain.NewSecretValue(string(plain)), nil
}

// place gives the associated data of a value: lengths before texts, so that no two places
// give the same.
func place(at domain.SealedSecret) []byte {
	data := []byte("harvest secret 1")
	for _, part := range []string{at.ProjectID, at.Slot} {
		data = append(binary.AppendUvarint(data, uint64(len(part))), part...)
	}
	return binary.AppendUvarint(data, uint64(at.Version))
}
