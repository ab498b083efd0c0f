package secrets_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/secrets"
	"github.com/harvest-engine/harvest/internal/testkit"
)

var ada = domain.Author{UserID: "ada"}

// room is a project on a real database, with vaults on it.
type room struct {
	*testing.T
	pool    *pgxpool.Pool
	store   *postgres.Store
	project string
}

func newRoom(t *testing.T) room {
	t.Helper()
	r := room{T: t, pool: testkit.Postgres(t)}
	r.store = postgres.NewStore(r.pool)
	r.project = r.newProject()
	return r
}

func (r room) newProject() string {
	r.Helper()
	p, err := r.store.CreateProject(r.Context(), domain.Project{Name: "engine", GroupID: "everyone", CreatedBy: domain.OwnerID})
	if err != nil {
		r.Fatal(err)
	}
	return p.ID
}

// vault gives a vault of a process with these keys, the last of them active.
func (r room) vault(keys ...string) *secrets.Vault {
	r.Helper()
	var ring []secrets.Key
	for _, id := range keys {
		ring = append(ring, secrets.Key{ID: id, Secret: []byte(strings.Repeat(id, 32)[:32])})
	}
	sealer, err := secrets.NewSealer(ring)
	if err != nil {
		r.Fatal(err)
	}
	return secrets.New(r.store, sealer, r.store)
}

