package config

import (
	"net/netip"
	"time"
)

// Config is the whole configuration. Sections that change nothing when absent are pointers.
type Config struct {
	Server       Server       `toml:"server"`
	Data         Data         `toml:"data"`
	Log          Log          `toml:"log"`
	Database     Database     `toml:"database"`
	Temporal     Temporal     `toml:"temporal"`
	Graph        Graph        `toml:"graph"`
	Neo4j        *Neo4j       `toml:"neo4j"`
	Agent        Agent        `toml:"agent"`
	LLM          []LLM        `toml:"llm"` // in the file's order; one offline provider where the file has none
	Ingest       Ingest       `toml:"ingest"`
	Repositories []Repository `toml:"repositories"`

	Auth          *Auth          `toml:"auth"`
	Agents        *Agents        `toml:"agents"`
	LXD           *LXD           `toml:"lxd"`
	Documentation *Documentation `toml:"documentation"`
	UI            *UI            `toml:"ui"`

	// Notices are remarks that stop nothing: sections not active yet, names made up.
	Notices []Notice `toml:"-"`
}

// Server says where the API listens.
type Server struct {
	Host  string   `toml:"host" default:"0.0.0.0"`
	Port  int      `toml:"port" default:"8080" min:"1" max:"65535"`
	Hosts []string `toml:"hosts"` // DNS names under which browsers reach the server; IP addresses and localhost always count

	// PeerAddress is where the other processes of the same database reach this one, host:port, to
	// carry consoles and tunnels. Default: any port of this machine's own address; of up: of loopback.
	PeerAddress string `toml:"peer_address"`

	// TrustedProxies are addresses, or networks such as 10.0.0.0/8, of proxies before the server
	// whose X-Forwarded-For is believed.
	TrustedProxies []string `toml:"trusted_proxies"`
}

