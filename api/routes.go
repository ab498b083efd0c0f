package api

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// access says who may call a route.
type access string

// The policies of routes.
const (
	public  access = "public"  // anyone
	probe   access = "probe"   // anyone; the owner is told more
	owner   access = "owner"   // the owner's bearer token
	browser access = "browser" // the owner's bearer token, or the cookie of a sign-in link on a page of ours
)

// Limits of a request's body, in bytes.
const (
	noBody      int64 = 0
	defaultBody int64 = 10 << 20
	queryBody   int64 = 64 << 20 // with attachments in base64; decoded they may have attachmentBytes
)

type route struct {
	method  string // anyMethod: all that the proxied pages use
	path    string
	access  access
	body    int64
	handler gin.HandlerFunc
}

// routes is every route of the API. The conversations of the contract come between the turns
// and the repositories.
func (s *Server) routes() []route {
	table := []route{
		{http.MethodGet, "/health", public, noBody, endpoint(s, http.StatusOK, s.health)},
		{http.MethodGet, "/ready", probe, noBody, endpoint(s, http.StatusOK, s.readiness)},
		{http.MethodGet, "/openapi.yaml", public, noBody, s.describeAPI},
		{http.MethodGet, "/auth/config", public, noBody, endpoint(s, http.StatusOK, s.authConfig)},
		{http.MethodGet, "/auth/owner", public, noBody, s.signIn},

		{http.MethodPost, "/query", owner, queryBody, endpoint(s, http.StatusOK, s.query)},
		{http.MethodPost, "/query/stream", owner, queryBody, stream(s, s.queryStream)},
		{http.MethodGet, "/turns/:id", owner, noBody, endpoint(s, http.StatusOK, s.turn)},
		{http.MethodGet, "/turns/:id/events", owner, noBody, stream(s, s.turnEvents)},
		{http.MethodPost, "/turns/:id/cancel", owner, defaultBody, endpoint(s, http.StatusAccepted, s.cancelTurn)},
		{http.MethodPost, "/tool-description", owner, defaultBody, endpoint(s, http.StatusOK, s.describeTool)},
		{http.MethodGet, "/llm/providers", owner, noBody, endpoint(s, http.StatusOK, s.providers)},

		{http.MethodGet, "/repositories", owner, noBody, endpoint(s, http.StatusOK, s.repositories)},
		{http.MethodPost, "/repositories", owner, defaultBody, endpoint(s, http.StatusAccepted, s.addRepository)},
		{http.MethodDelete, "/repositories/:name", owner, noBody, endpoint(s, http.StatusOK, s.deleteRepository)},
		{http.MethodPost, "/repositories/:name/ingest", owner, defaultBody, endpoint(s, http.StatusAccepted, s.ingestRepository)},
		{http.MethodGet, "/ingests/:id", owner, noBody, endpoint(s, http.StatusOK, s.ingest)},
		{http.MethodGet, "/ingests/:id/events", owner, noBody, stream(s, s.ingestEvents)},
		{http.MethodGet, "/graph/:repo/:version", owner, noBody, endpoint(s, http.StatusOK, s.graph)},
		{http.MethodGet, "/graph/:repo/:version/source", owner, noBody, endpoint(s, http.StatusOK, s.symbolSource)},
	}
	if s.TemporalUI != nil {
		table = append(table, route{anyMethod, "/temporal/*path", browser, defaultBody, s.temporalUI()})
	}
	if s.Codec != nil {
		table = append(table,
			route{http.MethodPost, CodecPath + "/decode", browser, queryBody, s.decodePayloads},
			route{http.MethodOptions, CodecPath + "/decode", public, noBody, s.preflight},
		)
	}
	return table
}

// CodecPath is where payloads are decoded for the Temporal UI. Given to the UI as it stands, a
// path without a host, it is of the page's own origin, whatever name the page was opened by.
const CodecPath = "/temporal-codec"

const anyMethod = "ANY"

func (r route) methods() []string {
	if r.method == anyMethod {
		return []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	}
	return []string{r.method}
}
