package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/api"
)

func TestBrowsersAreToldHowToSignIn(t *testing.T) {
	t.Parallel()
	f := start(t, withTemporal(t, http.NotFoundHandler()))
	const page = "Accept: text/html,application/xhtml+xml;q=0.9"
	resp, text := f.call(t, "GET", "/temporal/", "", "Authorization: ", page)
	if resp.StatusCode != 401 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") || !strings.Contains(text, "harvest ui") {
		t.Errorf("a page: %d %v %s", resp.StatusCode, resp.Header, text)
	}
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the page's policy is %q", policy)
	}
	for name, header := range map[string][]string{
		"data":                {"Authorization: ", "Accept: application/json"},
		"another site's page": {"Authorization: ", page, "Origin: https://evil.example.com"},
	} {
		if resp, text := f.call(t, "GET", "/temporal/", "", header...); !strings.HasPrefix(text, `{"error"`) || resp.StatusCode < 401 {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
}

func TestForwardToUI(t *testing.T) {
	t.Parallel()
	forward := api.ForwardToUI(8080)
	for _, c := range []struct{ host, path, want string }{
		{"127.0.0.1:8233", "/", "http://127.0.0.1:8080/temporal/"},
		{"localhost:8233", "/temporal", "http://localhost:8080/temporal/"},
		{"localhost:8233", "/temporal/namespaces/default?x=1", "http://localhost:8080/temporal/namespaces/default?x=1"},
		{"[::1]:8233", "/temporaly", "http://[::1]:8080/temporal/temporaly"},
		{"127.0.0.1:8233", "/namespaces/default/workflows/turn%2F1/x/history", "http://127.0.0.1:8080/temporal/namespaces/default/workflows/turn%2F1/x/history"},
		{"evil.example.com", "//evil.example.com/", "http://127.0.0.1:8080/temporal//evil.example.com/"},
		{"127.0.0.1.evil.example.com:8233", "/", "http://127.0.0.1:8080/temporal/"},
		{"192.0.2.1", "/", "http://127.0.0.1:8080/temporal/"},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://placeholder"+c.path, nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		forward.ServeHTTP(w, r)
		if got := w.Header().Get("Location"); got != c.want || w.Code != http.StatusTemporaryRedirect {
			t.Errorf("%s%s goes to %d %q, want %q", c.host, c.path, w.Code, got, c.want)
		}
	}
	w := httptest.NewRecorder()
	forward.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8233/temporal/api", nil))
	if w.Code != http.StatusMethodNotAllowed || !strings.Contains(w.Body.String(), "8080") {
		t.Errorf("a write: %d %s", w.Code, w.Body)
	}
}
