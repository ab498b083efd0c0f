package config_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/harvest-engine/harvest/internal/config"
)

func environment(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

var secrets = map[string]string{
	"NEO4J_PASSWORD": "s3cret-neo", "JWT_SECRET": "s3cret-jwt-of-the-tests", "GOOGLE_CLIENT_ID": "google-id",
	"GOOGLE_CLIENT_SECRET": "s3cret-google", "OIDC_CLIENT_SECRET": "s3cret-oidc", "ANTHROPIC_API_KEY": "s3cret-llm",
	"DB_PASSWORD": "s3cret-db", "TEMPORAL_KEY": "s3cret-temporal", "GIT_TOKEN": "s3cret-git",
	"SETUP_TOKEN": "s3cret-setup-token", "CODEC_KEY": "HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
}

func load(t *testing.T, file string) *config.Config {
	t.Helper()
	cfg, err := config.Load(filepath.Join("testdata", file), environment(secrets))
	if err != nil {
		t.Fatalf("load %s: %v", file, err)
	}
	return cfg
}

// reference.toml is the Configuration Reference that existing servers use, word for word.
func TestReferenceLoads(t *testing.T) {
	t.Parallel()
	got := load(t, "reference.toml")
	want := &config.Config{
		Server: config.Server{Host: "0.0.0.0", Port: 8080},
		Data:   config.Data{Dir: ".harvest", EventsRetention: 90 * 24 * time.Hour, AuditRetention: 365 * 24 * time.Hour},
		Log:    config.Log{Level: "info", Format: "auto"},
		Temporal: config.Temporal{
			Namespace: "default",
			Queues:    config.Queues{Turns: "turns", Models: "models", Tools: "tools", Ingest: "ingest", Deploy: "deploy"},
		},
		Graph: config.Graph{Backend: "neo4j"},
		Neo4j: &config.Neo4j{URI: "bolt://localhost:7687", User: "neo4j", Password: config.NewSecret("s3cret-neo")},
		Agent: config.Agent{MaxIterations: 20, CompactionThresholdChars: 40000, CompactionKeepLast: 6},
		LLM: []config.LLM{{
			Provider: "anthropic", Model: "claude-sonnet-4-6", APIKey: config.NewSecret("s3cret-llm"), ID: "primary", TimeoutSecs: 120,
			MaxRetries: 3, ExposeToUI: true, Name: "Claude (production)", Models: []string{"claude-sonnet-4-6"},
			FailoverOn: []string{"rate_limited"},
		}},
		Ingest: config.Ingest{MaxFileBytes: 1 << 20},
		Auth: &config.Auth{
			JWTSecret: config.NewSecret("s3cret-jwt-of-the-tests"), AllowLocalLogin: true,
			Google: &config.Google{
				ClientID: "google-id", ClientSecret: config.NewSecret("s3cret-google"),
				RedirectURI: "https://harvest.example.com/auth/google/callback",
			},
			OIDC: &config.OIDC{
				IssuerURL: "https://login.example.com", ClientID: "harvest", ClientSecret: config.NewSecret("s3cret-oidc"),
				RedirectURI: "https://harvest.example.com/auth/oidc/callback", DisplayName: "Single Sign-On",
			},
		},
		Agents: &config.Agents{BinaryPath: "/usr/local/bin/harvest-agent", PublicURL: "https://harvest.example.com", ResultPatience: 10 * time.Minute, ConsoleIdle: 30 * time.Minute, ConsoleMax: 12 * time.Hour},
		LXD: &config.LXD{
			Endpoint: "https://lxd-cluster.example.com:8443", TrustToken: config.NewSecret("eyJjbGllbnRfbmFtZSI6Li4ufQ=="), CACert: "...",
			Project: "harvest", ImageAlias: "24.04", ImageServer: "https://cloud-images.ubuntu.com/releases", Profile: "default",
		},
		Documentation: &config.Documentation{DocsDir: "/var/harvest/docs"},
		UI:            &config.UI{},
	}
	var inactive []string
	for _, n := range got.Notices {
		inactive = append(inactive, n.Key)
		if n.Line == 0 || !strings.Contains(n.Text, "not yet active") {
			t.Errorf("notice without line or reason: %+v", n)
		}
	}
	if diff := cmp.Diff([]string{"documentation", "ui"}, inactive); diff != "" {
		t.Errorf("inactive sections (-want +got):\n%s", diff)
	}
	got.Notices = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reference (-want +got):\n%s", diff)
	}
}

