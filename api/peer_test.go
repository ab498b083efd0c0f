package api_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/api"
)

// The address of a client is the peer's; of what stands in a header only the part counts that
// trusted proxies wrote.
func TestAddressesBehindProxies(t *testing.T) {
	t.Parallel()
	const peer = "127.0.0.1" // of all calls of a test
	behind := func(networks ...string) func(*api.Config) {
		return func(c *api.Config) {
			for _, n := range networks {
				c.Proxies = append(c.Proxies, netip.MustParsePrefix(n))
			}
		}
	}
	direct, near, far := start(t), start(t, behind("127.0.0.0/8")), start(t, behind("127.0.0.1/32", "10.0.0.0/8", "fd00::/8"))
	for name, c := range map[string]struct {
		at        *fixture
		forwarded string // "" for none
		want      string
	}{
		"nobody trusted, spoofed":            {direct, "203.0.113.9", peer},
		"nobody trusted":                     {direct, "", peer},
		"a proxy that says nothing":          {near, "", peer},
		"a proxy":                            {near, "203.0.113.9", "203.0.113.9"},
		"a proxy, spoofed before it":         {near, "198.51.100.1, 203.0.113.9", "203.0.113.9"},
		"a proxy, with a port":               {near, "203.0.113.9:4711", "203.0.113.9"},
		"a proxy, IPv6":                      {near, "2001:db8::7", "2001:db8::7"},
		"a proxy, IPv6 with a port":          {near, "[2001:db8::7]:4711", "2001:db8::7"},
		"a proxy, IPv4 as IPv6":              {near, "::ffff:203.0.113.9", "203.0.113.9"},
		"a proxy, garbage":                   {near, "203.0.113.9, unknown", peer},
		"a proxy, empty":                     {near, " , ", peer},
		"two proxies":                        {far, "203.0.113.9, 10.1.2.3", "203.0.113.9"},
		"two proxies, spoofed before them":   {far, "10.9.9.9, 203.0.113.9, 10.1.2.3", "203.0.113.9"},
		"two proxies, one of them not known": {far, "203.0.113.9, 192.0.2.1", "192.0.2.1"},
		"proxies all the way":                {far, "fd00::1, 10.1.2.3", "fd00::1"},
	} {
		headers := []string{"Authorization: Bearer hvk_wrong_" + strings.ReplaceAll(name, " ", "_")}
		if c.forwarded != "" {
			headers = append(headers, "X-Forwarded-For: "+c.forwarded)
		}
		path := fmt.Sprintf("/turns/%x", name)
		if resp, text := c.at.call(t, http.MethodGet, path, "", headers...); resp.StatusCode != http.StatusUnauthorized {
			t.Fatalf("%s: %d %s", name, resp.StatusCode, text)
		}
		_, line, logged := strings.Cut(c.at.log.String(), fmt.Sprintf(`"path":%q`, path))
		line, _, _ = strings.Cut(line, "\n")
		if !logged || !strings.Contains(line, fmt.Sprintf(`"client":%q`, c.want)) {
			t.Errorf("%s: logged %v as %s, want %s", name, logged, line, c.want)
		}
	}
}

// Many headers are one list, as HTTP has it.
func TestAddressesInSeveralHeaders(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *api.Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	req, err := http.NewRequest(http.MethodGet, f.url+"/projects", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header["X-Forwarded-For"] = []string{"198.51.100.1", "203.0.113.9"}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if e := f.people.noted(); e.Address != "203.0.113.9" || e.Status != http.StatusUnauthorized {
		t.Errorf("noted: %+v", e)
	}
}
