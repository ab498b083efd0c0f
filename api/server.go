package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/singleflight"
)

// Limits of a connection. A request's body has its own, see limitBody; a response's are in
// endpoint.go and sse.go.
const (
	headerLimit = 10 * time.Second
	idleLimit   = 2 * time.Minute
	headerBytes = 64 << 10
)

// Server is the API as an http.Handler.
type Server struct {
	Config
	keepAlive time.Duration
	sendLimit time.Duration
	// accessEvery is how long an open request goes on before its caller is looked at again.
	accessEvery time.Duration
	now         func() time.Time
	engine      *gin.Engine
	own         *gin.Engine // of the host names of port forwards
	token       tokenCheck
	pictures    pictureCache
	models      providerCache
	ready       readyCache
	flight      singleflight.Group
	watches     watches
	strangers   strangers
	large       chan struct{} // see fewLarge
	forwards    *forwards

	stopping context.Context // ends with Drain
	stop     context.CancelFunc
	atDrain  []func() // free what nobody waits for
}

var releaseMode = sync.OnceFunc(func() { gin.SetMode(gin.ReleaseMode) })

// New builds the API, or says what its configuration lacks.
func New(cfg Config) (*Server, error) {
	if len(cfg.OwnerToken) < 16 {
		return nil, errors.New("api: the owner token needs at least 16 bytes")
	}
	if cfg.Turns == nil || cfg.Actions == nil || cfg.Ingests == nil || cfg.Projects == nil || cfg.Conversations == nil || cfg.Workspaces == nil || cfg.Skills == nil || cfg.Artifacts == nil || cfg.Memories == nil || cfg.Secrets == nil || cfg.Agents == nil || cfg.Machines == nil || cfg.AgentHub == nil || cfg.Sessions == nil || cfg.Forwards == nil || cfg.People == nil || cfg.Auditor == nil || cfg.Sources == nil || cfg.Graph == nil || cfg.Providers == nil || cfg.Describer == nil {
		return nil, errors.New("api: a required port is missing")
	}
	releaseMode()
	s := &Server{Config: cfg, keepAlive: keepAliveEvery, sendLimit: eventLimit, accessEvery: accessEvery, now: time.Now, engine: gin.New(), token: newTokenCheck(cfg.OwnerToken), large: make(chan struct{}, largeBodies)}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.forwards = s.newForwards()
	s.engine.UseEscapedPath = true      // "%2F" in a name does not end a path segment;
	s.engine.UnescapePathValues = false // gin would turn "+" into a blank: endpoint.go unescapes
	s.engine.RedirectTrailingSlash = false
	s.engine.HandleMethodNotAllowed = true
	if err := s.engine.SetTrustedProxies(nil); err != nil {
		return nil, err
	}
	s.engine.Use(s.locate, s.identify, s.logAccess, s.recoverPanic)
	s.engine.NoRoute(func(c *gin.Context) { s.fail(c, errNoRoute) })
	s.engine.NoMethod(func(c *gin.Context) { s.fail(c, noMethod(c.Writer.Header().Get("Allow"))) })
	s.own = s.newOwnHosts()
	table := s.routes()
	if err := ruled(table); err != nil {
		return nil, err
	}
	for _, r := range table {
		for _, method := range r.taken() {
			s.engine.Handle(method, r.path, s.authorize(r.access), s.limitBody(r.body), acting(r.access.does), remarking, r.handler)
		}
	}
	return s, nil
}

// ruled finds the route of which nothing says who may call it.
func ruled(table []route) error {
	for _, r := range table {
		if r.access.who == "" {
			return fmt.Errorf("api: nothing says who may call %s %s", r.method, r.path)
		}
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.forwardOf(r.Host) != "" {
		s.own.ServeHTTP(w, r)
		return
	}
	s.engine.ServeHTTP(w, r)
}

// Drain ends open event streams and waiting queries, so that their clients connect again
// elsewhere. What they were following goes on.
func (s *Server) Drain() {
	s.stop()
	for _, do := range s.atDrain {
		do()
	}
}

// HTTP gives a server for the API with limits for slow clients. Its Shutdown drains. Until
// then open requests end when the access of who sent them does.
func (s *Server) HTTP() *http.Server {
	go s.People.FollowAccess(s.stopping, s.watches.lookAgain)
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerLimit,
		IdleTimeout:       idleLimit,
		MaxHeaderBytes:    headerBytes,
	}
	server.RegisterOnShutdown(s.Drain)
	return server
}

// untilDrain gives a context that also ends when the server stops.
func (s *Server) untilDrain(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(s.stopping, func() { cancel(errStopping) })
	return ctx, func() {
		release()
		cancel(nil)
	}
}
