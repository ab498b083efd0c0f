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
	probe   access = "probe"   // anyone; who has credentials is told more
	person  access = "person"  // anyone who is signed in; what they see is theirs
	member  access = "member"  // who may see the project :pid
	admin   access = "admin"   // admins
	browser access = "browser" // admins, also by the cookie of a sign-in link on a page of ours
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

// routes is every route of the API.
func (s *Server) routes() []route {
	table := []route{
		{http.MethodGet, "/health", public, noBody, endpoint(s, http.StatusOK, s.health)},
		{http.MethodGet, "/ready", probe, noBody, endpoint(s, http.StatusOK, s.readiness)},
		{http.MethodGet, "/openapi.yaml", public, noBody, s.describeAPI},
		{http.MethodGet, "/auth/config", public, noBody, endpoint(s, http.StatusOK, s.authConfig)},
		{http.MethodGet, "/auth/owner", public, noBody, s.signIn},

		{http.MethodPost, "/query", person, queryBody, endpoint(s, http.StatusOK, s.query)},
		{http.MethodPost, "/query/stream", person, queryBody, stream(s, s.queryStream)},
		{http.MethodGet, "/turns/:id", person, noBody, endpoint(s, http.StatusOK, s.turn)},
		{http.MethodGet, "/turns/:id/events", person, noBody, stream(s, s.turnEvents)},
		{http.MethodPost, "/turns/:id/cancel", person, defaultBody, endpoint(s, http.StatusAccepted, s.cancelTurn)},
		{http.MethodPost, "/tool-description", person, defaultBody, endpoint(s, http.StatusOK, s.describeTool)},
		{http.MethodGet, "/llm/providers", person, noBody, endpoint(s, http.StatusOK, s.providers)},

		{http.MethodGet, "/groups", person, noBody, endpoint(s, http.StatusOK, s.groups)},
		{http.MethodGet, "/projects", person, noBody, endpoint(s, http.StatusOK, s.projects)},
		{http.MethodPost, "/projects", person, defaultBody, endpoint(s, http.StatusCreated, s.createProject)},
		{http.MethodGet, "/projects/:pid", member, noBody, endpoint(s, http.StatusOK, s.project)},
		{http.MethodPut, "/projects/:pid", member, defaultBody, endpoint(s, http.StatusOK, s.updateProject)},

		{http.MethodGet, "/repositories", person, noBody, endpoint(s, http.StatusOK, s.repositories)},
		{http.MethodPost, "/repositories", admin, defaultBody, endpoint(s, http.StatusAccepted, s.addRepository)},
		{http.MethodDelete, "/repositories/:name", admin, noBody, endpoint(s, http.StatusOK, s.deleteRepository)},
		{http.MethodPost, "/repositories/:name/ingest", admin, defaultBody, endpoint(s, http.StatusAccepted, s.ingestRepository)},
		{http.MethodGet, "/ingests/:id", admin, noBody, endpoint(s, http.StatusOK, s.ingest)},
		{http.MethodGet, "/ingests/:id/events", admin, noBody, stream(s, s.ingestEvents)},
		{http.MethodGet, "/graph/:repo/:version", person, noBody, endpoint(s, http.StatusOK, s.graph)},
		{http.MethodGet, "/graph/:repo/:version/source", person, noBody, endpoint(s, http.StatusOK, s.symbolSource)},
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
