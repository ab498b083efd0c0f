package neo4j_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph/neo4j"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// raw runs a statement past the guard, to prepare and to look.
func raw(t *testing.T, server testkit.Neo4jServer, cypher string) []*driver.Record {
	t.Helper()
	d, err := driver.NewDriverWithContext(server.URI, driver.BasicAuth(server.User, server.Password, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(context.Background()) //nolint:errcheck // nothing is lost
	result, err := driver.ExecuteQuery(t.Context(), d, cypher, nil, driver.EagerResultTransformer)
	if err != nil {
		t.Fatalf("%s: %v", cypher, err)
	}
	return result.Records
}

func testReads(t *testing.T, store *neo4j.Store, server testkit.Neo4jServer) {
	raw(t, server, `MATCH (n {repo: 'cypher'}) DETACH DELETE n`)
	raw(t, server, `CREATE (a:Function:HarvestSymbol {repo: 'cypher', version: 'v1', file: 'a.go', name: 'alphaOfCypher', start_line: 3, uid: 7, folded: 'x'})
		-[:CALLS {line: 5, how: 'exact'}]->(:Function {repo: 'cypher', version: 'v1', file: 'b.go', name: 'betaOfCypher'})<-[:USES]-(:Class {repo: 'cypher', version: 'v1', name: 'GammaOfCypher'})`)
	for query, want := range map[string]string{
		`MATCH (f:Function {repo: 'cypher'}) RETURN f.name AS name ORDER BY name`:                                                                          `[["alphaOfCypher"],["betaOfCypher"]]`,
		`MATCH (a {repo: $repo})-[c:CALLS]->(b) RETURN b.name, c.line`:                                                                                     `[["betaOfCypher",5]]`,
		`MATCH (a:Function {name: 'alphaOfCypher'}) RETURN a`:                                                                                              `[[{"_labels":["Function"],"file":"a.go","name":"alphaOfCypher","repo":"cypher","start_line":3,"version":"v1"}]]`,
		`MATCH p = (:Function {repo: 'cypher'})-[:CALLS]->() RETURN [n IN nodes(p) | n.name]`:                                                              `[[["alphaOfCypher","betaOfCypher"]]]`,
		`MATCH (:Function {name: 'alphaOfCypher'})-[c:CALLS]->() RETURN c`:                                                                                 `[[{"_type":"CALLS","how":"exact","line":5}]]`,
		`MATCH p = shortestPath((:Function {name: 'alphaOfCypher'})-[:CALLS|USES*..4]-(:Class {name: 'GammaOfCypher'})) RETURN length(p)`:                  `[[2]]`,
		`MATCH (f:Function {repo: 'cypher'}) WHERE EXISTS { (f)-[:CALLS]->() } RETURN f.name, COUNT { (f)--() }`:                                           `[["alphaOfCypher",1]]`,
		`CALL db.index.fulltext.queryNodes("symbol_names", "alphaOfCypher") YIELD node, score WHERE score > 0 RETURN node.name`:                            `[["alphaOfCypher"]]`,
		`CALL () { MATCH (n:Function {repo: 'cypher'}) RETURN n.name AS x UNION MATCH (n:Class {repo: 'cypher'}) RETURN n.name AS x } RETURN x ORDER BY x`: `[["GammaOfCypher"],["alphaOfCypher"],["betaOfCypher"]]`,
		`MATCH (n:Function {repo: 'cypher'}) OPTIONAL MATCH (n)-[:CALLS]->(m) WITH n, collect(m.name) AS ms RETURN n.name, size(ms) ORDER BY n.name`:       `[["alphaOfCypher",1],["betaOfCypher",0]]`,
		`CALL () { MATCH (n:Class {repo: 'cypher'}) RETURN count(n) AS c } RETURN c`:                                                                       `[[1]]`,
		`UNWIND range(1, 3) AS i RETURN i SKIP 1 LIMIT 1`:                                                                                                  `[[2]]`,
		`RETURN date('2026-01-02') AS d, "apoc.load.json( /* no comment" AS s, 1.5 AS f, null AS n`:                                                        `[["2026-01-02","apoc.load.json( /* no comment",1.5,null]]`,
		`RETURN duration.between(date('2026-01-01'), date('2026-01-03')).days AS d`:                                                                        `[[2]]`,
		"/* a comment */ MATCH (n:`Class` {repo: 'cypher'}) // and one more\nRETURN n.`name`;":                                                             `[["GammaOfCypher"]]`,
	} {
		got, err := store.RunCypher(t.Context(), query, map[string]any{"repo": "cypher"})
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if text, _ := json.Marshal(got.Rows); string(text) != want || got.Truncated {
			t.Errorf("%s\ngot  %s (truncated %v)\nwant %s", query, text, got.Truncated, want)
		}
	}
	got, err := store.RunCypher(t.Context(), `MATCH (n:Function {repo: 'none'}) RETURN n.name AS name, n.file AS file`, nil)
	if err != nil || strings.Join(got.Columns, " ") != "name file" || len(got.Rows) != 0 {
		t.Errorf("no rows come as %+v, %v", got, err)
	}
}

// refusals are queries that must not run, one for each way around a read-only session.
var refusals = map[string]string{
	"load csv from a file":               `LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line`,
	"load csv from an address":           `LOAD CSV FROM '%s/csv' AS line RETURN line`,
	"load csv in a first branch":         `LOAD CSV FROM '%s/union' AS line RETURN line AS x UNION MATCH (n:Class) RETURN n.name AS x`,
	"load csv in a subquery":             `CALL () { LOAD CSV FROM '%s/sub' AS line RETURN line } RETURN line`,
	"load csv in exists":                 `MATCH (n) WHERE EXISTS { CALL () { LOAD CSV FROM '%s/exists' AS l RETURN l } RETURN 1 } RETURN n`,
	"load csv in a list":                 `RETURN [x IN [1] WHERE EXISTS { CALL () { LOAD CSV FROM '%s/list' AS l RETURN l } RETURN 1 } | x]`,
	"load csv in any":                    `MATCH (n) WHERE any(x IN [1] WHERE COUNT { CALL () { LOAD CSV FROM '%s/any' AS l RETURN l } RETURN 1 } > 0) RETURN n`,
	"load csv in a reduction":            `RETURN reduce(s = 0, x IN [1] | s + COUNT { CALL () { LOAD CSV FROM '%s/reduce' AS l RETURN l } RETURN 1 })`,
	"load csv in a pattern's list":       `MATCH (n:Kept) RETURN [(n)--(m) WHERE EXISTS { CALL () { LOAD CSV FROM '%s/pattern' AS l RETURN l } RETURN 1 } | m]`,
	"load csv in a case":                 `RETURN [x IN [1] | CASE WHEN EXISTS { CALL () { LOAD /* x */ CSV FROM '%s/case' AS l RETURN l } RETURN 1 } THEN 1 END]`,
	"a procedure in a list":              `RETURN [x IN [1] WHERE EXISTS { CALL dbms.listConfig() YIELD name RETURN name } | x]`,
	"a procedure in a list, no brackets": `RETURN [x IN [1] WHERE EXISTS { CALL dbms.components YIELD name RETURN name } | x]`,
	"a procedure without brackets":       `CALL dbms.components`,
	"load csv under a join":              `CALL () { LOAD CSV FROM '%s/join' AS line RETURN line } MATCH (a:Function), (b:Class) RETURN line, a, b`,
	"end a connection":                   `CALL dbms.killConnection('bolt-1')`,
	"end connections":                    `CALL dbms.killConnections(['bolt-1'])`,
	"list settings":                      `CALL dbms.listConfig() YIELD name, value RETURN name, value`,
	"list settings in quoted names":      "CALL `dbms`.`listConfig`() YIELD name RETURN name",
	"list settings behind a comment":     "CALL dbms./* db.labels() */listConfig() YIELD name RETURN name",
	"list connections":                   `CALL dbms.listConnections() YIELD connectionId RETURN connectionId`,
	"list procedures":                    `SHOW PROCEDURES`,
	"set metadata":                       `CALL tx.setMetaData({a: 1})`,
	"show transactions":                  `SHOW TRANSACTIONS`,
	"show transactions, yielding":        `SHOW TRANSACTIONS YIELD currentQuery RETURN currentQuery`,
	"terminate transactions":             `TERMINATE TRANSACTIONS 'neo4j-transaction-1'`,
	"show users":                         `SHOW USERS`,
	"show current user":                  `SHOW CURRENT USER`,
	"show settings":                      `SHOW SETTINGS`,
	"show databases":                     `SHOW DATABASES`,
	"change a password":                  `ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'b'`,
	"create":                             `CREATE (n:Refused)`,
	"create and return":                  `CREATE (n:Refused) RETURN n`,
	"insert":                             `INSERT (n:Refused)`,
	"merge":                              `MERGE (n:Refused) RETURN n`,
	"set":                                `MATCH (n) SET n.refused = true`,
	"set a label":                        `MATCH (n) SET n:Refused RETURN n`,
	"remove":                             `MATCH (n) REMOVE n.name`,
	"delete":                             `MATCH (n) DETACH DELETE n`,
	"for each":                           `FOREACH (x IN [1] | CREATE (:Refused))`,
	"write in a subquery":                `MATCH (n) CALL (n) { SET n.refused = true } RETURN n`,
	"write in the old form of one":       `MATCH (n) CALL { WITH n SET n.refused = true } RETURN n`,
	"write in transactions":              `MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10 ROWS`,
	"read in transactions":               `MATCH (n) CALL (n) { RETURN n.name AS x } IN TRANSACTIONS OF 10 ROWS RETURN x`,
	"write in a first branch":            `CREATE (n:Refused) RETURN n AS x UNION MATCH (n) RETURN n AS x`,
	"write after a comment":              "/* MATCH */ // RETURN\nCREATE (n:Refused)",
	"write in escapes":                   `CR\u0045ATE (n:Refused)`,
	"end a comment in escapes":           `/* \u002a/ CREATE (n:Refused) /* */ RETURN 1`,
	"make an index":                      `CREATE INDEX refused FOR (n:Refused) ON (n.x)`,
	"drop an index":                      `DROP INDEX symbol_names`,
	"make a label":                       `CALL db.createLabel('Refused')`,
	"another database":                   `USE system MATCH (n) RETURN n`,
	"show users there":                   `USE system SHOW USERS`,
	"explain":                            `EXPLAIN MATCH (n) RETURN n`,
	"profile":                            `PROFILE MATCH (n) RETURN n`,
	"profile a write":                    `PROFILE CREATE (n:Refused)`,
	"explain behind a comment":           "// x\nexplain CREATE (n:Refused)",
	"options and a write":                `CYPHER runtime=slotted CREATE (n:Refused)`,
	"options":                            `CYPHER debug=generate_java_source MATCH (n) RETURN n`,
	"options before another mode":        `CYPHER 5 EXPLAIN MATCH (n) RETURN n`,
	"two statements":                     `MATCH (n) RETURN n; CREATE (m:Refused)`,
	"two statements and a comment":       "RETURN 1; // x\nMATCH (n) DETACH DELETE n",
	"a function of an extension":         `RETURN apoc.cypher.runFirstColumnSingle('LOAD CSV', {})`,
	"a quoted function of one":           "RETURN `apoc`.`load`.`json` ('x')",
	"a spaced function of one":           "RETURN apoc . /* x */ util . sleep (1)",
	"one after a comment that a carriage return ends": "MATCH (n) // x\rRETURN apoc.util.sleep(1)",
	"one behind a blank of another script":            "RETURN apoc.util.sleep\u00a0(1)",
	"one with a wide blank inside":                    "RETURN apoc.util\u2003.sleep(1)",
	"one behind a control character":                  "RETURN apoc.util.sleep\u001c(1)",
	"one behind an invisible character":               "RETURN apoc.util.sleep\u200b(1)",
	"nothing":                                         ` // nothing`,
	"no Cypher":                                       `DROP TABLE students`,
	"a parameter that is not there":                   `MATCH (n {name: $absent}) RETURN n`,
	"a procedure that is not there":                   `CALL no.such.thing()`,
	"an operator of an unlisted command":              `SHOW INDEXES`,
}

// outside is in queries that reach beyond the graph.
var outside = regexp.MustCompile("(?i)CSV FROM|apoc|dbms")

func testRefusals(t *testing.T, store *neo4j.Store, server testkit.Neo4jServer) {
	var asked atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprintln(w, "a,b")
	}))
	defer web.Close()
	raw(t, server, `MERGE (:Kept {name: 'kept'})`)
	for name, query := range refusals {
		if strings.Contains(query, "%s") {
			query = fmt.Sprintf(query, web.URL)
		}
		result, err := store.RunCypher(t.Context(), query, nil)
		code := domain.CodeOf(err)
		if code != domain.CodeForbidden && code != domain.CodeInvalid {
			t.Errorf("%s: %s\nwas not refused: %+v, %v", name, query, result, err)
		}
		// This server is closed and has no extensions: another would run what is only invalid here.
		if code == domain.CodeInvalid && outside.MatchString(query) {
			t.Errorf("%s: %s\nwas left to the server to refuse: %v", name, query, err)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests reached an address", n)
	}
	left := raw(t, server, `MATCH (k:Kept) WITH count(k) AS kept OPTIONAL MATCH (r) WHERE r:Refused OR r.refused RETURN kept, count(r) AS refused`)[0]
	if kept, refused := left.Values[0], left.Values[1]; kept != int64(1) || refused != int64(0) {
		t.Errorf("%v nodes are kept and %v were written; want 1 and 0", kept, refused)
	}
	if n := len(raw(t, server, `SHOW INDEXES YIELD name WHERE name = 'symbol_names' OR name = 'refused' RETURN name`)); n != 1 {
		t.Errorf("%d indexes, want the one that was there", n)
	}
}

