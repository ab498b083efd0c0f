package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"

	"github.com/harvest-engine/harvest/internal/domain"
)

// cost is what a hash takes; OWASP's password storage cheat sheet names this one.
type cost struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
}

var hashCost = cost{memory: 19 << 10, passes: 2, threads: 1}

const (
	hashSalt = 16 // bytes
	hashSize = 32
	// hashesAtOnce bounds the memory that hashing takes at one time, to some 80 MiB.
	hashesAtOnce = 4
)

// hasher makes and checks argon2id hashes, only so many at once.
type hasher struct{ free chan struct{} }

func newHasher() *hasher { return &hasher{free: make(chan struct{}, hashesAtOnce)} }

// hash gives a password's hash in PHC form: $argon2id$v=19$m=19456,t=2,p=1$salt$hash.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, hashSalt)
	_, _ = rand.Read(salt) // crypto/rand.Read never returns an error
	sum, err := h.derive(ctx, password, salt, hashCost)
	if err != nil {
		return "", err
	}
	text := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashCost.memory, hashCost.passes, hashCost.threads, text(salt), text(sum)), nil
}

// verify reports whether hash is the password's. An account without a password, hash "",
// takes as long as any other.
func (h *hasher) verify(ctx context.Context, hash, password string) (bool, error) {
	if len(password) > maxPassword {
		return false, nil
	}
	c, salt, want, err := parseHash(hash)
	if err != nil {
		c, salt, want = hashCost, make([]byte, hashSalt), make([]byte, hashSize)
	}
	got, waited := h.derive(ctx, password, salt, c)
	if waited != nil {
		return false, waited
	}
	return err == nil && subtle.ConstantTimeCompare(got, want) == 1, nil
}

func (h *hasher) derive(ctx context.Context, password string, salt []byte, c cost) ([]byte, error) {
	select {
	case h.free <- struct{}{}:
	case <-ctx.Done():
		return nil, domain.Wrap(domain.CodeUnavailable, ctx.Err(), "too many people sign in at once; try again")
	}
	defer func() { <-h.free }()
	return argon2.IDKey([]byte(password), salt, c.passes, c.memory, c.threads, hashSize), nil
}

func parseHash(hash string) (c cost, salt, sum []byte, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return c, nil, nil, fmt.Errorf("not an argon2id hash")
	}
	if _, err = fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.passes, &c.threads); err != nil {
		return c, nil, nil, err
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return c, nil, nil, err
	}
	sum, err = base64.RawStdEncoding.DecodeString(parts[5])
	return c, salt, sum, err
}
