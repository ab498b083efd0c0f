package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

var sqlCutBlocks = statement("cut blocks of a call", "with"+guardCall+`,
cut as (
    update events e set payload = b.payload::json
    from guard, unnest(@seqs::bigint[], @payloads::text[]) b(seq, payload)
    where e.subject_id = guard.id and e.call_id = guard.call_id and e.subject_seq = b.seq
)
select count(*) from guard`)

// CutBlocks gives blocks that a call has closed other texts: what they began with. Readers who
// have more of them must be told to drop it. It is superseded where a later attempt has
// claimed the call.
func (s *Store) CutBlocks(ctx context.Context, claim domain.CallClaim, blocks []domain.ClosedBlock) error {
	seqs, payloads := make([]int64, len(blocks)), make([]string, len(blocks))
	for i, b := range blocks {
		seqs[i], payloads[i] = b.Seq, string(live.TextPayload(clean(b.Text)))
	}
	var held int
	err := s.pool.QueryRow(ctx, sqlCutBlocks, pgx.NamedArgs{
		"subject": claim.TurnID, "call": claim.CallID, "attempt": claim.Attempt, "seqs": seqs, "payloads": payloads,
	}).Scan(&held)
	switch {
	case err != nil:
		return failed("cut blocks of call "+claim.CallID, err)
	case held == 0:
		return refused("cut blocks of call " + claim.CallID)
	}
	return nil
}