func (r room) save(v *secrets.Vault, name, value string) domain.Secret {
	r.Helper()
	s, err := v.Save(r.Context(), r.project, name, domain.NewSecretValue(value), ada)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

func (r room) exec(sql string, args ...any) {
	r.Helper()
	if _, err := r.pool.Exec(r.Context(), sql, args...); err != nil {
		r.Fatal(err)
	}
}

func (r room) wantCode(doing string, err error, want domain.Code) {
	r.Helper()
	if domain.CodeOf(err) != want || err == nil {
		r.Errorf("%s: error %v (code %q), want code %q", doing, err, domain.CodeOf(err), want)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	v := r.vault("k1")
	if s := r.save(v, "db_password", "the first value"); s.Name != "DB_PASSWORD" || s.Version != 1 || s.Author != "ada" || s.Revealable {
		t.Errorf("%+v", s)
	}
	first, err := v.Pin(t.Context(), r.project, domain.SecretRef{Name: "DB_PASSWORD"})
	if err != nil || first.Handle() != "secret://DB_PASSWORD@1" {
		t.Fatalf("%s, %v", first, err)
	}
	if value, err := v.Open(t.Context(), r.project, first); err != nil || value.Reveal() != "the first value" {
		t.Errorf("opened %q, %v", value.Reveal(), err)
	}
	r.save(v, "DB_PASSWORD", "the second value")
	_, err = v.Open(t.Context(), r.project, first)
	r.wantCode("open what has changed", err, domain.CodeConflict)
	_, err = v.Pin(t.Context(), r.project, first)
	r.wantCode("pin what has changed", err, domain.CodeConflict)
	if err := v.Delete(t.Context(), r.project, "db_password"); err != nil {
		t.Error(err)
	}
	_, err = v.Open(t.Context(), r.project, domain.SecretRef{Name: "DB_PASSWORD", Version: 2})
	r.wantCode("open what is gone", err, domain.CodeNotFound)
	if s := r.save(v, "DB_PASSWORD", "the third value"); s.Version != 3 {
		t.Errorf("a number is used twice: %+v", s)
	}
	for i := range domain.MaxSecretVersions + 2 {
		r.save(v, "DB_PASSWORD", fmt.Sprintf("value number %d", i))
	}
	if list, err := v.Versions(t.Context(), r.project, "db_password"); err != nil || len(list) != domain.MaxSecretVersions || list[0].Version != 15 {
		t.Errorf("%+v, %v", list, err)
	}
}

// Two who save at once give two versions, each of which opens.
func TestSavesAtOnce(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	v, other := r.vault("k1"), r.vault("k1")
	var group sync.WaitGroup
	seen := make([]int, 8)
	for i := range seen {
		group.Go(func() {
			by := v
			if i%2 == 1 {
				by = other
			}
			s, err := by.Save(context.Background(), r.project, "KEY", domain.NewSecretValue(fmt.Sprintf("value number %d", i)), ada)
			if err != nil {
				t.Error(err)
			}
			seen[i] = s.Version
		})
	}
	group.Wait()
	list, err := v.Versions(t.Context(), r.project, "KEY")
	if err != nil || len(list) != len(seen) {
		t.Fatalf("%+v, %v", list, err)
	}
	newest, err := v.Pin(t.Context(), r.project, domain.SecretRef{Name: "KEY"})
	if err != nil || newest.Version != len(seen) {
		t.Errorf("%v, %v", newest, err)
	}
	if value, err := other.Open(t.Context(), r.project, newest); err != nil || !strings.HasPrefix(value.Reveal(), "value number ") {
		t.Errorf("%q, %v", value.Reveal(), err)
	}
}

// A row that is put into another place does not open there.
func TestMovedRowsDoNotOpen(t *testing.T) {
	t.Parallel()
	for name, swap := range map[string]string{
		"another name":    `update secret_versions v set sealed = o.sealed from secret_versions o where v.name = 'A' and o.name = 'B'`,
		"another version": `update secret_versions v set sealed = o.sealed from secret_versions o where v.name = 'A' and v.version = 2 and o.name = 'A' and o.version = 1`,
		"another project": `update secret_versions v set sealed = o.sealed from secret_versions o where v.project_id <> o.project_id and v.name = 'A' and o.name = 'A' and o.version = v.version`,
		"a changed byte":  `update secret_versions set sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t)
			v := r.vault("k1")
			r.save(v, "A", "the value of A, 1")
			ref := r.save(v, "A", "the value of A, 2").Ref()
			r.save(v, "B", "the value of B, 1")
			there := r
			there.project = r.newProject()
			there.save(v, "A", "the value of A there, 1")
			there.save(v, "A", "the value of A there, 2")
			if _, err := v.Open(t.Context(), r.project, ref); err != nil {
				t.Fatal(err)
			}
			r.exec(swap)
			_, err := v.Open(t.Context(), r.project, ref)
			r.wantCode("open", err, domain.CodeForbidden)
			if err != nil && strings.Contains(err.Error(), "value of") {
				t.Errorf("the error has the value: %v", err)
			}
			_, err = v.Scrubber(t.Context(), r.project)
			r.wantCode("go on unscrubbed", err, domain.CodeForbidden)
		})
	}
}

// After a rotation old values open with the old key, until they are sealed anew; then they need
// it no more.
func TestRotation(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.save(r.vault("k1"), "A", "the first value")
	ref := r.save(r.vault("k1"), "A", "the second value").Ref()
	rotated := r.vault("k1", "k2")
	if value, err := rotated.Open(t.Context(), r.project, ref); err != nil || value.Reveal() != "the second value" {
		t.Errorf("%q, %v", value.Reveal(), err)
	}
	r.save(rotated, "B", "the value of B")
	_, err := r.vault("k2").Open(t.Context(), r.project, ref)
	r.wantCode("open without the old key", err, domain.CodeUnavailable)
	if done, err := r.vault("k2").Reseal(t.Context()); err != nil || done.Resealed != 0 || len(done.Failed) != 2 {
		t.Errorf("sealing anew without the old key: %+v, %v", done, err)
	}
	if use, err := r.store.SealedWith(t.Context()); err != nil || use["k1"] != 2 || use["k2"] != 1 {
		t.Errorf("used before: %v, %v", use, err)
	}
	if done, err := rotated.Reseal(t.Context()); err != nil || done.Resealed != 2 || len(done.Failed) != 0 || done.Key != "k2" {
		t.Errorf("%+v, %v", done, err)
	}
	if use, err := r.store.SealedWith(t.Context()); err != nil || use["k1"] != 0 || use["k2"] != 3 {
		t.Errorf("used after: %v, %v", use, err)
	}
	if value, err := r.vault("k2").Open(t.Context(), r.project, ref); err != nil || value.Reveal() != "the second value" {
		t.Errorf("%q, %v", value.Reveal(), err)
	}
}

// A value that another process saves, removes or lets be seen is known at the next text.
func TestScrubbersFollowChanges(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	here, there := r.vault("k1"), r.vault("k1")
	check := func(doing, all, model string) {
		t.Helper()
		s, err := here.Scrubber(t.Context(), r.project)
		if err != nil {
			t.Fatal(err)
		}
		const text = "old value! new value!"
		if got := s.Scrub(text); got != all {
			t.Errorf("%s: %q, want %q", doing, got, all)
		}
		if got := s.ForModel(text); got != model {
			t.Errorf("%s, for models: %q, want %q", doing, got, model)
		}
	}
	check("none", "old value! new value!", "old value! new value!")
	r.save(there, "KEY", "old value!")
	check("one", "[secret KEY] new value!", "[secret KEY] new value!")
	r.save(there, "KEY", "new value!")
	check("both versions", "[secret KEY] [secret KEY]", "[secret KEY] [secret KEY]")
	if err := there.Permit(t.Context(), r.project, "key", true); err != nil {
		t.Fatal(err)
	}
	check("revealable", "[secret KEY] [secret KEY]", "old value! new value!")
	if err := there.Delete(t.Context(), r.project, "key"); err != nil {
		t.Fatal(err)
	}
	check("gone", "old value! new value!", "old value! new value!")
}

func TestLimits(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	v := r.vault("k1")
	r.exec(`insert into secrets (project_id, name, version) select $1, 'S' || n, 1 from generate_series(1, $2) n`, r.project, domain.MaxSecrets)
	_, err := v.Save(t.Context(), r.project, "ONE_MORE", secrets.Generate(), ada)
	r.wantCode("one more", err, domain.CodeUnprocessable)
	if _, err := v.Save(t.Context(), r.project, "s1", secrets.Generate(), ada); err != nil {
		t.Errorf("a new version of one that is there: %v", err)
	}
	long := domain.NewSecretValue(strings.Repeat("x", domain.MaxSecretValue))
	for n := 0; err == nil || n == 0; n++ {
		if _, err = v.Save(t.Context(), r.project, fmt.Sprintf("S%d", n%20+1), long, ada); n > 60 {
			t.Fatal("there is no end to what a project may keep")
		}
	}
	r.wantCode("too much in all", err, domain.CodeUnprocessable)
	_, err = v.Save(t.Context(), "gone", "A", secrets.Generate(), ada)
	r.wantCode("a project that is gone", err, domain.CodeNotFound)
}

// What is shown to a model is permitted, and noted each time.
func TestReveal(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	v := r.vault("k1")
	r.save(v, "KEY", "the first value")
	by := domain.Author{UserID: "ada", TurnID: "t1", CallID: "c1"}
	_, err := v.Reveal(t.Context(), r.project, "key", by)
	r.wantCode("without permission", err, domain.CodeForbidden)
	if err := v.Permit(t.Context(), r.project, "key", true); err != nil {
		t.Fatal(err)
	}
	if value, err := v.Reveal(t.Context(), r.project, "key", by); err != nil || value.Reveal() != "the first value" {
		t.Errorf("%q, %v", value.Reveal(), err)
	}
	entries, err := r.store.AuditEntries(t.Context(), domain.AuditFilter{ProjectID: r.project, Limit: 10})
	if err != nil || len(entries) != 2 || entries[0].Outcome != domain.OutcomeDone || entries[1].Outcome != domain.OutcomeDenied || entries[0].Path != "secret://KEY@1" {
		t.Errorf("%+v, %v", entries, err)
	}
	unnoted := secrets.New(r.store, sealerOf(t, "k1"), deaf{})
	if _, err := unnoted.Reveal(t.Context(), r.project, "key", by); err == nil {
		t.Error("a value is shown and nobody notes it")
	}
}

type deaf struct{}

func (deaf) Audit(context.Context, domain.AuditEntry) error { return errors.New("no room") }

func sealerOf(t *testing.T, id string) *secrets.Sealer {
	t.Helper()
	s, err := secrets.NewSealer([]secrets.Key{{ID: id, Secret: []byte(strings.Repeat(id, 32)[:32])}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Nothing goes by a value's type into what is printed or rendered.
func TestValuesDoNotShow(t *testing.T) {
	t.Parallel()
	value := domain.NewSecretValue("correct horse")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, what := range []any{value, &value, struct{ V domain.SecretValue }{value}, []domain.SecretValue{value}} {
			if got := fmt.Sprintf(verb, what); strings.Contains(got, "horse") || strings.Contains(got, "686f727365") {
				t.Errorf("%s of %T: %s", verb, what, got)
			}
		}
	}
}
