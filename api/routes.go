package api

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
)

// access says who may call a route, and what an API key must be good for to call it.
type access struct {
	who   audience
	scope domain.KeyScope // "": read to GET, write to do all else
	does  string          // the tool whose calls do the same; see acts
	noted bool            // what is done is noted in the audit, as what only admins may do is
}

// audience says who may call a route.
type audience string

const (
	everyone  audience = "everyone"
	anyPerson audience = "person"
	members   audience = "member"
	admins    audience = "admin"
	stewards  audience = "admin of a project"
	sharers   audience = "artifact"
	followers audience = "turn"
	visitors  audience = "agent"
	machines  audience = "machine"
	joiners   audience = "joining machine"
)

// The policies of routes.
var (
	public  = access{who: everyone}                           // anyone; nobody's credentials are looked at
	probe   = access{who: everyone, scope: domain.ScopeRead}  // anyone; who has credentials is told more
	person  = access{who: anyPerson}                          // anyone who is signed in; what they see is theirs
	member  = access{who: members}                            // who may see the project :pid
	steward = access{who: stewards, scope: domain.ScopeAdmin} // admins; whoever else may see the project :pid is told that there is such a thing
	shared  = access{who: sharers}                            // who may see the project of the artifact :id
	asked   = access{who: followers}                          // whose the turn :id is, or who may see its project
	visitor = access{who: visitors}                           // who may see the project of the agent :agent_id
	admin   = access{who: admins, scope: domain.ScopeAdmin}   // admins
	browser = access{who: admins, scope: browserScope}        // admins, also by the cookie of a sign-in link on a page of ours
	machine = access{who: machines}                           // agents, by their permanent token; never a person
	joining = access{who: joiners}                            // agents, also by a token to install them with
)

// browserScope is what no API key has: keys open no pages.
const browserScope domain.KeyScope = "browser"

// by is the policy for keys of another scope.
func (a access) by(scope domain.KeyScope) access {
	a.scope = scope
	return a
}

// page reports whether routes of the policy show people pages.
func (a access) page() bool { return a == browser || a == visitor }

// acts says that the route does what calls of a tool do that ask for approval. Each time that
// it succeeds this is noted: a client that ran an action by it, and reports so, is believed.
func (a access) acts(tool string) access {
	a.does = tool
	return a
}

// audited is the policy for a route whose calls are all noted.
func (a access) audited() access {
	a.noted = true
	return a
}

// subject gives the id that a path names and that the policy is about; "" for none.
func (a access) subject(c *gin.Context) string {
	if a.who == sharers || a.who == followers {
		return c.Param("id")
	}
	if a.who == visitors {
		return c.Param("agent_id")
	}
	return c.Param("pid")
}

// scopeFor gives what a key must be good for.
func (a access) scopeFor(method string) domain.KeyScope {
	switch {
	case a.scope != "":
		return a.scope
	case safe(method):
		return domain.ScopeRead
	}
	return domain.ScopeWrite
}

// safe reports whether a method changes nothing.
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// Limits of a request's body, in bytes.
const (
	anyBody     int64 = -1 // whatever comes is passed on
	noBody      int64 = 0
	defaultBody int64 = 10 << 20
	queryBody   int64 = 64 << 20 // with attachments in base64; decoded they may have attachmentBytes
)

