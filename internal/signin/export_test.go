package signin

import "context"

// Common gives how many passwords are refused for being used most.
func Common() int { return len(common()) }

// CheckPassword judges a new password.
func CheckPassword(password, email, name string) error { return checkPassword(password, email, name) }

// AddressKey names an address in the count of attempts.
func AddressKey(address string) string { return addressKey(address) }

// Hasher makes and checks hashes.
type Hasher struct{ h *hasher }

// NewHasher builds one.
func NewHasher() Hasher { return Hasher{newHasher()} }

// Hash hashes a password.
func (h Hasher) Hash(ctx context.Context, password string) (string, error) {
	return h.h.hash(ctx, password)
}

// Verify checks a password.
func (h Hasher) Verify(ctx context.Context, hash, password string) (bool, error) {
	return h.h.verify(ctx, hash, password)
}

// Occupy takes all places for hashing until the function that it gives is called.
func (h Hasher) Occupy() (free func()) {
	for range cap(h.h.free) {
		h.h.free <- struct{}{}
	}
	return func() {
		for range cap(h.h.free) {
			<-h.h.free
		}
	}
}
