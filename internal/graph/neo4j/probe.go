package neo4j

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The settings that close what a query that only reads could reach by LOAD CSV. They are read
// when the server starts, and can't be set from here.
const (
	filesSetting     = "dbms.security.allow_csv_import_from_file_urls"
	addressesSetting = "internal.dbms.cypher_ip_blocklist"
)

// Examination is what Probe saw of a server.
type Examination struct {
	Version string
	// Open are lines for the server's configuration that are missing: without them a query
	// that gets past this package's own checks could read files or addresses.
	Open []string
	// Runaways are queries by hand that keep the server busy although they were ended.
	Runaways int
}

// Probe checks that the server can be used, changing nothing.
func Probe(ctx context.Context, config Config) (Examination, error) {
	driver, err := neo4j.NewDriverWithContext(config.URI, neo4j.BasicAuth(config.User, config.Password, ""))
	if err != nil {
		return Examination{}, domain.Wrap(domain.CodeInvalid, err, "%q is not the address of a Neo4j server", config.URI)
	}
	s := &Store{driver: driver, database: config.Database}
	defer s.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to tell
	if err := s.Check(ctx); err != nil {
		return Examination{}, err
	}
	session := s.session(ctx, neo4j.AccessModeRead)
	defer closeSession(ctx, session)
	found, err := rows(ctx, auto{session}, func(r *neo4j.Record) string { return field[string](r, "version") },
		`CALL dbms.components() YIELD versions RETURN versions[0] AS version`, nil)
	if err != nil || len(found) == 0 {
		return Examination{}, domain.Wrap(domain.CodeUpstream, err, "the Neo4j database %q can't be read", config.Database)
	}
	seen := Examination{Version: found[0]}
	if seen.Runaways, err = runaways(ctx, session); err != nil {
		return Examination{}, domain.Wrap(domain.CodeUpstream, err, "the Neo4j server does not list what it runs")
	}
	if s.reaches(ctx, filesSetting, "file:///no-such-file.csv") {
		seen.Open = append(seen.Open, filesSetting+"=false")
	}
	// The server itself, by both protocols, and an address that belongs to nobody.
	for _, address := range []string{"http://127.0.0.1:1/", "http://[::1]:1/", "http://192.0.2.1:1/"} {
		if s.reaches(ctx, addressesSetting, address) {
			seen.Open = append(seen.Open, addressesSetting+"=0.0.0.0/0,::/0")
			break
		}
	}
	return seen, nil
}

// reachLimit is how long a server may try to reach an address that is not closed to it.
const reachLimit = 3 * time.Second

// reaches reports whether the server tries to load from an address, rather than to refuse by a
// setting, or because the user may not.
func (s *Store) reaches(ctx context.Context, setting, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	session := s.session(ctx, neo4j.AccessModeRead)
	defer closeSession(ctx, session)
	_, err := rows(ctx, auto{session}, func(*neo4j.Record) bool { return true }, `LOAD CSV FROM $address AS line RETURN line`,
		map[string]any{"address": address})
	var fault *neo4j.Neo4jError
	if !errors.As(err, &fault) {
		return true
	}
	return !strings.Contains(fault.Msg, setting) && !strings.HasPrefix(fault.Code, "Neo.ClientError.Security.")
}
