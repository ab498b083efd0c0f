package embedded

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"reflect"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"

	"github.com/harvest-engine/harvest/internal/domain"
)

// binaryRepository is where the module finds the builds of PostgreSQL when nobody says
// otherwise; it does not tell by itself. "" where a later module keeps it elsewhere: then it
// fetches without being watched.
func binaryRepository() string {
	own := reflect.ValueOf(embeddedpostgres.DefaultConfig()).FieldByName("binaryRepositoryURL")
	if !own.IsValid() || own.Kind() != reflect.String {
		return ""
	}
	return own.String()
}

// fetchable names, per major version, the build that is fetched where none is installed.
var fetchable = map[int]embeddedpostgres.PostgresVersion{
	14: "14.18.0", 15: "15.13.0", 16: "16.9.0", 17: "17.6.0", 18: "18.3.0",
}

// defaultMajor is fetched for a new cluster.
const defaultMajor = 17

// FetchPostgres gives fetched server programs of the major version (0 for the default),
// from the cache folder where an earlier call has put them.
func FetchPostgres(ctx context.Context, cacheDir string, major int, report ProgressFunc) (b Binaries, err error) {
	if major == 0 {
		major = defaultMajor
	}
	version, ok := fetchable[major]
	if !ok {
		return b, domain.Errorf(domain.CodeUnavailable,
			"no PostgreSQL %d is installed, and no build of it can be fetched; install it, or set DATABASE_URL", major)
	}
	home := filepath.Join(cacheDir, "postgres-"+string(version))
	if b, ok := inspectBinaries(ctx, filepath.Join(home, "bin")); ok {
		return b, nil
	}
	unlock, err := lockCache(ctx, cacheDir, "postgres", report)
	if err != nil {
		return Binaries{}, err
	}
	defer unlock()
	if b, ok := inspectBinaries(ctx, filepath.Join(home, "bin")); ok {
		return b, nil
	}
	s := beginStep(report, "fetching PostgreSQL "+string(version), "bytes")
	defer s.end(&err)
	cause := fetchInto(home, cacheDir, version, s)
	b, ok = inspectBinaries(ctx, filepath.Join(home, "bin"))
	if !ok {
		return b, domain.Wrap(domain.CodeUnavailable, cause,
			"PostgreSQL %s could not be fetched%s; install PostgreSQL, or set DATABASE_URL", version, whence())
	}
	return b, nil
}

// whence says where builds come from, as far as that is known.
func whence() string {
	if from := binaryRepository(); from != "" {
		return " from " + from
	}
	return ""
}

// fetchInto has the module download, check and unpack a build. The module does that only
// on the way to a start of its own; it is given a data folder that holds no cluster, so
// that it stops with an error after unpacking. Whether the programs work is for the caller
// to see; the error is the reason where they don't.
func fetchInto(home, cacheDir string, version embeddedpostgres.PostgresVersion, s *step) error {
	scratch, err := os.MkdirTemp("", "harvest-fetch-*")
	if err != nil {
		return fmt.Errorf("make a scratch folder: %w", err)
	}
	defer os.RemoveAll(scratch)
	data := filepath.Join(scratch, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("make a scratch folder: %w", err)
	}
	major := string(version[:2])
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(major), 0o600); err != nil {
		return fmt.Errorf("write the scratch folder: %w", err)
	}
	config := embeddedpostgres.DefaultConfig()
	if from := binaryRepository(); from != "" {
		meter, port, err := startMeter(from, s)
		if err != nil {
			return err
		}
		defer meter.Close()
		config = config.BinaryRepositoryURL(fmt.Sprintf("http://127.0.0.1:%d", port))
	}
	return embeddedpostgres.NewDatabase(config.
		Version(version).
		Port(freePort()).
		CachePath(cacheDir).
		RuntimePath(filepath.Join(scratch, "run")).
		BinariesPath(home).
		DataPath(data).
		Logger(io.Discard)).Start()
}

// startMeter passes the module's requests on to the repository and counts the bytes of
// its answers into s: the module itself doesn't say how far it is.
func startMeter(from string, s *step) (*http.Server, int, error) {
	upstream, err := url.Parse(from)
	if err != nil {
		return nil, 0, fmt.Errorf("parse the repository's address: %w", err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		ModifyResponse: func(resp *http.Response) error {
			if resp.ContentLength > s.total.Load() { // the archive, not its checksum
				s.total.Store(resp.ContentLength)
			}
			resp.Body = meteredBody{resp.Body, s}
			return nil
		},
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, fmt.Errorf("listen on the loopback interface: %w", err)
	}
	server := &http.Server{Handler: proxy}
	go func() { _ = server.Serve(listener) }() // ends with ErrServerClosed
	return server, listener.Addr().(*net.TCPAddr).Port, nil
}

type meteredBody struct {
	io.ReadCloser
	step *step
}

func (b meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.step.done.Add(int64(n))
	return n, err
}
