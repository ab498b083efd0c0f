package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/obs"
)

const (
	auditLimit   = 5 * time.Second // to store an entry
	auditPage    = 100             // entries, where the caller does not say
	maxAuditPage = 1000
	// Of calls by nobody we know one is noted per address, route and this time: anybody can make
	// them, as many as they like. The access log has them all.
	strangerEvery = time.Minute
	maxStrangers  = 4096
)

// noteDenied notes a call that the policy of its route refuses.
func (s *Server) noteDenied(c *gin.Context, who caller) {
	switch c.Writer.Status() {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests:
	default:
		return // a fault, not a refusal
	}
	if who.Nobody() {
		_, given := bearerToken(c.Request)
		call := fmt.Sprint(addressOf(c.Request), c.Request.Method, c.FullPath(), given || hasSession(c.Request))
		if !s.strangers.first(call, s.now()) {
			return
		}
	}
	s.note(c, who, domain.OutcomeDenied)
}

// noteRefused notes a call to a route for everyone whose handler refuses it: a sign-in that
// fails, above all.
func (s *Server) noteRefused(c *gin.Context, who caller) {
	switch c.Writer.Status() {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		s.noteDenied(c, who)
	}
}

// notes reports whether a call that the policy admits is noted: one that removes something, or
// changes something that only admins may, or a secret.
func (a access) notes(method string) bool {
	switch {
	case method == http.MethodDelete, a.noted:
		return true
	case safe(method):
		return false
	}
	return a.who == stewards || a.who == admins && a != browser
}

// noteDone notes a call that its policy has noted, or that its handler refuses.
func (s *Server) noteDone(c *gin.Context, policy access, who caller) {
	status := c.Writer.Status()
	switch {
	case status == http.StatusForbidden, c.GetBool(hiddenKey):
		s.note(c, who, domain.OutcomeDenied)
	case !policy.notes(c.Request.Method):
	case status < 300:
		s.note(c, who, domain.OutcomeDone)
	default:
		s.note(c, who, domain.OutcomeFailed)
	}
}

// hiddenKey marks a request for what exists, but not for who asks: the answer is that there is none.
const hiddenKey = "hidden"

// note stores an entry, also where the client has left.
func (s *Server) note(c *gin.Context, who caller, outcome domain.Outcome) {
	detail := ""
	if said, ok := c.Value(remarkName).(*string); ok {
		detail = *said
	}
	s.noteDetail(c, who, outcome, detail)
}

// maxRemark bounds what an entry tells beside the call, in bytes.
const maxRemark = 300

// remarkName has the remark of a request, which its handler knows by its context.
const remarkName = "remark"

type remarkKey struct{}

// remarking prepares a request for remarks.
func remarking(c *gin.Context) {
	said := new(string)
	c.Set(remarkName, said)
	c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), remarkKey{}, said))
	c.Next()
}

// remark has the entry of a call, where it is noted, tell more than what was called.
func remark(ctx context.Context, text string) {
	if said, ok := ctx.Value(remarkKey{}).(*string); ok {
		if text = strings.Join(strings.Fields(text), " "); len(text) > maxRemark {
			text = strings.ToValidUTF8(text[:maxRemark], "") + "…"
		}
		*said = text
	}
}

// noteDetail stores an entry that tells more than what was called.
func (s *Server) noteDetail(c *gin.Context, who caller, outcome domain.Outcome, detail string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), auditLimit)
	defer cancel()
	err := s.Auditor.Audit(ctx, domain.AuditEntry{
		UserID: who.UserID, UserName: who.Name, KeyID: who.KeyID, Method: c.Request.Method, Route: c.FullPath(),
		Path: c.Request.URL.EscapedPath(), ProjectID: concerned(c), Outcome: outcome, Status: c.Writer.Status(),
		Address: addressOf(c.Request), RequestID: obs.From(ctx).RequestID, Detail: detail,
	})
	if err != nil {
		s.Log.Error().Ctx(ctx).Err(err).Str("user", who.UserID).Str("outcome", string(outcome)).Msg("audit_entry_lost")
	}
}

// strangers are the calls without credentials that were noted last.
type strangers struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// first reports whether such a call was not seen in the time before.
func (s *strangers) first(call string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, seen := s.seen[call]; seen && now.Sub(at) < strangerEvery {
		return false
	}
	if s.seen == nil {
		s.seen = map[string]time.Time{}
	}
	if len(s.seen) >= maxStrangers {
		for other, at := range s.seen {
			if now.Sub(at) >= strangerEvery {
				delete(s.seen, other)
			}
		}
	}
	if len(s.seen) >= maxStrangers {
		return false
	}
	s.seen[call] = now
	return true
}

// auditPageOf is the answer of GET /admin/audit.
type auditPageOf struct {
	Entries []domain.AuditEntry `json:"entries"`
	Next    string              `json:"next"` // ?before= of the next page; "" for none
}

// audit answers GET /admin/audit.
func (s *Server) audit(ctx context.Context, r request[none]) (auditPageOf, error) {
	filter, err := auditFilter(r.query)
	if err != nil {
		return auditPageOf{}, err
	}
	limit := filter.Limit
	filter.Limit++ // one more tells whether there is a next page
	entries, err := listing(s.Auditor.AuditEntries(ctx, filter))
	page := auditPageOf{Entries: entries}
	if len(entries) > limit {
		page.Entries = entries[:limit]
		page.Next = page.Entries[limit-1].ID
	}
	return page, err
}

func auditFilter(q url.Values) (f domain.AuditFilter, err error) {
	f = domain.AuditFilter{
		UserID: q.Get("user"), Method: q.Get("method"), Route: q.Get("route"), ProjectID: q.Get("project"),
		Outcome: domain.Outcome(q.Get("outcome")), Before: q.Get("before"), Limit: auditPage,
	}
	switch f.Outcome {
	case "", domain.OutcomeDenied, domain.OutcomeDone, domain.OutcomeFailed:
	default:
		return f, domain.Invalid("outcome", "must be %s, %s or %s", domain.OutcomeDenied, domain.OutcomeDone, domain.OutcomeFailed)
	}
	for name, at := range map[string]*time.Time{"since": &f.Since, "until": &f.Until} {
		if text := q.Get(name); text != "" {
			if *at, err = time.Parse(time.RFC3339, text); err != nil {
				return f, domain.Invalid(name, "must be a time such as 2026-11-30T12:00:00Z")
			}
		}
	}
	if text := q.Get("limit"); text != "" {
		if f.Limit, err = strconv.Atoi(text); err != nil || f.Limit < 1 || f.Limit > maxAuditPage {
			return f, domain.Invalid("limit", "must be 1 to %d", maxAuditPage)
		}
	}
	return f, nil
}

// concerned gives the project that a request is about, as far as its path or its policy tells.
func concerned(c *gin.Context) string {
	if pid := c.Param("pid"); pid != "" {
		return pid
	}
	if agent := agentOf(c); agent.ProjectID != "" {
		return agent.ProjectID
	}
	return projectOf(c).ID
}
