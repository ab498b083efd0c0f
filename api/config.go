package api

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/rs/zerolog"
)

// Check is a dependency that GET /ready asks about.
type Check struct {
	Name string
	Test func(ctx context.Context) error
	// Beside tells that the server is ready without it.
	Beside bool
}

// AuthInfo is what GET /auth/config tells a sign-in page.
type AuthInfo struct {
	LocalLogin      bool   `json:"local_login"`
	Google          bool   `json:"google"`
	OIDC            bool   `json:"oidc"`
	OIDCDisplayName string `json:"oidc_display_name"`
	// Unavailable are the providers that are set up, but have not answered yet.
	Unavailable []string     `json:"unavailable,omitempty"`
	Features    AuthFeatures `json:"features"`
}

// AuthFeatures are the parts of the UI that this server can serve.
type AuthFeatures struct {
	Docs bool `json:"docs"`
	LXD  bool `json:"lxd"`
}

// Config is all that the API needs. Every port but SignIn, TemporalUI and Codec is required.
type Config struct {
	People        People
	Auditor       Auditor
	SignIn        SignIn // nil: nobody signs in, tokens and keys alone open the API
	Turns         Turns
	Actions       Actions
	Ingests       Ingests
	Projects      Projects
	Conversations Conversations
	Workspaces    Workspaces
	Skills        Skills
	Artifacts     Artifacts
	Memories      Memories
	Secrets       Secrets
	Agents        Agents
	Commands      Commands
	AgentHub      AgentHub
	Sessions      Sessions
	Forwards      Forwards
	Machines      Machines
	Sources       Sources
	Graph         Graph
	Providers     Providers
	Describer     Describer
	Checks        []Check
	Auth          AuthInfo
	Log           zerolog.Logger
	// OwnerToken is the secret that every route but the public ones asks for; at least 16 bytes.
	OwnerToken string
	// Hosts are the DNS names under which browsers reach the server. IP addresses and
	// localhost always count; anything else in a Host header without the owner's bearer
	// token is refused, against DNS rebinding.
	Hosts []string
	// PublicURL is where people reach this server, for the addresses that it gives; "": paths
	// are given.
	PublicURL string
	// ForwardHost is the name, and port where it is none of the scheme's own, under which each
	// port forward has a host name of its own: ID.ForwardHost. "": none, but ID.localhost for
	// browsers on this machine.
	ForwardHost string
	// Proxies are the addresses of proxies before the server whose X-Forwarded-For is believed.
	Proxies []netip.Prefix
	// TemporalUI is the address behind /temporal/, with the path it serves its pages under
	// ("http://127.0.0.1:8233/temporal"); nil leaves the route out.
	TemporalUI *url.URL
	// UIOrigins are the other origins of that UI ("http://127.0.0.1:8233") from which its
	// pages may call the codec endpoint.
	UIOrigins []string
	// Codec answers POST …/decode with decoded payloads; nil leaves the route out. The SDK's
	// converter.NewPayloadCodecHTTPHandler makes one.
	Codec http.Handler
}