type route struct {
	method  string // anyMethod or everyMethod: all that proxied pages use
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

		{http.MethodPost, "/query", person.by(domain.ScopeAsk), queryBody, endpoint(s, http.StatusOK, s.query)},
		{http.MethodPost, "/query/stream", person.by(domain.ScopeAsk), queryBody, stream(s, s.queryStream)},
		{http.MethodGet, "/turns/:id", asked, noBody, endpoint(s, http.StatusOK, s.turn)},
		{http.MethodGet, "/turns/:id/events", asked, noBody, stream(s, s.turnEvents)},
		{http.MethodPost, "/turns/:id/cancel", asked.by(domain.ScopeAsk), defaultBody, endpoint(s, http.StatusAccepted, s.cancelTurn)},
		{http.MethodGet, "/actions", person, noBody, endpoint(s, http.StatusOK, s.actions)},
		{http.MethodGet, "/actions/:id", person, noBody, endpoint(s, http.StatusOK, s.action)},
		{http.MethodPost, "/actions/:id/decide", person.by(domain.ScopeApprove), defaultBody, endpoint(s, http.StatusOK, s.decideAction)},
		{http.MethodPost, "/tool-description", person.by(domain.ScopeAsk), defaultBody, endpoint(s, http.StatusOK, s.describeTool)},
		{http.MethodGet, "/llm/providers", person, noBody, endpoint(s, http.StatusOK, s.providers)},

		{http.MethodGet, "/groups", person, noBody, endpoint(s, http.StatusOK, s.groups)},
		{http.MethodGet, "/projects", person, noBody, endpoint(s, http.StatusOK, s.projects)},
		{http.MethodPost, "/projects", person, defaultBody, endpoint(s, http.StatusCreated, s.createProject)},
		{http.MethodGet, "/projects/:pid", member, noBody, endpoint(s, http.StatusOK, s.project)},
		{http.MethodPut, "/projects/:pid", member, defaultBody, endpoint(s, http.StatusOK, s.updateProject)},
		{http.MethodPut, "/projects/:pid/group", steward, defaultBody, endpoint(s, http.StatusOK, s.moveProject)},
		{http.MethodDelete, "/projects/:pid", member, noBody, endpoint(s, http.StatusOK, s.deleteProject)},
		{http.MethodGet, "/projects/:pid/usage", member, noBody, endpoint(s, http.StatusOK, s.projectUsage)},
		{http.MethodGet, "/projects/:pid/events", member, noBody, s.projectEvents},
		{http.MethodPost, "/projects/:pid/query", member.by(domain.ScopeAsk), queryBody, endpoint(s, http.StatusOK, s.query)},
		{http.MethodPost, "/projects/:pid/query/stream", member.by(domain.ScopeAsk), queryBody, endpoint(s, http.StatusOK, s.projectQueryStream)},
		{http.MethodGet, "/projects/:pid/settings", member, noBody, endpoint(s, http.StatusOK, s.settings)},
		{http.MethodPut, "/projects/:pid/settings", steward, defaultBody, endpoint(s, http.StatusOK, s.updateSettings)},
		{http.MethodGet, "/projects/:pid/actions", member, noBody, endpoint(s, http.StatusOK, s.projectActions)},
		{http.MethodGet, "/projects/:pid/actions/:id", member, noBody, endpoint(s, http.StatusOK, s.projectAction)},

		{http.MethodGet, "/repositories", person, noBody, endpoint(s, http.StatusOK, s.repositories)},
		{http.MethodPost, "/repositories", admin, defaultBody, endpoint(s, http.StatusAccepted, s.addRepository)},
		{http.MethodDelete, "/repositories/:name", admin, noBody, endpoint(s, http.StatusOK, s.deleteRepository)},
		{http.MethodPost, "/repositories/:name/ingest", admin, defaultBody, endpoint(s, http.StatusAccepted, s.ingestRepository)},
		{http.MethodGet, "/ingests/:id", admin, noBody, endpoint(s, http.StatusOK, s.ingest)},
		{http.MethodGet, "/ingests/:id/events", admin, noBody, stream(s, s.ingestEvents)},
		{http.MethodGet, "/graph/:repo/:version", person, noBody, endpoint(s, http.StatusOK, s.graph)},
		{http.MethodGet, "/graph/:repo/:version/source", person, noBody, endpoint(s, http.StatusOK, s.symbolSource)},
	}
	table = append(table, s.peopleRoutes()...)
	table = append(table, s.libraryRoutes()...)
	table = append(table, s.secretRoutes()...)
	table = append(table, s.agentRoutes()...)
	table = append(table, s.sessionRoutes()...)
	table = append(table, s.containerRoutes()...)
	table = append(table, s.commandRoutes()...)
	table = append(table, s.conversationRoutes("/conversations", person)...)
	table = append(table, s.conversationRoutes("/projects/:pid/conversations", member)...)
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

