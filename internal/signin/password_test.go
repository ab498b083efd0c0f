package signin_test

import (
	"context"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/signin"
)

func TestHashes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := signin.NewHasher()
	first, err := h.Hash(ctx, "a sentence of mine")
	if err != nil || !strings.HasPrefix(first, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("%q, %v", first, err)
	}
	second, err := h.Hash(ctx, "a sentence of mine")
	if err != nil || first == second {
		t.Errorf("the same password has the same hash, %v", err)
	}
	// A hash that another program made, of another cost.
	const foreign = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for name, c := range map[string]struct {
		hash, password string
		want           bool
	}{
		"right": {first, "a sentence of mine", true}, "right again": {second, "a sentence of mine", true},
		"wrong": {first, "A sentence of mine", false}, "empty": {first, "", false},
		"no hash": {"", "", false}, "no hash at all": {"plain", "plain", false}, "cut": {first[:len(first)-4], "a sentence of mine", false},
		"another program's": {foreign, "password", true}, "another program's, wrong": {foreign, "Password", false},
	} {
		if got, err := h.Verify(ctx, c.hash, c.password); err != nil || got != c.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// Who can't wait for a place to hash is told to come again.
func TestHashingIsBounded(t *testing.T) {
	t.Parallel()
	h := signin.NewHasher()
	free := h.Occupy()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := h.Hash(ctx, "a sentence of mine"); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("with all places taken: %v", err)
	}
	free()
	if _, err := h.Hash(context.Background(), "a sentence of mine"); err != nil {
		t.Errorf("with places free: %v", err)
	}
}

func TestPasswordsThatAreRefused(t *testing.T) {
	t.Parallel()
	if signin.Common() != 10_000 {
		t.Fatalf("the list has %d passwords", signin.Common())
	}
	for password, good := range map[string]bool{
		"correct horse battery": true, "pässword of ä": true,
		"1234567": false, "12345678": false, "QwertyUiop": false, "ada@example.com": false, "Ada Lovelace": false, "iloveyou1": false,
		"\xff\xfe\xfd\xff\xfe\xfd\xff\xfe": false,
	} {
		if err := signin.CheckPassword(password, "ada@example.com", "Ada Lovelace"); (err == nil) != good {
			t.Errorf("%q: %v", password, err)
		}
	}
}

func TestAddressesOfOneSubscriber(t *testing.T) {
	t.Parallel()
	same := func(a, b string) bool { return signin.AddressKey(a) == signin.AddressKey(b) }
	if !same("2001:db8:1:2::1", "2001:db8:1:2:ffff::9") || same("2001:db8:1:2::1", "2001:db8:1:3::1") {
		t.Error("an IPv6 subscriber is a /64")
	}
	if same("192.0.2.1", "192.0.2.2") || same("fe80::1%eth0", "192.0.2.1") {
		t.Error("two addresses count as one")
	}
}