// testReadSession shows that the guard has a second wall: what it would let through by
// mistake is still in a read session, on a server that answers no LOAD CSV.
func testReadSession(t *testing.T, server testkit.Neo4jServer) {
	d, err := driver.NewDriverWithContext(server.URI, driver.BasicAuth(server.User, server.Password, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(context.Background()) //nolint:errcheck // nothing is lost
	session := d.NewSession(t.Context(), driver.SessionConfig{AccessMode: driver.AccessModeRead})
	defer session.Close(context.Background()) //nolint:errcheck // nothing is lost
	for _, query := range []string{`CREATE (n:Refused)`, `LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l`, `LOAD CSV FROM 'http://127.0.0.1:1/x' AS l RETURN l`} {
		result, err := session.Run(t.Context(), query, nil)
		if err == nil {
			_, err = result.Consume(t.Context())
		}
		if err == nil {
			t.Errorf("%s ran", query)
		}
	}
}

func testBounds(t *testing.T, store *neo4j.Store) {
	many, err := store.RunCypher(t.Context(), `UNWIND range(1, 100000) AS i RETURN i`, nil)
	if err != nil || len(many.Rows) != 200 || !many.Truncated {
		t.Errorf("%d rows, truncated %v, %v; want 200", len(many.Rows), many.Truncated, err)
	}
	wide, err := store.RunCypher(t.Context(), `UNWIND range(1, 100) AS i RETURN reduce(s = 'x', n IN range(1, 13) | s + s) AS s`, nil)
	text, _ := json.Marshal(wide.Rows)
	if err != nil || !wide.Truncated || len(text) > 130<<10 || len(wide.Rows) == 0 {
		t.Errorf("%d bytes in %d rows, truncated %v, %v", len(text), len(wide.Rows), wide.Truncated, err)
	}
	_, err = store.RunCypher(t.Context(), "RETURN 1 //"+strings.Repeat("x", 20_000), nil)
	if domain.CodeOf(err) != domain.CodeTooLarge {
		t.Errorf("a long query: %v", err)
	}
	started := time.Now()
	_, err = store.RunCypher(t.Context(), `UNWIND range(1, 100000000) AS a UNWIND range(1, 100000000) AS b RETURN count(b)`, nil)
	if took := time.Since(started); domain.CodeOf(err) != domain.CodeUnprocessable || took > 30*time.Second {
		t.Errorf("an endless query ended after %s: %v", took, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.RunCypher(ctx, `RETURN 1`, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// testRunaways must be the last on a server: it leaves two queries that only a restart ends.
func testRunaways(t *testing.T, store *neo4j.Store, config neo4j.Config) {
	endless := []string{
		`RETURN any(x IN range(1, 1000000000000) WHERE x < 0)`,
		`RETURN reduce(s = 'a', i IN range(1, 20) | s + s) =~ '.*.*b'`,
	}
	var running sync.WaitGroup
	for _, query := range endless {
		running.Go(func() {
			if _, err := store.RunCypher(t.Context(), query, nil); domain.CodeOf(err) != domain.CodeUnprocessable {
				t.Errorf("%s ended with %v", query, err)
			}
		})
	}
	running.Wait()
	_, err := store.RunCypher(t.Context(), `RETURN 1`, nil)
	if domain.CodeOf(err) != domain.CodeUnprocessable || !strings.Contains(domain.PublicMessage(err), "2 queries") {
		t.Errorf("beside two that run on: %v", err)
	}
	if seen, err := neo4j.Probe(t.Context(), config); err != nil || seen.Runaways != 2 || seen.Version == "" || len(seen.Open) != 0 {
		t.Errorf("the probe sees %+v, %v", seen, err)
	}
}

func testUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, err = neo4j.Open(t.Context(), neo4j.Config{URI: "bolt://" + address, User: "neo4j", Password: "x"}, nil)
	if domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("nobody listens: %v", err)
	}
	_, err = neo4j.Open(t.Context(), neo4j.Config{URI: "nonsense"}, nil)
	if domain.CodeOf(err) != domain.CodeInvalid {
		t.Errorf("no address: %v", err)
	}
}
