package api

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// peerKey is under what the context of a request holds the address that it comes from.
type peerKey struct{}

// locate finds out where a request comes from, once, for whoever limits or notes by it.
func (s *Server) locate(c *gin.Context) {
	address := clientAddress(c.Request, s.Proxies)
	c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), peerKey{}, address))
	c.Next()
}

// addressOf is the IP address that a request comes from: the peer's, or what proxies that are
// trusted say of it.
func addressOf(r *http.Request) string {
	address, _ := r.Context().Value(peerKey{}).(string)
	return address
}

// clientAddress reads X-Forwarded-For from its end, where the nearest proxy wrote, as long as
// who wrote is trusted: what stands further to the left anybody can have sent.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	client, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	client = client.Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !isOf(client, trusted) {
			break
		}
		before, ok := parseHop(hop)
		if !ok {
			break
		}
		client = before
	}
	return client.String()
}

// parseHop reads an address of X-Forwarded-For; some proxies add a port.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap(), true
	}
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return address.Unmap(), err == nil
}

func isOf(address netip.Addr, trusted []netip.Prefix) bool {
	return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(address.WithZone("")) })
}
