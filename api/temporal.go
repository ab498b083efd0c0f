package api

import (
	"context"
	"errors"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
)

// proxyLimit bounds how long a page of the Temporal UI may take, from question to answer.
const proxyLimit = 2 * time.Minute

// temporalUI passes requests on to the Temporal UI without our credentials.
func (s *Server) temporalUI() gin.HandlerFunc {
	target := s.TemporalUI
	transport := http.DefaultTransport.(*http.Transport).Clone()
	s.atDrain = append(s.atDrain, transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Path = strings.TrimPrefix(p.In.URL.Path, "/temporal")
			p.Out.URL.RawPath = strings.TrimPrefix(p.In.URL.EscapedPath(), "/temporal")
			p.SetURL(target)
			p.Out.Header.Del("Authorization")
			p.Out.Header.Del("Origin") // judged here already; the UI knows itself by another one
			p.Out.Header.Del("Referer")
			dropCookies(p.Out, ownerCookie, tokenCookie, sessionCookie, stateCookie)
		},
		ModifyResponse: func(r *http.Response) error {
			for name := range r.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					r.Header.Del(name)
				}
			}
			r.Header.Set("Content-Security-Policy", "frame-ancestors 'self'")
			r.Header.Set("X-Content-Type-Options", "nosniff")
			return nil
		},
	}
	return func(c *gin.Context) {
		ctx, cancel := context.WithTimeout(c.Request.Context(), proxyLimit)
		defer cancel()
		_ = http.NewResponseController(c.Writer).SetWriteDeadline(s.now().Add(proxyLimit))
		each := *proxy
		each.ErrorHandler = func(_ http.ResponseWriter, _ *http.Request, err error) {
			var tooLarge *http.MaxBytesError
			if errors.As(err, &tooLarge) {
				s.fail(c, tooLargeBody(tooLarge.Limit))
				return
			}
			s.fail(c, domain.Wrap(domain.CodeUpstream, err, "the Temporal UI does not answer"))
		}
		c.Writer.Header().Del("X-Content-Type-Options") // comes with the answer
		each.ServeHTTP(c.Writer, c.Request.WithContext(ctx))
	}
}

// dropCookies takes cookies out of a request. The others stay as they are written, which is
// often enough in a way that Go would not.
func dropCookies(r *http.Request, names ...string) {
	var kept []string
	for _, line := range r.Header.Values("Cookie") {
		for cookie := range strings.SplitSeq(line, ";") {
			cookie = strings.TrimSpace(cookie)
			name, _, _ := strings.Cut(cookie, "=")
			if cookie != "" && !slices.Contains(names, strings.TrimSpace(name)) {
				kept = append(kept, cookie)
			}
		}
	}
	r.Header.Del("Cookie")
	if len(kept) > 0 {
		r.Header.Set("Cookie", strings.Join(kept, "; "))
	}
}

// decodePayloads shows the Temporal UI what payloads hold.
func (s *Server) decodePayloads(c *gin.Context) {
	s.allowUIOrigin(c)
	c.Header("Cache-Control", "no-store")
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(s.now().Add(writeLimit))
	s.Codec.ServeHTTP(c.Writer, c.Request)
}

// preflight answers a browser that asks whether a page may call the codec.
func (s *Server) preflight(c *gin.Context) {
	if err := s.ownPage(c.Request); err != nil {
		s.fail(c, err)
		return
	}
	s.allowUIOrigin(c)
	c.Header("Access-Control-Allow-Methods", http.MethodPost)
	c.Header("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Namespace, X-CSRF-Token, Caller-Type")
	c.Header("Access-Control-Max-Age", "600")
	writeRaw(c, raw{}, http.StatusNoContent)
}

func (s *Server) allowUIOrigin(c *gin.Context) {
	c.Writer.Header().Add("Vary", "Origin")
	if origin := c.GetHeader("Origin"); origin != "" && s.codecOrigin(origin, c.Request) {
		c.Header("Access-Control-Allow-Origin", origin)
		c.Header("Access-Control-Allow-Credentials", "true")
	}
}
