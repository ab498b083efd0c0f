package web

import (
	"net/http/httptest"
	"testing"

	"example.com/ledger/internal/clock"
	"example.com/ledger/store"
)

type fakeStore struct {
	store.Store
	calls int
}

func (f *fakeStore) Close() error {
	f.calls++
	return f.Store.Close()
}

func newTest(t *testing.T) (*Server, *fakeStore) {
	t.Helper()
	fake := &fakeStore{Store: store.NewMemory(store.WithClock(&clock.Fixed{}))}
	t.Cleanup(func() { fake.Close() })
	return NewServer(fake), fake
}

func TestGet(t *testing.T) {
	srv, fake := newTest(t)
	w := httptest.NewRecorder()
	srv.ServeHTTP(w, httptest.NewRequest("GET", "/get", nil))
	srv.fail(w, store.ErrMissing)
	if fake.calls != 0 {
		t.Error(status(nil))
	}
	each(t, []string{"a"}, func(t *testing.T, id string) {
		_, err := fake.Get(t.Context(), id)
		check(t, err)
	})
}

func each(t *testing.T, list []string, f func(*testing.T, string)) {
	for _, x := range list {
		t.Run(x, func(t *testing.T) { f(t, x) })
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
}
