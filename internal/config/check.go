package config

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// check judges what no single field can, and fills defaults that depend on others.
func (d *decoder) check(c *Config) {
	d.checkServer(&c.Server)
	d.checkStores(c)
	d.checkTemporal(&c.Temporal)
	d.checkModels(c)
	d.checkRepositories(c)
	d.checkLater(c)
}

func (d *decoder) checkServer(s *Server) {
	if strings.ContainsAny(s.Host, " \t/[]") {
		d.fault("server.host", "%q is neither an address of this machine nor its name", s.Host)
	}
	for i, host := range s.Hosts {
		if host == "" || strings.ContainsAny(host, " \t/:") {
			d.fault(index("server.hosts", i), "%q is not a host name, such as harvest.example.com: leave out scheme and port", host)
		}
	}
	if s.PeerAddress != "" {
		if _, port, err := net.SplitHostPort(s.PeerAddress); err != nil || port == "" {
			d.fault("server.peer_address", "%q is not host:port; a port of 0 is any", s.PeerAddress)
		}
	}
	for i, text := range s.TrustedProxies {
		switch network, err := parseNetwork(text); {
		case err != nil:
			d.fault(index("server.trusted_proxies", i), "%q is neither an address nor a network, such as 10.0.0.0/8", text)
		case network.Bits() == 0:
			d.fault(index("server.trusted_proxies", i), "%q is everybody: anyone could say to be anyone", text)
		}
	}
}