// Proxies gives the trusted proxies as networks; what is no address is left out, and was a
// fault when the file was read.
func (s Server) Proxies() (list []netip.Prefix) {
	for _, text := range s.TrustedProxies {
		if p, err := parseNetwork(text); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// parseNetwork reads a network, or an address as the network of it alone.
func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Unmap().Prefix(address.Unmap().BitLen())
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// Data says where Harvest keeps what it starts and stores itself.
type Data struct {
	Dir             string        `toml:"dir" default:".harvest"`         // relative to the working folder
	EventsRetention time.Duration `toml:"events_retention" default:"90d"` // of events, runs, commands and idempotency keys; 0: for ever
	AuditRetention  time.Duration `toml:"audit_retention" default:"365d"` // of who was refused or changed what; 0: for ever
}

// Log sets what is logged and how.
type Log struct {
	Level  string `toml:"level" default:"info" oneof:"trace|debug|info|warn|error"`
	Format string `toml:"format" default:"auto" oneof:"auto|json|console"` // auto: console on a terminal, JSON elsewhere
}

// Database is the Postgres that holds all state; without an address `up` runs its own.
type Database struct {
	URL Secret `toml:"url" env:"DATABASE_URL"` // postgres://…, with the password
}

// Temporal is the Temporal service; without an address `up` runs its own.
type Temporal struct {
	Address   string `toml:"address" env:"TEMPORAL_ADDRESS"` // host:port
	Namespace string `toml:"namespace" default:"default" env:"TEMPORAL_NAMESPACE"`
	APIKey    Secret `toml:"api_key" env:"TEMPORAL_API_KEY"` // turns TLS on
	UIURL     string `toml:"ui_url"`                         // the UI that /temporal/ shows; http or https
	TLS       TLS    `toml:"tls"`
	Queues    Queues `toml:"queues"`
	Codec     Codec  `toml:"codec"`
}

// TLS holds files of a client's TLS identity; any of them turns TLS on.
type TLS struct {
	Enabled    bool   `toml:"enabled"`
	Cert       string `toml:"cert" env:"TEMPORAL_TLS_CLIENT_CERT_PATH"`  // PEM file
	Key        string `toml:"key" env:"TEMPORAL_TLS_CLIENT_KEY_PATH"`    // PEM file
	CA         string `toml:"ca" env:"TEMPORAL_TLS_SERVER_CA_CERT_PATH"` // PEM file
	ServerName string `toml:"server_name" env:"TEMPORAL_TLS_SERVER_NAME"`
}

// On reports whether the connection uses TLS.
func (t TLS) On() bool {
	return t.Enabled || t.Cert != "" || t.CA != "" || t.ServerName != ""
}

// Queues names the task queues of workers that run apart.
type Queues struct {
	Turns  string `toml:"turns" default:"turns"`
	Models string `toml:"models" default:"models"`
	Tools  string `toml:"tools" default:"tools"`
	Ingest string `toml:"ingest" default:"ingest"`
	Deploy string `toml:"deploy" default:"deploy"`
}

// Codec holds the keys that encrypt what Temporal stores. Without keys `up` makes its own.
type Codec struct {
	Active string            `toml:"active"` // the id of the key that encrypts; the only key where there is one
	Keys   map[string]Secret `toml:"keys"`   // id to 32 bytes in base64; old keys stay to decrypt
}

// Graph chooses the graph database.
type Graph struct {
	Backend string `toml:"backend" oneof:"postgres|neo4j"` // default: neo4j with a [neo4j] section, else postgres
}

// Neo4j is a Neo4j server.
type Neo4j struct {
	URI      string `toml:"uri" required:"true"`
	User     string `toml:"user" default:"neo4j"`
	Password Secret `toml:"password" required:"true"`
	Database string `toml:"database"` // "": the server's default
}

// Agent bounds what a turn does.
type Agent struct {
	MaxIterations            int     `toml:"max_iterations" default:"20" min:"1" max:"1000"`
	CompactionThresholdChars int     `toml:"compaction_threshold_chars" default:"40000" min:"1000"`
	CompactionKeepLast       int     `toml:"compaction_keep_last" default:"6" min:"1"`
	MaxTurnCost              float64 `toml:"max_turn_cost" min:"0"`   // in the currency of the prices; 0: no cap
	MaxDayCost               float64 `toml:"max_day_cost" min:"0"`    // per user and day (UTC); 0: no cap
	MaxTurnTokens            int     `toml:"max_turn_tokens" min:"0"` // input and output; 0: no cap
}

// LLM is a model provider.
type LLM struct {
	Provider         string   `toml:"provider" required:"true" oneof:"anthropic|gemini|openai-compatible|offline|scripted"`
	Model            string   `toml:"model"`
	APIKey           Secret   `toml:"api_key"`
	BaseURL          Address  `toml:"base_url"` // "": the provider's own
	ID               string   `toml:"id"`       // default: "<provider>-<priority>"
	Priority         int      `toml:"priority" default:"0"`
	TimeoutSecs      int      `toml:"timeout_secs" default:"120" min:"1" max:"3600"`
	MaxRetries       int      `toml:"max_retries" default:"3" min:"0" max:"20"`
	ExposeToUI       bool     `toml:"expose_to_ui" default:"true"`
	Name             string   `toml:"name"`                                                            // default: the id
	Models           []string `toml:"models"`                                                          // models to offer; empty: all that the provider names
	FailoverOn       []string `toml:"failover_on" oneof:"rate_limited|overloaded|timeout|unavailable"` // default: rate_limited
	PriceInput       float64  `toml:"price_input" min:"0"`                                             // per million tokens
	PriceCachedInput *float64 `toml:"price_cached_input" min:"0"`                                      // per million tokens of input read from a cache; nil: price_input
	PriceCacheWrite  *float64 `toml:"price_cache_write" min:"0"`                                       // per million tokens of input written to a cache; nil: price_input
	PriceOutput      float64  `toml:"price_output" min:"0"`                                            // per million tokens
	ContextWindow    int      `toml:"context_window" min:"0"`                                          // tokens; 0: the model's, where known
	MaxTokens        int      `toml:"max_tokens" min:"0"`                                              // longest answer; 0: the provider's default
	Images           *bool    `toml:"images"`                                                          // whether the models see images; nil: yes, save behind an openai-compatible address that isn't OpenAI's
	Script           string   `toml:"script"`                                                          // scripted only: the file to play
}

// Timeout is the limit for the first byte and for each idle gap of a stream.
func (l LLM) Timeout() time.Duration { return time.Duration(l.TimeoutSecs) * time.Second }

// Ingest limits what is read.
type Ingest struct {
	Roots        []string `toml:"roots"`                                       // folders under which local paths may be named
	MaxFileBytes int64    `toml:"max_file_bytes" default:"1048576" min:"1024"` // larger files are counted, not read
}

// Repository is a source of code that is read at start.
type Repository struct {
	Name     string        `toml:"name"` // default: the last element of the address
	URL      Address       `toml:"url" required:"true"`
	Refs     []string      `toml:"refs"` // empty: the default branch
	AllTags  bool          `toml:"all_tags"`
	Worktree bool          `toml:"worktree"`
	Watch    time.Duration `toml:"watch"`   // "5m"; absent: never
	SSHKey   string        `toml:"ssh_key"` // file of a private key
	Token    Secret        `toml:"token"`   // for https
}
