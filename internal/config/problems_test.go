package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/harvest-engine/harvest/internal/config"
)

var problemCases = []struct {
	name, doc string
	want      []string // one a line of the error
}{
	{"all at once", "[server]\nprot = 1\nhost = 5\n\n[agent]\nmax_iterations = 0\n[neo4j]\nuri = \"http://x\"\npassword = \"${GONE}\"\n", []string{
		`f.toml:2: server.prot: unknown key; did you mean "port"?`,
		`f.toml:3: server.host: must be a string, not a whole number`,
		`f.toml:6: agent.max_iterations: 0 is less than 1`,
		`f.toml:8: neo4j.uri: must be a URL that begins with bolt:// or bolt+s:// or bolt+ssc:// or neo4j:// or neo4j+s:// or neo4j+ssc://`,
		`f.toml:9: neo4j.password: environment variable GONE is not set`,
	}},
	{"said once", "[agent]\nmax_iterations = 1.5\n[[llm]]\nprovider = \"anthropic\"\nmodel = \"m\"\napi_key = \"${GONE}\"\n[[repositories]]\nurl = \"ftp://x/y\"\n[[repositories]]\nurl = \"ext::sh -c id\"\n[[repositories]]\nurl = \"/srv/a b\"\n[[repositories]]\nurl = \"/srv/c\"\nrefs = [\"main\",\n \"a..b\"]\n", []string{
		`f.toml:2: agent.max_iterations: must be a whole number, not a fraction`,
		`f.toml:6: llm[0].api_key: environment variable GONE is not set`,
		`f.toml:8: repositories[0].url: addresses of kind "ftp" are not read; use https, ssh, git or a local path`,
		`f.toml:10: repositories[1].url: addresses of kind "ext" are not read; use https, ssh, git or a local path`,
		`f.toml:11: repositories[2].name: "a b" may not hold blanks, ":" or brackets`,
		`f.toml:16: repositories[3].refs[1]: "a..b" is not a branch, a tag or a commit`,
	}},
	{"unknown section", "[sever]\nport = 1\n", []string{`f.toml:1: sever: unknown key; did you mean "server"?`}},
	{"nothing near", "[server]\nzzzzzzzz = 1\n", []string{`f.toml:2: server.zzzzzzzz: unknown key; known here: host, port, hosts, peer_address, trusted_proxies`}},
	{"array of tables", "[[llm]]\nprovider = \"offline\"\n[[llm]]\nprovider = \"gpt\"\nmodle = \"m\"\n", []string{
		`f.toml:4: llm[1].provider: "gpt" is none of anthropic, gemini, openai-compatible, offline, scripted`,
		`f.toml:5: llm[1].modle: unknown key; did you mean "model"?`,
	}},
	{"inline and dotted", "llm = [\n {provider = \"offline\"},\n {provider = 1, x.y = 2},\n]\nserver.port = \"a\"\n", []string{
		`f.toml:3: llm[1].provider: must be a string, not a whole number`,
		`f.toml:3: llm[1].x: unknown key; known here: provider, model, api_key, base_url, id, priority, timeout_secs, max_retries, expose_to_ui, name, models, failover_on, price_input, price_cached_input, price_cache_write, price_output, context_window, max_tokens, images, script`,
		`f.toml:5: server.port: must be a whole number, not a string`,
	}},
	{"required", "[auth]\nallow_local_login = \"yes\"\n[auth.google]\nclient_id = \"\"\n[[llm]]\nprovider = \"anthropic\"\n[[llm]]\nprovider = \"scripted\"\n", []string{
		`f.toml:2: auth.allow_local_login: must be true or false, not a string`,
		`f.toml:3: auth.google.client_secret: missing; it is required here`,
		`f.toml:3: auth.google.redirect_uri: missing; it is required here`,
		`f.toml:4: auth.google.client_id: is empty; it is required here`,
		`f.toml:5: llm[0].api_key: missing; anthropic needs it`,
		`f.toml:5: llm[0].model: missing; anthropic needs it`,
		`f.toml:7: llm[1].script: missing; scripted needs it`,
	}},
	{"lists and tables", "llm = 1\nrepositories = [1]\nneo4j = []\n[ingest]\nroots = [\"a\",\n 2]\n[temporal.codec]\nkeys = 3\n", []string{
		`f.toml:1: llm: must be a list, not a whole number`,
		`f.toml:2: repositories[0]: must be a table, not a whole number`,
		`f.toml:3: neo4j: must be a table, not a list`,
		`f.toml:6: ingest.roots[1]: must be a string, not a whole number`,
		`f.toml:8: temporal.codec.keys: must be a table, not a whole number`,
	}},
	{"variables", "[data]\ndir = \"${A} ${1x} ${B\"\n", []string{
		`f.toml:2: data.dir: environment variable A is not set`,
		`f.toml:2: data.dir: "1x" is not the name of an environment variable`,
		`f.toml:2: data.dir: ${ without a closing }; write $${ for the characters themselves`,
	}},
	{"graph and temporal", "[graph]\nbackend = \"neo4j\"\n[temporal]\naddress = \"x\"\ntls.cert = \"c\"\n[temporal.codec]\nactive = \"b\"\nkeys = {a = \"short\"}\n", []string{
		`f.toml:2: graph.backend: neo4j needs a [neo4j] section`,
		`f.toml:4: temporal.address: "x" is not host:port`,
		`f.toml:5: temporal.tls: cert and key belong together`,
		`f.toml:7: temporal.codec.active: there is no key "b" under keys`,
		`f.toml:8: temporal.codec.keys.a: must be 32 bytes in base64`,
	}},
	{"values", "[database]\nurl = \"mysql://x\"\n[[repositories]]\nurl = \"/a/b\"\nwatch = \"soon\"\n[[repositories]]\nurl = \"/c/b\"\nwatch = \"1s\"\n[[llm]]\nprovider = \"offline\"\nprice_input = nan\npriority = 1979-05-27\nid = \"a\"\n[[llm]]\nprovider = \"offline\"\nid = \"a\"\n[lxd]\nendpoint = \"http://x\"\nclient_cert = \"c\"\n", []string{
		`f.toml:2: database.url: must begin with postgres:// or postgresql://`,
		`f.toml:5: repositories[0].watch: "soon" is not a duration such as "90s", "5m", "1h" or "30d"`,
		`f.toml:6: repositories[1].name: "b" is also the name of repositories[0]`,
		`f.toml:8: repositories[1].watch: 1s is shorter than 10s`,
		`f.toml:11: llm[0].price_input: must be a finite number`,
		`f.toml:12: llm[0].priority: must be a whole number, not a date or time`,
		`f.toml:16: llm[1].id: "a" is also the id of llm[0]`,
		`f.toml:17: lxd: client_cert and client_key belong together`,
		`f.toml:18: lxd.endpoint: must be a URL that begins with https://`,
	}},
	{"retention", "[data]\nevents_retention = \"90m\"\naudit_retention = \"1h\"\n[[repositories]]\nurl = \"/a/b\"\nwatch = \"1.5d\"\n[[repositories]]\nurl = \"/a/c\"\nwatch = \"9999999d\"\n", []string{
		`f.toml:2: data.events_retention: 1h30m0s is shorter than a day; 0s keeps all`,
		`f.toml:3: data.audit_retention: 1h0m0s is shorter than a day; 0s keeps all`,
		`f.toml:6: repositories[0].watch: "1.5d" is not a duration such as "90s", "5m", "1h" or "30d"`,
		`f.toml:9: repositories[1].watch: "9999999d" is not a duration such as "90s", "5m", "1h" or "30d"`,
	}},
	{"credentials of the graph", "[neo4j]\nuri = \"bolt://neo4j:s3cret@localhost\"\npassword = \"x\"\n", []string{
		`f.toml:2: neo4j.uri: is shown; write what stands before the @ as user and password`,
	}},
	{"credentials", "[[repositories]]\nurl = \"https://bot:s3cret@git.example.com/a\"\n[[repositories]]\nurl = \"https://git.example.com/b\"\nssh_key = \"k\"\n[[repositories]]\nurl = \"/c\"\ntoken = \"s3cret\"\n", []string{
		`f.toml:2: repositories[0].url: holds credentials, and addresses are shown; write them beside it: token = "${NAME}", or ssh_key = "FILE"`,
		`f.toml:5: repositories[1].ssh_key: is for ssh addresses only; give this one a token`,
		`f.toml:8: repositories[2].token: is for https addresses only`,
	}},
	{"a bad address hides nothing", "[server]\nhost = \"[::1]\"\nhosts = [\"a.example\",\n \"https://a.example\", \"\"]\n[[repositories]]\nurl = \"ftp://x/y\"\nwatch = \"1s\"\nrefs = [\"-x\"]\n", []string{
		`f.toml:2: server.host: "[::1]" is neither an address of this machine nor its name`,
		`f.toml:4: server.hosts[1]: "https://a.example" is not a host name, such as harvest.example.com: leave out scheme and port`,
		`f.toml:4: server.hosts[2]: "" is not a host name, such as harvest.example.com: leave out scheme and port`,
		`f.toml:6: repositories[0].url: addresses of kind "ftp" are not read; use https, ssh, git or a local path`,
		`f.toml:7: repositories[0].watch: 1s is shorter than 10s`,
		`f.toml:8: repositories[0].refs[0]: "-x" is not a branch, a tag or a commit`,
	}},
	{"proxies", "[server]\ntrusted_proxies = [\"10.0.0.1\", \"fd00::/8\",\n \"proxy.example.com\",\n \"0.0.0.0/0\"]\n", []string{
		`f.toml:3: server.trusted_proxies[2]: "proxy.example.com" is neither an address nor a network, such as 10.0.0.0/8`,
		`f.toml:4: server.trusted_proxies[3]: "0.0.0.0/0" is everybody: anyone could say to be anyone`,
	}},
	{"syntax", "[server]\nport = \n", []string{`f.toml:2: `}},
	{"twice", "[server]\nport = 1\nport = 2\n", []string{`f.toml:3: `}},
	{"depth", "a = " + strings.Repeat("[", 20000), []string{`f.toml:1: is nested too deeply`}},
	{"size", strings.Repeat("#", 2<<20), []string{`f.toml: is larger than 1048576 bytes`}},
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for _, c := range problemCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("f.toml", []byte(c.doc), environment(nil))
			var problems config.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("got %v, want problems", err)
			}
			got := strings.Split(err.Error(), "\n")
			for i := range min(len(got), len(c.want)) {
				if strings.HasSuffix(c.want[i], ": ") { // the parser's own words
					got[i] = got[i][:min(len(got[i]), len(c.want[i]))]
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEnvironmentCannotChangeStructure(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("f.toml", []byte("[data]\ndir = \"x-${V}\"\n"), environment(map[string]string{"V": "\"\n[server]\nport=1 ${V}"}))
	if err != nil || cfg.Data.Dir != "x-\"\n[server]\nport=1 ${V}" || cfg.Server.Port != 8080 {
		t.Errorf("got %+v, %v", cfg, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("[server]\nport = 1\n[[llm]]\nprovider = \"offline\"\n"))
	f.Add([]byte("a.b.c = [{d = 1}, [2, [\"${X} $${Y}\"]]]\n[[a.\"b c\"]]\n"))
	f.Add([]byte("llm = [{provider='''x'''}]\n[temporal]\ncodec.keys.x = \"\"\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		cfg, err := config.Parse("f", doc, environment(map[string]string{"X": "1"}))
		if (cfg == nil) == (err == nil) {
			t.Fatalf("configuration %v with error %v", cfg, err)
		}
		var problems config.Problems
		if err != nil && (!errors.As(err, &problems) || len(problems) == 0) {
			t.Fatalf("error %v names no problem", err)
		}
	})
}
