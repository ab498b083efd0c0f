package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/api"
)

// Whatever a target answers, its cookies stay with its route and are none of ours, its pages are
// of an origin of their own, and its own addresses stand under the route.
func FuzzForwardedAnswer(f *testing.F) {
	const prefix, ours = "/agents/a1/web", "harvest.example:8000"
	f.Add("sid=1; Path=/; HttpOnly", "/login?next=%2F", "default-src 'self'")
	f.Add("Session=1; Domain=harvest.example", "http://127.0.0.1:3000/x", "")
	f.Add("__Host-a=1; Path=/; Secure", "//evil.example/", "sandbox allow-same-origin")
	f.Add("token=x; Path=/agents/a1/web/../../../", "http://harvest.example:8000/agents/a1/webx", "")
	f.Add("a=b; Path=\\..\\", "/agents/a1/web/../../me", "")
	f.Fuzz(func(t *testing.T, cookie, location, policy string) {
		header := http.Header{"Set-Cookie": {cookie}, "Location": {location}, "Access-Control-Allow-Origin": {"*"}, "Clear-Site-Data": {"*"}}
		if policy != "" {
			header.Set("Content-Security-Policy", policy)
		}
		if err := api.ForwardAnswer(prefix, 3000, ours, header); err != nil {
			return // no answer at all
		}
		for _, line := range header["Set-Cookie"] {
			name, _, _ := strings.Cut(line, "=")
			mine := slices.ContainsFunc(api.OurCookies, func(ours string) bool { return strings.EqualFold(ours, name) })
			if mine || !strings.Contains(line, "; Path="+prefix+"/") || strings.Contains(strings.ToLower(line), "; domain=") {
				t.Errorf("%q became %q", cookie, line)
			}
		}
		if policies := header["Content-Security-Policy"]; !strings.HasPrefix(policies[len(policies)-1], "sandbox ") || strings.Contains(policies[len(policies)-1], "same-origin") {
			t.Errorf("the policies are %q", policies)
		}
		if header.Get("Access-Control-Allow-Origin") != "" || header.Get("Clear-Site-Data") != "" {
			t.Errorf("the header is %v", header)
		}
		if to := header.Get("Location"); strings.HasPrefix(to, "/") && to != location && !strings.HasPrefix(to, prefix+"/") && to != prefix {
			t.Errorf("%q became %q", location, to)
		}
	})
}