func TestEveryKeyLoads(t *testing.T) {
	t.Parallel()
	cfg := load(t, "full.toml")
	checks := map[string]bool{
		"server": cfg.Server.Host == "127.0.0.1" && cfg.Server.Port == 9090 && cfg.Server.Hosts[0] == "harvest.example.com" &&
			slices.Equal(cfg.Server.Proxies(), []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32")}),
		"data, log": cfg.Data == config.Data{Dir: "/var/lib/harvest", EventsRetention: 30 * 24 * time.Hour, AuditRetention: 400 * 24 * time.Hour} &&
			cfg.Log == config.Log{Level: "debug", Format: "json"},
		"database":   cfg.Database.URL.Reveal() == "postgres://harvest:s3cret-db@db/harvest",
		"graph wins": cfg.Graph.Backend == "postgres" && cfg.Neo4j.Database == "code" && cfg.Neo4j.User == "reader",
		"temporal": cfg.Temporal.Address == "temporal.example.com:7233" && cfg.Temporal.Namespace == "harvest" &&
			cfg.Temporal.APIKey.Reveal() == "s3cret-temporal" && cfg.Temporal.UIURL == "https://temporal.example.com",
		"temporal.tls": cfg.Temporal.TLS == config.TLS{Enabled: true, Cert: "c.pem", Key: "k.pem", CA: "ca.pem", ServerName: "temporal"} &&
			cfg.Temporal.TLS.On(),
		"queues": cfg.Temporal.Queues == config.Queues{Turns: "t", Models: "m", Tools: "o", Ingest: "i", Deploy: "d"},
		"codec": cfg.Temporal.Codec.Active == "2026" && len(cfg.Temporal.Codec.Keys) == 2 &&
			cfg.Temporal.Codec.Keys["2026"].Reveal() == secrets["CODEC_KEY"],
		"agent": cfg.Agent == config.Agent{MaxIterations: 5, CompactionThresholdChars: 50000, CompactionKeepLast: 3,
			MaxTurnCost: 0.5, MaxDayCost: 20, MaxTurnTokens: 200000},
		"ingest":        cfg.Ingest.Roots[0] == "/srv/code" && cfg.Ingest.MaxFileBytes == 2<<20,
		"repository":    cfg.Repositories[0].Watch == 5*time.Minute && cfg.Repositories[0].AllTags && len(cfg.Repositories[0].Refs) == 2,
		"credentials":   cfg.Repositories[0].Token.Reveal() == "s3cret-git" && cfg.Repositories[1].SSHKey == "/etc/harvest/id_ed25519",
		"name from url": cfg.Repositories[1].Name == "lib",
		"prices":        cfg.LLM[0].PriceInput == 3 && *cfg.LLM[0].PriceCachedInput == 0.3 && *cfg.LLM[0].PriceCacheWrite == 3.75 && cfg.LLM[1].PriceCachedInput == nil && cfg.LLM[0].PriceOutput == 15 && cfg.LLM[0].ContextWindow == 128000 && cfg.LLM[0].MaxTokens == 8000,
		"failover_on":   len(cfg.LLM[0].FailoverOn) == 2 && cfg.LLM[0].BaseURL.Reveal() == "http://localhost:11434/v1",
		"made ids":      cfg.LLM[0].ID == "openai-compatible-0" && cfg.LLM[1].ID == "openai-compatible-0-2" && cfg.LLM[2].ID == "offline-9",
		"escape":        cfg.LLM[1].APIKey.Reveal() == "a${b}",
		"scripted":      cfg.LLM[3].Script == "testdata/script.json" && cfg.LLM[0].Timeout() == 2*time.Minute,
		"lxd identity": cfg.LXD.ClientCert == "cert" && cfg.LXD.ClientKey.Reveal() == "key" && cfg.LXD.Project == "default" &&
			cfg.LXD.ImageServer == "" && cfg.LXD.Network["ipv4.address"] == "10.8.0.1/24",
	}
	for what, ok := range checks {
		if !ok {
			t.Errorf("%s is wrong in %+v", what, cfg)
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load("", environment(map[string]string{
		"DATABASE_URL": "postgres://u:p@h/d", "TEMPORAL_ADDRESS": "h:7233", "TEMPORAL_TLS_SERVER_NAME": "t",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.LLM) != 1 || cfg.LLM[0].Provider != "offline" || cfg.LLM[0].ID != "offline-0" {
		t.Errorf("models without a file: %+v", cfg.LLM)
	}
	if cfg.Graph.Backend != "postgres" || cfg.Server.Port != 8080 || cfg.Data.EventsRetention != 90*24*time.Hour || len(cfg.Notices) != 0 {
		t.Errorf("defaults: %+v", cfg)
	}
	if cfg.Database.URL.Reveal() != "postgres://u:p@h/d" || cfg.Temporal.Address != "h:7233" || !cfg.Temporal.TLS.On() {
		t.Errorf("the environment was not read: %+v", cfg.Temporal)
	}
	if _, err := config.Load(filepath.Join(t.TempDir(), "none.toml"), environment(nil)); err == nil || !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("missing file: %v", err)
	}
}

func unwrapAll(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok || os.IsNotExist(err) {
			return err
		}
		err = inner.Unwrap()
	}
}

func TestSecretsNeverShow(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"reference.toml", "full.toml"} {
		cfg := load(t, file)
		asJSON, err := json.Marshal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		shown := map[string]string{"json": string(asJSON)}
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			shown[format] = fmt.Sprintf(format, *cfg) + fmt.Sprintf(format, cfg.LLM) + fmt.Sprintf(format, cfg.Repositories) +
				fmt.Sprintf(format, cfg.Database) + fmt.Sprintf(format, cfg.Temporal.Codec) + fmt.Sprintf(format, cfg.Neo4j) +
				fmt.Sprintf(format, cfg) + fmt.Sprintf(format, cfg.Auth)
		}
		for format, text := range shown {
			if strings.Contains(text, "s3cret") || strings.Contains(text, fmt.Sprintf("%x", "s3cret")) || strings.Contains(text, secrets["CODEC_KEY"]) {
				t.Errorf("%s printed with %s shows a secret: %s", file, format, text)
			}
		}
	}
	plain := config.Address("git@git.example.com:team/lib.git")
	if plain.String() != plain.Reveal() {
		t.Errorf("an address without a password shows as %s", plain)
	}
	for _, address := range []config.Address{
		"https://bot:s3cret@git.example.com/a", "https://s3cret@git.example.com/a", "https://bot:s3/cret@git.example.com/a",
		"http://bot:s3cret@localhost:1/v1", "ssh://bot:s3cret@git.example.com/a", "https://bot:s3 cret%@git.example.com/a",
	} {
		if text := fmt.Sprint(address); strings.Contains(text, "s3") || !address.HoldsCredentials() {
			t.Errorf("an address shows as %s", text)
		}
	}
	for _, address := range []config.Address{"git@git.example.com:a/b@c", "ssh://git@git.example.com/a", "https://git.example.com/@scope/a", "/srv/a@b"} {
		if address.HoldsCredentials() || address.String() != address.Reveal() {
			t.Errorf("%s is taken for a secret", address.Reveal())
		}
	}
}
