package postgres_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

func TestProcessesKnowEachOther(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t)
	store := postgres.NewStore(pool)
	serve := domain.Process{ID: "1", Kind: "serve", Host: "a", PID: 7, ActiveKey: "k1", Keys: map[string]string{"k1": "f1"}}
	work := domain.Process{ID: "2", Kind: "worker", Host: "b", PID: 8, ActiveKey: "k1", Keys: map[string]string{"k1": "f1"}}
	register := func(p domain.Process, fault error, want ...domain.Process) {
		t.Helper()
		err := store.RegisterProcess(t.Context(), p, func(others []domain.Process) error {
			if diff := cmp.Diff(want, others, cmpopts.IgnoreFields(domain.Process{}, "StartedAt", "SeenAt"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s sees (-want +got):\n%s", p.Kind, diff)
			}
			return fault
		})
		if !errors.Is(err, fault) {
			t.Errorf("registered with %v, want %v", err, fault)
		}
	}
	register(serve, nil)
	register(work, errors.New("keys differ"), serve)
	register(work, nil, serve)
	if list, err := store.Processes(t.Context()); err != nil || len(list) != 2 || list[0].SeenAt.IsZero() {
		t.Errorf("listed %+v, %v", list, err)
	}
	// One that was killed is not counted on for long, and is back once it is seen.
	if _, err := pool.Exec(t.Context(), "update processes set seen_at = now() - interval '1 minute' where id = '1'"); err != nil {
		t.Fatal(err)
	}
	register(work, nil)
	if err := store.SeeProcess(t.Context(), serve); err != nil {
		t.Fatal(err)
	}
	register(work, nil, serve)
	if err := store.ForgetProcess(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	register(work, nil)
}

func TestSealedValuesAreCountedByKey(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t)
	if _, err := pool.Exec(t.Context(), `insert into repositories (name) values ('app');
		insert into repository_credentials select id, '\x026b31ffee'::bytea from repositories;
		insert into large_values (owner, sha256, size, body) values ('user/a', '\x01', 1, '\x026b31aa'), ('user/a', '\x02', 1, '\x036b3232bb')`); err != nil {
		t.Fatal(err)
	}
	got, err := postgres.NewStore(pool).SealedWith(t.Context())
	if diff := cmp.Diff(map[string]int{"k1": 2, "k22": 1}, got); err != nil || diff != "" {
		t.Errorf("%v, counts (-want +got):\n%s", err, diff)
	}
}
