package main

import (
	"bytes"
	"testing"

	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/worker"
)

var _ postgres.Sealer = (*sealer)(nil)

func TestSealing(t *testing.T) {
	t.Parallel()
	old, young := worker.NewKey(), worker.NewKey()
	seal := func(ring ...worker.Key) *sealer {
		s, err := newSealer(ring)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	plain, owner := []byte("a long secret text"), []byte("its owner")
	sealed, err := seal(old).Seal(plain, owner)
	if err != nil || bytes.Contains(sealed, plain[2:8]) {
		t.Fatalf("sealed to %q, %v", sealed, err)
	}
	rotated := seal(old, young)
	if got, err := rotated.Open(sealed, owner); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("after a rotation it opens to %q, %v", got, err)
	}
	again, err := rotated.Seal(plain, owner)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seal(old).Open(again, owner); err == nil {
		t.Error("the old key opens what the new one sealed")
	}
	if _, err := rotated.Open(sealed, []byte("another owner")); err == nil {
		t.Error("a value opens for another owner")
	}
	for n := range sealed {
		if _, err := rotated.Open(sealed[:n], owner); err == nil {
			t.Errorf("the first %d bytes open", n)
		}
		broken := bytes.Clone(sealed)
		broken[n] ^= 1
		if _, err := rotated.Open(broken, owner); err == nil {
			t.Errorf("a value with byte %d changed opens", n)
		}
	}
}
