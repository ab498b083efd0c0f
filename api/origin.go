package api

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	errHost   = domain.Errorf(domain.CodeForbidden, "this server does not go by that host name; list it under [server] hosts to allow it")
	errOrigin = domain.Errorf(domain.CodeForbidden, "another site's page may not do this")
)

// knownHost refuses a name that is not ours: a page of a name that an attacker points at
// this address would count as same-origin with it. An address can't be pointed elsewhere.
func (s *Server) knownHost(r *http.Request) error {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || net.ParseIP(host) != nil {
		return nil
	}
	if slices.ContainsFunc(s.Hosts, func(known string) bool { return strings.EqualFold(known, host) }) {
		return nil
	}
	return errHost
}

// ownPage refuses requests that a browser sends for a page of another origin, whatever
// credentials they carry. Following a link to a page of ours is allowed.
func (s *Server) ownPage(r *http.Request) error {
	if err := s.knownHost(r); err != nil {
		return err
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if sameOrigin(origin, r) || s.codecOrigin(origin, r) {
			return nil
		}
		return errOrigin
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none": // "": not a browser, or one too old to say
		return nil
	}
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document" {
		return nil
	}
	return errOrigin
}

func sameOrigin(origin string, r *http.Request) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// codecOrigin reports whether origin is the Temporal UI's own, calling the codec.
func (s *Server) codecOrigin(origin string, r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, CodecPath+"/") && slices.Contains(s.UIOrigins, origin)
}
