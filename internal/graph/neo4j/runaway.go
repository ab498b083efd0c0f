package neo4j

import (
	"context"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The server ends a query between rows. One that loops inside of a single expression, over a
// long list or in a regular expression, goes on after it was ended, and nothing but a restart
// stops it. No look at its text tells all of these from others. So they are counted: while
// some of them run, no further query by hand does, whichever process ended them.

// maxRunaways is how many ended queries may keep the server busy.
const maxRunaways = 2

// byHandMark is in the metadata of queries by hand, by which the server lists them.
const byHandMark = "harvest_by_hand"

var byHand = neo4j.WithTxMetadata(map[string]any{byHandMark: true})

const runawaysCypher = `
SHOW TRANSACTIONS YIELD metaData, status WHERE metaData.` + byHandMark + ` AND status STARTS WITH 'Terminated'
RETURN count(*) AS n`

// mayRun refuses a query by hand while too many that were ended keep the server busy.
func mayRun(ctx context.Context, session neo4j.SessionWithContext) error {
	n, err := runaways(ctx, session)
	if err != nil {
		return refused(err)
	}
	if n >= maxRunaways {
		return domain.Errorf(domain.CodeUnprocessable,
			"%d queries that took too long keep the Neo4j server busy, though they were ended; until they are gone, use the other tools", n)
	}
	return nil
}

// runaways counts the queries by hand that run on although they were ended.
func runaways(ctx context.Context, session neo4j.SessionWithContext) (int, error) {
	counts, err := rows(ctx, auto{session}, func(r *neo4j.Record) int64 { return field[int64](r, "n") }, runawaysCypher, nil)
	if err != nil || len(counts) == 0 {
		return 0, err
	}
	return int(counts[0]), nil
}
