package postgres_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// mirror seals by turning the bytes around, for one context.
type mirror struct{}

func (mirror) Seal(plain, context []byte) ([]byte, error) {
	sealed := bytes.Clone(plain)
	for i := range sealed {
		sealed[i] = plain[len(plain)-1-i]
	}
	return append(append(bytes.Clone(context), 0), sealed...), nil
}

func (m mirror) Open(sealed, context []byte) ([]byte, error) {
	head, body, ok := bytes.Cut(sealed, []byte{0})
	if !ok || !bytes.Equal(head, context) {
		return nil, errors.New("sealed for another")
	}
	opened, err := m.Seal(body, nil)
	return opened[1:], err
}

func TestCredentialsAreSealedAndGoWithTheRepository(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t)
	store := postgres.NewStore(pool, postgres.WithSealer(mirror{}))
	exec := func(sql string) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.SaveCredentials(t.Context(), "app", domain.Credentials{Token: "x"}); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("credentials of nothing: %v", err)
	}
	exec("insert into repositories (name) values ('app'), ('lib')")
	for _, want := range []domain.Credentials{{Token: "s3cret"}, {SSHKey: "a\nkey\n"}} {
		if err := store.SaveCredentials(t.Context(), "app", want); err != nil {
			t.Fatal(err)
		}
		if got, err := store.Credentials(t.Context(), "app"); err != nil || got != want {
			t.Errorf("got other credentials back, %v", err)
		}
		if text := fmt.Sprintf("%v %+v %#v %s %q", want, want, want, want, want); strings.Contains(text, "s3cret") || strings.Contains(text, "key\\n") {
			t.Errorf("credentials print as %s", text)
		}
	}
	if got, err := store.Credentials(t.Context(), "lib"); err != nil || !got.Empty() {
		t.Errorf("another repository has %v, %v", got, err)
	}
	// Moved to another repository they don't open.
	exec("update repository_credentials set repo_id = (select id from repositories where name = 'lib')")
	if got, err := store.Credentials(t.Context(), "lib"); domain.CodeOf(err) != domain.CodeForbidden || !got.Empty() {
		t.Errorf("moved credentials: %v, %v", got, err)
	}
	exec("delete from repositories where name = 'lib'")
	var left int
	if err := pool.QueryRow(t.Context(), "select count(*) from repository_credentials").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d credentials outlive their repository, %v", left, err)
	}
}
