package web_test

import (
	"net/http/httptest"
	"testing"

	"example.com/ledger/store"
	"example.com/ledger/web"
)

func TestOutside(t *testing.T) {
	srv := web.NewServer(store.NewCached(store.NewMemory()))
	srv.Mount()
	srv.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	_ = web.Parse(nil)
}
