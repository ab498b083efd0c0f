package testkit

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/embedded"
)

// Neo4jServer is a running server with one user database.
type Neo4jServer struct {
	URI      string // bolt://host:port
	User     string
	Password string
}

// requireNeo4j makes a missing Java or Maven a failure: continuous integration sets it.
const requireNeo4j = "HARVEST_REQUIRE_NEO4J"

// errNoJava says that Neo4j can't run on this machine.
var errNoJava = errors.New("Neo4j needs Java 17 (java) and Maven (mvn) on the PATH")

var neo4jServer = sync.OnceValues(func() (Neo4jServer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // a first fetch takes long
	defer cancel()
	return startNeo4j(ctx)
})

// Neo4j gives the binary's Neo4j server, started by the first test that asks. It takes half
// a minute to start and half a gigabyte, so all tests share it, and each uses names of its
// own. Where Java or Maven is missing the test is skipped, or fails if HARVEST_REQUIRE_NEO4J
// is 1.
func Neo4j(t testing.TB) Neo4jServer {
	t.Helper()
	server, err := neo4jServer()
	if errors.Is(err, errNoJava) && os.Getenv(requireNeo4j) != "1" {
		t.Skipf("%v; set %s=1 to make this a failure", err, requireNeo4j)
	}
	if err != nil {
		t.Fatalf("Neo4j for tests: %v", err)
	}
	return server
}

//go:embed neo4j/pom.xml
var neo4jPom []byte

// neo4jLibraries gives a folder with the server's libraries, fetched once per machine and
// version.
func neo4jLibraries(ctx context.Context) (string, error) {
	sum := sha256.Sum256(neo4jPom)
	dir := filepath.Join(embedded.DefaultCacheDir(), "neo4j-"+hex.EncodeToString(sum[:6]))
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("make the cache: %w", err)
	}
	lock := flock.New(dir + ".lock") // test binaries run side by side
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return "", fmt.Errorf("wait for another fetch: %w", err)
	}
	defer lock.Unlock() //nolint:errcheck // the file is closed with the process at the latest
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	fetch, err := os.MkdirTemp(filepath.Dir(dir), "neo4j-fetch-")
	if err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(fetch)
	if err := os.WriteFile(filepath.Join(fetch, "pom.xml"), neo4jPom, 0o600); err != nil {
		return "", fmt.Errorf("write the list of libraries: %w", err)
	}
	libraries := filepath.Join(fetch, "lib")
	mvn := exec.CommandContext(ctx, "mvn", "-B", "-q", "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+libraries)
	mvn.Dir = fetch
	if out, err := mvn.CombinedOutput(); err != nil {
		return "", fmt.Errorf("fetch Neo4j with Maven: %w\n%s", err, out)
	}
	if err := os.Rename(libraries, dir); err != nil {
		return "", fmt.Errorf("keep the libraries: %w", err)
	}
	return dir, nil
}

// neo4jGuard runs the server until its input ends, as it does when the test binary dies,
// however that is; then it ends the server and removes its folder.
const neo4jGuard = `dir=$1; shift
"$@" >"$dir/log" 2>&1 &
read -r _
kill -KILL $! 2>/dev/null
wait $!
rm -rf "$dir"`

// neo4jLeash is never closed by us: the end of the process does it.
var neo4jLeash *os.File

func startNeo4j(ctx context.Context) (Neo4jServer, error) {
	for _, program := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			return Neo4jServer{}, errNoJava
		}
	}
	libraries, err := neo4jLibraries(ctx)
	if err != nil {
		return Neo4jServer{}, err
	}
	home, err := os.MkdirTemp("", "harvest-neo4j-")
	if err != nil {
		return Neo4jServer{}, fmt.Errorf("make a folder: %w", err)
	}
	server := Neo4jServer{User: "neo4j", Password: "harvest-test-password"}
	port, err := neo4jPort()
	if err != nil {
		return Neo4jServer{}, err
	}
	server.URI = "bolt://" + port
	if err := configureNeo4j(home, port); err != nil {
		return Neo4jServer{}, err
	}
	admin := exec.CommandContext(ctx, "java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", filepath.Join(libraries, "*"),
		"org.neo4j.cli.AdminTool", "dbms", "set-initial-password", server.Password)
	admin.Env = append(os.Environ(), "NEO4J_HOME="+home, "NEO4J_CONF="+filepath.Join(home, "conf"))
	if out, err := admin.CombinedOutput(); err != nil {
		return Neo4jServer{}, fmt.Errorf("set the password: %w\n%s", err, out)
	}
	if err := runNeo4j(libraries, home); err != nil {
		return Neo4jServer{}, err
	}
	if err := server.await(ctx); err != nil {
		log, _ := os.ReadFile(filepath.Join(home, "log")) // the error is told with or without it
		neo4jLeash.Close()
		return Neo4jServer{}, fmt.Errorf("%w\n%s", err, log)
	}
	return server, nil
}

func neo4jPort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// neo4jSettings keep the server small, quiet and on loopback, and close what read-only
// Cypher could reach: files and addresses by LOAD CSV.
const neo4jSettings = `server.bolt.listen_address=%s
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=64m
db.tx_log.preallocate=false
db.tx_log.rotation.size=16m
dbms.usage_report.enabled=false
dbms.security.allow_csv_import_from_file_urls=false
internal.dbms.cypher_ip_blocklist=0.0.0.0/0,::/0
`

func configureNeo4j(home, address string) error {
	if err := os.MkdirAll(filepath.Join(home, "conf"), 0o700); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	settings := fmt.Sprintf(neo4jSettings, address)
	if err := os.WriteFile(filepath.Join(home, "conf", "neo4j.conf"), []byte(settings), 0o600); err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	return nil
}

func runNeo4j(libraries, home string) error {
	args := []string{"-c", neo4jGuard, "sh", home, "java", "-Xms128m", "-Xmx512m", "-XX:+UseSerialGC"}
	for _, opened := range []string{"java.nio", "java.io", "sun.nio.ch", "java.util.concurrent"} {
		args = append(args, "--add-opens=java.base/"+opened+"=ALL-UNNAMED")
	}
	args = append(args, "-cp", filepath.Join(libraries, "*"), "org.neo4j.server.CommunityEntryPoint",
		"--home-dir="+home, "--config-dir="+filepath.Join(home, "conf"))
	guarded := exec.Command("/bin/sh", args...)
	input, leash, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer input.Close()
	guarded.Stdin = input
	if err := guarded.Start(); err != nil {
		leash.Close()
		return fmt.Errorf("start Neo4j: %w", err)
	}
	neo4jLeash = leash
	return guarded.Process.Release()
}

// await returns when the server answers.
func (s Neo4jServer) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	driver, err := neo4j.NewDriverWithContext(s.URI, neo4j.BasicAuth(s.User, s.Password, ""))
	if err != nil {
		return fmt.Errorf("address Neo4j: %w", err)
	}
	defer driver.Close(ctx) //nolint:errcheck // nothing is lost
	for {
		err := driver.VerifyConnectivity(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("Neo4j did not answer in time: %s", strings.TrimSpace(err.Error()))
		case <-time.After(500 * time.Millisecond):
		}
	}
}