func (d *decoder) checkStores(c *Config) {
	for key, keep := range map[string]time.Duration{"data.events_retention": c.Data.EventsRetention, "data.audit_retention": c.Data.AuditRetention} {
		if keep > 0 && keep < 24*time.Hour {
			d.fault(key, "%s is shorter than a day; 0s keeps all", keep)
		}
	}
	if u := c.Database.URL.Reveal(); strings.Contains(u, "://") &&
		!strings.HasPrefix(u, "postgres://") && !strings.HasPrefix(u, "postgresql://") {
		d.fault("database.url", "must begin with postgres:// or postgresql://")
	}
	if c.Neo4j != nil {
		d.scheme("neo4j.uri", c.Neo4j.URI, "bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
		if strings.Contains(c.Neo4j.URI, "@") {
			d.fault("neo4j.uri", "is shown; write what stands before the @ as user and password")
		}
	}
	switch {
	case c.Graph.Backend == "" && c.Neo4j != nil:
		c.Graph.Backend = "neo4j"
	case c.Graph.Backend == "":
		c.Graph.Backend = "postgres"
	case c.Graph.Backend == "neo4j" && c.Neo4j == nil:
		d.fault("graph.backend", "neo4j needs a [neo4j] section")
	}
}

func (d *decoder) checkTemporal(t *Temporal) {
	if t.Address != "" {
		if _, port, err := net.SplitHostPort(t.Address); err != nil || port == "" {
			d.fault("temporal.address", "%q is not host:port", t.Address)
		}
	}
	d.scheme("temporal.ui_url", t.UIURL, "http", "https")
	if (t.TLS.Cert == "") != (t.TLS.Key == "") {
		d.fault("temporal.tls", "cert and key belong together")
	}
	ids := make([]string, 0, len(t.Codec.Keys))
	for id, key := range t.Codec.Keys {
		ids = append(ids, id)
		if raw, err := base64.StdEncoding.DecodeString(key.Reveal()); err != nil || len(raw) != 32 {
			d.fault(join("temporal.codec.keys", id), "must be 32 bytes in base64")
		}
	}
	switch {
	case t.Codec.Active == "" && len(ids) == 1:
		t.Codec.Active = ids[0]
	case t.Codec.Active == "" && len(ids) > 1:
		d.fault("temporal.codec", "active must name the key that encrypts")
	case t.Codec.Active != "" && !slices.Contains(ids, t.Codec.Active):
		d.fault("temporal.codec.active", "there is no key %q under keys", t.Codec.Active)
	}
}

func (d *decoder) checkModels(c *Config) {
	if len(c.LLM) == 0 && len(d.problems) == 0 {
		c.LLM = []LLM{{Provider: "offline", TimeoutSecs: 120, MaxRetries: 3, ExposeToUI: true}}
	}
	taken := map[string]int{}
	for i, l := range c.LLM {
		if first, dup := taken[l.ID]; dup && l.ID != "" {
			d.fault(join(index("llm", i), "id"), "%q is also the id of llm[%d]", l.ID, first)
		}
		taken[l.ID] = i
	}
	for i := range c.LLM {
		l := &c.LLM[i]
		d.checkModel(index("llm", i), l)
		if l.ID == "" {
			l.ID = d.madeID(c, i, taken)
			taken[l.ID] = i
		}
		if l.Name == "" {
			l.Name = l.ID
		}
		if l.FailoverOn == nil {
			l.FailoverOn = []string{"rate_limited"}
		}
	}
}

// madeID gives a block without an id "<kind>-<priority>", with a number where that is taken.
func (d *decoder) madeID(c *Config, i int, taken map[string]int) string {
	base := fmt.Sprintf("%s-%d", c.LLM[i].Provider, c.LLM[i].Priority)
	id := base
	for n := 2; ; n++ {
		if _, dup := taken[id]; !dup {
			break
		}
		id = fmt.Sprintf("%s-%d", base, n)
	}
	if id != base {
		key := index("llm", i)
		d.notice(c, key, "another block has the id %q; this one is %q until it is given an id", base, id)
	}
	return id
}

func (d *decoder) checkModel(key string, l *LLM) {
	d.scheme(join(key, "base_url"), l.BaseURL.Reveal(), "http", "https")
	need := func(missing bool, field string) {
		if missing && !d.faulty(join(key, field)) {
			d.fault(join(key, field), "missing; %s needs it", l.Provider)
		}
	}
	switch l.Provider {
	case "anthropic", "gemini":
		need(l.APIKey.Empty(), "api_key")
		need(l.Model == "", "model")
	case "openai-compatible":
		need(l.Model == "", "model")
	case "scripted":
		need(l.Script == "", "script")
	}
}

func (d *decoder) checkRepositories(c *Config) {
	names := map[string]int{}
	for i := range c.Repositories {
		r := &c.Repositories[i]
		key := index("repositories", i)
		d.checkRefs(key, r)
		if !d.checkCredentials(key, r) || !d.checkAddress(join(key, "url"), r.URL.Reveal()) {
			continue
		}
		if r.Name == "" {
			r.Name = nameOf(r.URL.Reveal())
		}
		if strings.ContainsAny(r.Name, ":[] \t\r\n") {
			d.fault(join(key, "name"), `%q may not hold blanks, ":" or brackets`, r.Name)
		}
		if first, dup := names[r.Name]; dup && r.Name != "" {
			d.fault(join(key, "name"), "%q is also the name of repositories[%d]", r.Name, first)
		}
		names[r.Name] = i
	}
}

// checkRefs judges what is to be read of a repository, and when.
func (d *decoder) checkRefs(key string, r *Repository) {
	for n, ref := range r.Refs {
		if domain.CheckRef("", ref) != nil {
			d.fault(index(join(key, "refs"), n), "%q is not a branch, a tag or a commit", ref)
		}
	}
	if r.Watch > 0 && r.Watch.Seconds() < 10 {
		d.fault(join(key, "watch"), "%s is shorter than 10s", r.Watch)
	}
}

// checkCredentials reports whether the address may be shown.
func (d *decoder) checkCredentials(key string, r *Repository) bool {
	if r.URL.HoldsCredentials() {
		d.fault(join(key, "url"), `holds credentials, and addresses are shown; write them beside it: token = "${NAME}", or ssh_key = "FILE"`)
		return false
	}
	https := strings.HasPrefix(r.URL.Reveal(), "https://")
	if !r.Token.Empty() && !https {
		d.fault(join(key, "token"), "is for https addresses only")
	}
	if r.SSHKey != "" && https {
		d.fault(join(key, "ssh_key"), "is for ssh addresses only; give this one a token")
	}
	return true
}

// checkAddress reports whether a repository's address is of a kind that is read: an https, ssh
// or git address, as git writes them, or a path.
func (d *decoder) checkAddress(key, address string) bool {
	kind, _, named := strings.Cut(address, "://")
	if helper, _, found := strings.Cut(address, "::"); found {
		kind, named = helper, true
	}
	if named && !slices.Contains([]string{"https", "ssh", "git", "file"}, kind) {
		d.fault(key, "addresses of kind %q are not read; use https, ssh, git or a local path", kind)
		return false
	}
	return true
}

// nameOf gives the last element of an address or path, without ".git".
func nameOf(address string) string {
	address = strings.TrimRight(address, "/")
	if at := strings.LastIndexAny(address, "/:"); at >= 0 {
		address = address[at+1:]
	}
	return strings.TrimSuffix(path.Base(address), ".git")
}

func (d *decoder) checkLater(c *Config) {
	if c.Auth != nil {
		if g := c.Auth.Google; g != nil {
			d.scheme("auth.google.redirect_uri", g.RedirectURI, "http", "https")
		}
		if o := c.Auth.OIDC; o != nil {
			d.scheme("auth.oidc.issuer_url", o.IssuerURL, "http", "https")
			d.scheme("auth.oidc.redirect_uri", o.RedirectURI, "http", "https")
		}
		d.longEnough("auth.jwt_secret", c.Auth.JWTSecret)
		d.longEnough("auth.setup_token", c.Auth.SetupToken)
	}
	if c.Agents != nil {
		d.checkAgents(c.Agents)
	}
	if c.LXD != nil {
		d.scheme("lxd.endpoint", c.LXD.Endpoint, "https")
		if (c.LXD.ClientCert == "") != c.LXD.ClientKey.Empty() {
			d.fault("lxd", "client_cert and client_key belong together")
		}
		d.scheme("lxd.image_server", c.LXD.ImageServer, "https", "http")
		for _, key := range []struct{ name, value string }{
			{"project", c.LXD.Project}, {"image_alias", c.LXD.ImageAlias}, {"profile", c.LXD.Profile},
		} {
			if key.value == "" {
				d.fault("lxd."+key.name, "is empty; leave it out for the default")
			}
		}
		if c.Agents == nil || c.Agents.PublicURL == "" {
			d.notice(c, "lxd", "containers are not made before public_url under [agents] says where they find this server")
		}
	}
	if c.Documentation != nil {
		d.later(c, "documentation")
	}
	if c.UI != nil {
		d.later(c, "ui")
	}
}

func (d *decoder) checkAgents(a *Agents) {
	d.scheme("agents.public_url", a.PublicURL, "http", "https")
	if strings.ContainsAny(a.PublicURL, "?#\"\\ \t\r\n") {
		d.fault("agents.public_url", "must end with its host or path; what stands behind a ? or # is left out")
	}
	if strings.ContainsAny(a.ForwardHost, "/*?#@ \t[]") || strings.HasPrefix(a.ForwardHost, ".") {
		d.fault("agents.forward_host", "%q is no host name, such as forwards.example.net: leave out the scheme and the *", a.ForwardHost)
	}
	if _, err := path.Match(a.BinaryPath, ""); err != nil {
		d.fault("agents.binary_path", "%q is no pattern: a [ is not closed", a.BinaryPath)
	}
	for key, limit := range map[string]time.Duration{"agents.console_idle": a.ConsoleIdle, "agents.console_max": a.ConsoleMax} {
		if limit < time.Minute {
			d.fault(key, "%s is shorter than a minute", limit)
		}
	}
	if a.ResultPatience < 30*time.Second {
		d.fault("agents.result_patience", "%s is shorter than 30s: a connection that breaks needs as long to come back", a.ResultPatience)
	}
}

// minSecret is the shortest secret that is not to be guessed, in bytes.
const minSecret = 16

func (d *decoder) longEnough(key string, s Secret) {
	if !s.Empty() && len(s.Reveal()) < minSecret {
		d.fault(key, "has fewer than %d characters, which can be guessed; make one with: openssl rand -hex 32", minSecret)
	}
}

func (d *decoder) later(c *Config, key string) {
	d.notice(c, key, "is checked, but not yet active")
}

func (d *decoder) notice(c *Config, key, format string, args ...any) {
	c.Notices = append(c.Notices, Notice{File: d.file, Line: d.line(key), Key: key, Text: fmt.Sprintf(format, args...)})
}

// scheme notes an address that is set and not a URL of one of the schemes.
func (d *decoder) scheme(key, address string, schemes ...string) {
	if address == "" {
		return
	}
	if u, err := url.Parse(address); err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) {
		d.fault(key, "must be a URL that begins with %s://", strings.Join(schemes, ":// or "))
	}
}
