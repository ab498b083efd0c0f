package postgres_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// ring seals with the last of its keys, by turning the bytes around, and opens what each of them
// has sealed.
type ring []string

func (r ring) Seal(plain, context []byte) ([]byte, error) {
	key := r[len(r)-1]
	body := append(append(bytes.Clone(context), 0), plain...)
	slices.Reverse(body)
	return append(append([]byte{byte(len(key))}, key...), body...), nil
}

func (r ring) Open(sealed, context []byte) ([]byte, error) {
	key, body := string(sealed[1:1+sealed[0]]), bytes.Clone(sealed[1+sealed[0]:])
	if !slices.Contains(r, key) {
		return nil, fmt.Errorf("there is no key %s", key)
	}
	slices.Reverse(body)
	plain, ok := bytes.CutPrefix(body, append(bytes.Clone(context), 0))
	if !ok {
		return nil, fmt.Errorf("sealed for another")
	}
	return plain, nil
}

// sealedHouse is a database in which something of every kind is sealed with the key "old".
type sealedHouse struct {
	house
	project  domain.Project
	identity domain.LXDIdentity
	sum      [sha256.Size]byte // of the document
}

func newSealedHouse(t *testing.T) *sealedHouse {
	t.Helper()
	ctx := context.Background()
	pool := testkit.Postgres(t)
	h := &sealedHouse{house: house{t, pool, postgres.NewStore(pool, postgres.WithSealer(ring{"old"}))}}
	_, h.project, _ = shared(t, h.store)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	h.exec("insert into repositories (name) values ('app')")
	must(h.store.SaveCredentials(ctx, "app", domain.Credentials{Token: "s3cret"}))
	var err error
	h.identity, err = h.store.LXDIdentity(ctx, func() (domain.LXDIdentity, error) {
		return domain.LXDIdentity{Installation: "i", Certificate: "-----BEGIN\ncertificate\n", Key: "the key"}, nil
	})
	must(err)
	h.provision(h.project.ID, "p1", "")
	_, err = h.store.ProvisionToken(ctx, "p1", "the token", []byte("hash"), time.Hour)
	must(err)
	document := []byte("%PDF of a book")
	h.sum = sha256.Sum256(document)
	body, _ := ring{"old"}.Seal([]byte("the file"), h.sum[:])
	h.exec("insert into large_values (owner, sha256, size, body) values ('user/ada', $1, 1, $2), ('user/bob', $1, 1, $2)", h.sum[:], body)
	must(h.store.KeepDocument(ctx, domain.Turn{UserID: "ada"}, document, domain.DocumentText{Text: "the text", Pages: 1}))
	return h
}

// After all is sealed anew nothing needs the old key, and everything opens without it.
func TestEverythingIsSealedAnew(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newSealedHouse(t)
	use := func(want map[string]int) {
		t.Helper()
		if got, err := h.store.SealedWith(ctx); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("keys in use: %v, %v; want %v", got, err, want)
		}
	}
	use(map[string]int{"old": 6})
	without := postgres.NewStore(h.pool, postgres.WithSealer(ring{"new"}))
	count, faults, err := without.ResealStored(ctx)
	if err != nil || count != 0 || len(faults) != 6 || !strings.Contains(strings.Join(faults, "\n"), "the credentials of a repository (app) does not open") {
		t.Errorf("without the old key: %d, %q, %v", count, faults, err)
	}
	use(map[string]int{"old": 6})
	for _, want := range []int{6, 0} {
		count, faults, err := postgres.NewStore(h.pool, postgres.WithSealer(ring{"old", "new"})).ResealStored(ctx)
		if err != nil || count != want || len(faults) != 0 {
			t.Errorf("sealed anew: %d, %q, %v; want %d", count, faults, err, want)
		}
		use(map[string]int{"new": 6})
	}
	if got, err := without.Credentials(ctx, "app"); err != nil || got.Token != "s3cret" {
		t.Errorf("credentials: %v", err)
	}
	if got, err := without.LXDIdentity(ctx, nil); err != nil || got != h.identity {
		t.Errorf("identity: %+v, %v", got, err)
	}
	if got, err := without.ProvisionToken(ctx, "p1", "another", []byte("other"), time.Hour); err != nil || got != "the token" {
		t.Errorf("token: %q, %v", got, err)
	}
	for sql, context := range map[string][]byte{
		"select body from large_values where owner = 'user/bob'": h.sum[:],
		"select body from document_texts":                        append([]byte("text of "), h.sum[:]...),
	} {
		var body []byte
		if err := h.pool.QueryRow(ctx, sql).Scan(&body); err != nil {
			t.Fatal(err)
		}
		if _, err := (ring{"new"}).Open(body, context); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A store that encrypts nothing has nothing to seal anew.
func TestNothingIsSealedAnewWithoutKeys(t *testing.T) {
	t.Parallel()
	if count, faults, err := postgres.NewStore(testkit.Postgres(t)).ResealStored(context.Background()); err != nil || count != 0 || len(faults) != 0 {
		t.Errorf("%d, %q, %v", count, faults, err)
	}
}

// unsealed are the columns of bytes that hold nothing that is encrypted: hashes, what was read of
// code, what commands wrote, and what is rendered. The last two are the vault's, which counts and
// seals them itself.
var unsealed = []string{
	"agents.token_hash", "api_keys.hash", "artifact_renders.body", "command_outputs.stderr_head", "command_outputs.stderr_tail",
	"command_outputs.stdout_head", "command_outputs.stdout_tail", "devices.hash", "document_texts.sha256", "forward_visits.hash",
	"idempotency.body_hash", "install_tokens.hash", "large_values.sha256", "provisions.hash", "resolutions.key", "sessions.hash",
	"source_blobs.details", "source_blobs.key", "source_blobs.outline", "source_blobs.text", "value_uses.sha256",
	"secret_offers.sealed", "secret_versions.sealed",
}

// Whoever adds a column of bytes says whether it is sealed: one that is and is not sealed anew is
// lost with its key, after the doctor has said that nothing needs that any more.
func TestEverySealedColumnIsKnown(t *testing.T) {
	t.Parallel()
	known := slices.Concat(unsealed, postgres.SealedColumns())
	for _, column := range bytesColumns(t, testkit.Postgres(t)) {
		if !slices.Contains(known, column) {
			t.Errorf("%s is neither among sealedColumns nor known to be unsealed", column)
		}
	}
}

func bytesColumns(t *testing.T, pool *pgxpool.Pool) (list []string) {
	t.Helper()
	rows, err := pool.Query(context.Background(), `
select c.table_name || '.' || c.column_name from information_schema.columns c join pg_class p on p.relname = c.table_name
where c.table_schema = current_schema() and p.relnamespace = current_schema()::regnamespace and c.data_type = 'bytea' and not p.relispartition`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		list = append(list, name)
	}
	if rows.Err() != nil || len(list) < 20 {
		t.Fatalf("columns %q, %v", list, rows.Err())
	}
	return list
}
