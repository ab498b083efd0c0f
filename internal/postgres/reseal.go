package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// sealedColumn is a column whose values the store seals. A value is found by its owner, and by
// a hash where an owner has several; both are expressions of SQL.
type sealedColumn struct {
	what, table, owner, sum, body string
	// context gives what a value is bound to.
	context func(owner string, sum []byte) []byte
}

// noSum is the hash where an owner has one value.
const noSum = `''::bytea`

// sealedColumns are all of them: what is not in here is neither counted nor sealed anew, and
// would be lost with its key. The secrets of projects are the vault's.
var sealedColumns = []sealedColumn{
	{"stored value", "large_values", "owner", "sha256", "body", func(_ string, sum []byte) []byte { return sum }},
	{"text of a document", "document_texts", "owner", "sha256", "body", func(_ string, sum []byte) []byte { return textContext(sum) }},
	{"credentials of a repository", "repository_credentials", "(select name from repositories r where r.id = repo_id)", noSum, "sealed",
		func(owner string, _ []byte) []byte { return credentialContext(owner) }},
	{"identity for LXD", "lxd_identity", `(installation || e'\n' || certificate)`, noSum, "sealed_key", func(owner string, _ []byte) []byte {
		installation, certificate, _ := strings.Cut(owner, "\n")
		return identityContext(domain.LXDIdentity{Installation: installation, Certificate: certificate})
	}},
	{"install token of a container", "provisions", "id", noSum, "sealed_token", func(owner string, _ []byte) []byte { return tokenContext(owner) }},
}

// resealing are the statements of a column, in the order of sealedColumns.
type resealing struct{ list, read, swap string }

var resealings = func() (all []resealing) {
	for _, c := range sealedColumns {
		one := ` from ` + c.table + ` where ` + c.owner + ` = @owner and ` + c.sum + ` = @sum::bytea`
		all = append(all, resealing{
			list: statement("list those of an old key: "+c.what, `
select `+c.owner+`, `+c.sum+` from `+c.table+`
where length(`+c.body+`) > 0 and substring(`+c.body+` from 1 for length(@head::bytea)) <> @head::bytea order by 1, 2`),
			read: statement("read as it is sealed: "+c.what, `select `+c.body+one),
			swap: statement("seal anew: "+c.what, `
update `+c.table+` set `+c.body+` = @sealed where `+c.owner+` = @owner and `+c.sum+` = @sum::bytea and `+c.body+` = @old`),
		})
	}
	return all
}()

// sqlSealedWith counts all that is sealed, the vault's secrets too.
var sqlSealedWith = statement("count sealed values by key", `
with sealed as (`+sealedBodies()+`), used as (
    select encode(substring(body from 2 for get_byte(body, 0)), 'escape') as key from sealed where length(body) > 0
    union all select key from secret_versions union all select key from secret_offers
)
select key, count(*) from used group by 1`)

func sealedBodies() string {
	var parts []string
	for _, c := range sealedColumns {
		parts = append(parts, "select "+c.body+" as body from "+c.table)
	}
	return strings.Join(parts, " union all ")
}

// SealedWith counts the sealed values by the id of their key: a key that one of them needs
// must not be given up.
func (s *Store) SealedWith(ctx context.Context) (map[string]int, error) {
	rows, err := s.pool.Query(ctx, sqlSealedWith)
	if err != nil {
		return nil, failed("count sealed values", err)
	}
	counts := map[string]int{}
	var key string
	var count int
	_, err = pgx.ForEachRow(rows, []any{&key, &count}, func() error {
		counts[key] = count
		return nil
	})
	return counts, failed("count sealed values", err)
}

// ResealStored seals what the store itself has sealed with old keys with the active one: all
// but the secrets of projects. It gives how many values that were, and what does not open, which
// is passed over. It may be repeated, and run in several processes at once.
func (s *Store) ResealStored(ctx context.Context) (resealed int, faults []string, err error) {
	sample, err := s.seal.Seal(nil, nil)
	if err != nil {
		return 0, nil, failed("seal values anew", err)
	}
	if len(sample) == 0 {
		return 0, nil, nil // nothing is encrypted
	}
	head := sample[:1+sample[0]]
	for i, column := range sealedColumns {
		places, err := s.sealedPlaces(ctx, resealings[i].list, head)
		if err != nil {
			return resealed, faults, err
		}
		for _, at := range places {
			switch opened, err := s.reseal(ctx, column, resealings[i], at); {
			case err != nil:
				return resealed, faults, err
			case opened:
				resealed++
			default:
				name, _, _ := strings.Cut(at.owner, "\n")
				faults = append(faults, fmt.Sprintf("the %s (%s) does not open with the encryption keys of this process", column.what, name))
			}
		}
	}
	return resealed, faults, nil
}

// sealedPlace is where a sealed value is.
type sealedPlace struct {
	owner string
	sum   []byte
}

func (s *Store) sealedPlaces(ctx context.Context, list string, head []byte) ([]sealedPlace, error) {
	rows, err := s.pool.Query(ctx, list, pgx.NamedArgs{"head": head})
	if err != nil {
		return nil, failed("list values of old keys", err)
	}
	places, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (at sealedPlace, err error) {
		err = row.Scan(&at.owner, &at.sum)
		return at, err
	})
	return places, failed("list values of old keys", err)
}

// reseal seals one value anew, and reports whether it opened. One that is gone, or was written
// anew meanwhile, needs nothing.
func (s *Store) reseal(ctx context.Context, column sealedColumn, sql resealing, at sealedPlace) (opened bool, err error) {
	args := pgx.NamedArgs{"owner": at.owner, "sum": at.sum}
	var old []byte
	if err := s.pool.QueryRow(ctx, sql.read, args).Scan(&old); err != nil || len(old) == 0 {
		return true, gone(err)
	}
	place := column.context(at.owner, at.sum)
	value, err := s.seal.Open(old, place)
	if err != nil {
		return false, nil
	}
	sealed, err := s.seal.Seal(value, place)
	if err != nil {
		return false, failed("seal a value anew", err)
	}
	args["old"], args["sealed"] = old, sealed
	_, err = s.pool.Exec(ctx, sql.swap, args)
	return true, failed("seal a value anew", err)
}

func gone(err error) error {
	if noRows(err) {
		return nil
	}
	return failed("read a sealed value", err)
}
