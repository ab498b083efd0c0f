package config

import "time"

// Auth configures how people sign in.
type Auth struct {
	JWTSecret       Secret  `toml:"jwt_secret"`  // signs sessions; without one the data folder's own
	SetupToken      Secret  `toml:"setup_token"` // that the first person who signs up must give
	AllowLocalLogin bool    `toml:"allow_local_login" default:"true"`
	Google          *Google `toml:"google"`
	OIDC            *OIDC   `toml:"oidc"`
}

// Google configures sign-in with Google.
type Google struct {
	ClientID     string `toml:"client_id" required:"true"`
	ClientSecret Secret `toml:"client_secret" required:"true"`
	RedirectURI  string `toml:"redirect_uri" required:"true"`
}

// OIDC configures sign-in with an OpenID Connect provider.
type OIDC struct {
	IssuerURL    string `toml:"issuer_url" required:"true"`
	ClientID     string `toml:"client_id" required:"true"`
	ClientSecret Secret `toml:"client_secret" required:"true"`
	RedirectURI  string `toml:"redirect_uri" required:"true"`
	DisplayName  string `toml:"display_name" default:"Single Sign-On"`
}

// Agents configures the installation of agents on remote machines, and how long they are
// waited for.
type Agents struct {
	// BinaryPath is harvest-agent, or a folder or pattern with one for each architecture.
	BinaryPath string `toml:"binary_path"`
	// PublicURL is where machines find this server.
	PublicURL string `toml:"public_url"`
	// ForwardHost gives each port forward a host name of its own, ID.ForwardHost: a wildcard
	// name that leads to this server, with a port where it is not the scheme's own.
	ForwardHost string `toml:"forward_host"`
	// ResultPatience is how long behind its time limit the result of a command is waited for
	// whose agent can't be reached: then its outcome is unknown.
	ResultPatience time.Duration `toml:"result_patience" default:"10m"`
	// ConsoleIdle ends a console in which nothing is typed or shown for so long; ConsoleMax any.
	ConsoleIdle time.Duration `toml:"console_idle" default:"30m"`
	ConsoleMax  time.Duration `toml:"console_max" default:"12h"`
}

// What holds without an [agents] section.
const (
	DefaultResultPatience = 10 * time.Minute
	DefaultConsoleIdle    = 30 * time.Minute
	DefaultConsoleMax     = 12 * time.Hour
)

// LXD configures machines on an LXD cluster.
type LXD struct {
	Endpoint    string `toml:"endpoint" required:"true"`
	TrustToken  Secret `toml:"trust_token"` // one-time
	ClientCert  string `toml:"client_cert"` // PEM; with ClientKey an identity managed by hand
	ClientKey   Secret `toml:"client_key"`  // PEM
	CACert      string `toml:"ca_cert"`     // PEM
	Insecure    bool   `toml:"insecure"`
	Project     string `toml:"project" default:"default"`
	ImageAlias  string `toml:"image_alias" default:"24.04"`
	ImageServer string `toml:"image_server" default:"https://cloud-images.ubuntu.com/releases"`
	Profile     string `toml:"profile" default:"default"`
	// Network are options of the bridges that are made for projects, by LXD's names; none: LXD
	// chooses the addresses, and translates them.
	Network map[string]string `toml:"network"`
}

// Documentation says where generated documentation lies.
type Documentation struct {
	DocsDir string `toml:"docs_dir"`
}

// UI configures the web pages.
type UI struct {
	EnableDocs bool `toml:"enable_docs"`
}