// peopleRoutes are those of signing in and of the people who do.
func (s *Server) peopleRoutes() []route {
	return []route{
		{http.MethodPost, "/auth/register", public, defaultBody, endpoint(s, http.StatusOK, s.register)},
		{http.MethodPost, "/auth/login", public, defaultBody, endpoint(s, http.StatusOK, s.login)},
		{http.MethodPost, "/auth/sign-in", public, defaultBody, s.signInByForm},
		{http.MethodPost, "/auth/logout", public, noBody, endpoint(s, http.StatusOK, s.logout)},
		{http.MethodGet, "/auth/google", public, noBody, s.beginSignIn("google")},
		{http.MethodGet, "/auth/google/callback", public, noBody, s.finishSignIn("google")},
		{http.MethodGet, "/auth/oidc", public, noBody, s.beginSignIn("oidc")},
		{http.MethodGet, "/auth/oidc/callback", public, noBody, s.finishSignIn("oidc")},
		{http.MethodPost, devicePath, public, defaultBody, endpoint(s, http.StatusCreated, s.beginDevice)},
		{http.MethodPost, devicePath + "/token", public, defaultBody, endpoint(s, http.StatusOK, s.redeemDevice)},
		{http.MethodGet, devicePath, probe, noBody, s.showDevice},
		{http.MethodPost, devicePath + "/decide", person.by(domain.ScopeAccount), defaultBody, s.decideDevice},
		{http.MethodGet, "/auth/me", person, noBody, endpoint(s, http.StatusOK, s.me)},
		{http.MethodPatch, "/auth/me", person.by(domain.ScopeAccount), defaultBody, endpoint(s, http.StatusOK, s.changeMe)},
		{http.MethodPut, "/auth/password", person.by(domain.ScopeAccount), defaultBody, endpoint(s, http.StatusOK, s.changePassword)},
		{http.MethodGet, "/auth/keys", person.by(domain.ScopeAccount), noBody, endpoint(s, http.StatusOK, s.keys)},
		{http.MethodPost, "/auth/keys", person.by(domain.ScopeAccount), defaultBody, endpoint(s, http.StatusCreated, s.createKey)},
		{http.MethodDelete, "/auth/keys/:id", person.by(domain.ScopeAccount), noBody, endpoint(s, http.StatusOK, s.deleteKey)},

		{http.MethodGet, "/admin/users", admin, noBody, endpoint(s, http.StatusOK, s.users)},
		{http.MethodPut, "/admin/users/:id/role", admin, defaultBody, endpoint(s, http.StatusOK, s.setRole)},
		{http.MethodPut, "/admin/users/:id/disabled", admin, defaultBody, endpoint(s, http.StatusOK, s.setDisabled)},
		{http.MethodPut, "/admin/users/:id/password", admin, defaultBody, endpoint(s, http.StatusOK, s.resetPassword)},
		{http.MethodPut, "/admin/users/:id/groups", admin, defaultBody, endpoint(s, http.StatusOK, s.setGroups)},
		{http.MethodGet, "/admin/groups", admin, noBody, endpoint(s, http.StatusOK, s.allGroups)},
		{http.MethodPost, "/admin/groups", admin, defaultBody, endpoint(s, http.StatusCreated, s.createGroup)},
		{http.MethodDelete, "/admin/groups/:id", admin, noBody, endpoint(s, http.StatusOK, s.deleteGroup)},
		{http.MethodPut, "/admin/groups/:id/default", admin, defaultBody, endpoint(s, http.StatusOK, s.setDefaultGroup)},
		{http.MethodGet, "/admin/audit", admin, noBody, endpoint(s, http.StatusOK, s.audit)},
	}
}

// conversationRoutes are those of a person's own conversations, and of a project's.
func (s *Server) conversationRoutes(under string, policy access) []route {
	return []route{
		{http.MethodGet, under, policy, noBody, endpoint(s, http.StatusOK, s.conversations)},
		{http.MethodPost, under, policy, defaultBody, endpoint(s, http.StatusCreated, s.createConversation)},
		{http.MethodGet, under + "/search", policy, noBody, endpoint(s, http.StatusOK, s.searchConversations)},
		{http.MethodGet, under + "/:cid", policy, noBody, endpoint(s, http.StatusOK, s.conversation)},
		{http.MethodPut, under + "/:cid", policy, queryBody, endpoint(s, http.StatusOK, s.changeConversation)},
		{http.MethodDelete, under + "/:cid", policy, noBody, endpoint(s, http.StatusOK, s.deleteConversation)},
		{http.MethodGet, under + "/:cid/export", policy, noBody, endpoint(s, http.StatusOK, s.exportConversation)},
		{http.MethodPost, under + "/:cid/branch", policy, defaultBody, endpoint(s, http.StatusCreated, s.branchConversation)},
		{http.MethodPost, under + "/:cid/retry", policy.by(domain.ScopeAsk), defaultBody, endpoint(s, http.StatusAccepted, s.retryConversation)},
		{http.MethodPost, under + "/:cid/confirm-action/resume", policy.by(domain.ScopeApprove), defaultBody, endpoint(s, http.StatusOK, s.resume)},
		{http.MethodGet, under + "/:cid/messages/:mid/attachments/:n", policy, noBody, endpoint(s, http.StatusOK, s.attachment)},
	}
}

// CodecPath is where payloads are decoded for the Temporal UI. Given to the UI as it stands, a
// path without a host, it is of the page's own origin, whatever name the page was opened by.
const CodecPath = "/temporal-codec"

const (
	anyMethod   = "ANY"
	everyMethod = "EVERY" // and OPTIONS
)

// fileMethods are those of file servers (WebDAV, Subversion, calendars), of caches and QUERY, which what is
// forwarded may be asked by too. TRACE and CONNECT are for nobody: they say something of the
// servers on the way.
var fileMethods = []string{
	"PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "SEARCH", "REPORT", "ACL", "MKCALENDAR",
	"CHECKOUT", "CHECKIN", "MKACTIVITY", "MERGE", "PURGE", "QUERY",
}

// taken are the methods that a route takes: those that are described, and where all are passed
// on also those of which OpenAPI knows nothing.
func (r route) taken() []string {
	if r.method == everyMethod {
		return append(r.methods(), fileMethods...)
	}
	return r.methods()
}

func (r route) methods() []string {
	if r.method == everyMethod {
		return append(route{method: anyMethod}.methods(), http.MethodOptions)
	}
	if r.method == anyMethod {
		return []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	}
	return []string{r.method}
}
