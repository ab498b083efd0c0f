package main

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/worker"
)

// sealer encrypts large values at rest with the keys that also encrypt payloads. A sealed
// value is one byte with the length of the key's id, the id, and a random nonce with the
// AES-256-GCM sealing; id and context are authenticated.
type sealer struct {
	active string
	keys   map[string]cipher.AEAD
}

func newSealer(ring worker.Keyring) (*sealer, error) {
	s := &sealer{keys: map[string]cipher.AEAD{}}
	for _, key := range ring {
		block, err := aes.NewCipher(key.Secret)
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", key.ID, err)
		}
		if s.keys[key.ID], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, fmt.Errorf("key %s: %w", key.ID, err)
		}
		s.active = key.ID // the last one is
	}
	return s, nil
}

// Seal implements postgres.Sealer.
func (s *sealer) Seal(plain, context []byte) ([]byte, error) {
	head := append([]byte{byte(len(s.active))}, s.active...) // ids have at most 64 bytes
	return s.keys[s.active].Seal(head, nil, plain, bind(head, context)), nil
}

// Open implements postgres.Sealer.
func (s *sealer) Open(sealed, context []byte) ([]byte, error) {
	if len(sealed) == 0 || len(sealed) < 1+int(sealed[0]) {
		return nil, domain.Errorf(domain.CodeInternal, "a stored value is cut off")
	}
	head, body := sealed[:1+sealed[0]], sealed[1+sealed[0]:]
	key, ok := s.keys[string(head[1:])]
	if !ok {
		return nil, domain.Errorf(domain.CodeInternal, "a stored value is encrypted with the key %q, which is not among the encryption keys", head[1:])
	}
	plain, err := key.Open(nil, nil, body, bind(head, context))
	if err != nil {
		return nil, domain.Wrap(domain.CodeInternal, err, "a stored value does not open with the key %q", head[1:])
	}
	return plain, nil
}

func bind(head, context []byte) []byte { return append(append([]byte{}, head...), context...) }
