package pg

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"runtime"
	"sort"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// A blob that is asked for is about to be used, so for an hour it is kept from the sweep of
// superseded versions. The time is written at most every ten minutes.
const (
	missingBlobsSQL = `select b.key from unnest($1::bytea[]) n(key) join source_blobs b using (key) where b.facts_type = $2`
	touchBlobsSQL   = `
update source_blobs b set seen_at = now() from unnest($1::bytea[]) n(key)
where b.key = n.key and b.seen_at < now() - interval '10 minutes'`
)

// MissingBlobs gives those of ids that are not stored yet, in their order.
func (s *Store) MissingBlobs(ctx context.Context, ids []graph.BlobID) ([]graph.BlobID, error) {
	keys, err := hashList("blob", ids)
	if err != nil {
		return nil, err
	}
	stored, err := collect(ctx, s.pool, "look for blobs", pgx.RowTo[[]byte], missingBlobsSQL, keys, factsType)
	if err != nil {
		return nil, err
	}
	if _, err := s.pool.Exec(ctx, touchBlobsSQL, keys); err != nil {
		return nil, fault(fmt.Errorf("keep blobs: %w", err))
	}
	return notStored(ids, keys, stored), nil
}

// notStored gives the ids whose keys are not among stored.
func notStored[T any](ids []T, keys, stored [][]byte) []T {
	has := make(map[string]bool, len(stored))
	for _, key := range stored {
		has[string(key)] = true
	}
	var missing []T
	for i, id := range ids {
		if !has[string(keys[i])] {
			missing = append(missing, id)
		}
	}
	return missing
}

const putBlobsSQL = `
insert into source_blobs (key, size, facts_type, outline, details, text)
select * from unnest(@keys::bytea[], @sizes::bigint[], @types::bigint[], @outlines::bytea[], @details::bytea[], @texts::bytea[])
on conflict (key) do update set facts_type = excluded.facts_type, outline = excluded.outline, details = excluded.details,
    seen_at = now()
where source_blobs.facts_type <> excluded.facts_type`

// PutBlobs stores blobs; one that is there already is left alone.
func (s *Store) PutBlobs(ctx context.Context, blobs []graph.Blob) error {
	packed, err := packBlobs(ctx, blobs)
	if err != nil {
		return err
	}
	columns := make(map[string]any, 6)
	keys, sizes, types := make([][]byte, 0, len(packed)), make([]int64, 0, len(packed)), make([]int64, 0, len(packed))
	outlines, details, texts := make([][]byte, 0, len(packed)), make([][]byte, 0, len(packed)), make([][]byte, 0, len(packed))
	for i, b := range packed {
		if i > 0 && bytes.Equal(b.key, packed[i-1].key) {
			continue
		}
		keys, sizes, types = append(keys, b.key), append(sizes, b.size), append(types, factsType)
		outlines, details, texts = append(outlines, b.outline), append(details, b.details), append(texts, b.text)
	}
	columns["keys"], columns["sizes"], columns["types"] = keys, sizes, types
	columns["outlines"], columns["details"], columns["texts"] = outlines, details, texts
	if _, err := s.pool.Exec(ctx, putBlobsSQL, pgx.NamedArgs(columns)); err != nil {
		return fault(fmt.Errorf("store blobs: %w", err))
	}
	return nil
}

type packedBlob struct {
	key, outline, details, text []byte
	size                        int64
}

// packBlobs compresses blobs in parallel, and orders them by key: concurrent loads that
// store the same blobs then wait for each other instead of running into a deadlock.
func packBlobs(ctx context.Context, blobs []graph.Blob) ([]packedBlob, error) {
	packed := make([]packedBlob, len(blobs))
	group, _ := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, b := range blobs {
		group.Go(func() error {
			key, err := hashBytes("blob", string(b.ID))
			if err != nil {
				return err
			}
			p := packedBlob{key: key, size: b.Size}
			p.outline, p.details = splitFacts(b.Facts)
			if b.Text != nil {
				p.text = compress(b.Text)
			}
			packed[i] = p
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	sort.Slice(packed, func(i, j int) bool { return bytes.Compare(packed[i].key, packed[j].key) < 0 })
	return packed, nil
}

const (
	factsSQL    = `select b.key, b.outline, b.details from unnest($1::bytea[]) n(key) join source_blobs b using (key) where b.facts_type = $2`
	outlinesSQL = `select b.key, b.outline, null::bytea from unnest($1::bytea[]) n(key) join source_blobs b using (key) where b.facts_type = $2`
)

// Facts loads the facts of blobs; unknown ids are absent from the map.
func (s *Store) Facts(ctx context.Context, ids []graph.BlobID) (map[graph.BlobID]*domain.FileFacts, error) {
	return s.loadFacts(ctx, factsSQL, ids)
}

// Outlines loads facts without references and doc texts.
func (s *Store) Outlines(ctx context.Context, ids []graph.BlobID) (map[graph.BlobID]*domain.FileFacts, error) {
	return s.loadFacts(ctx, outlinesSQL, ids)
}

func (s *Store) loadFacts(ctx context.Context, sql string, ids []graph.BlobID) (map[graph.BlobID]*domain.FileFacts, error) {
	const batch = 1000 // bounds what is held compressed beside the result
	facts := make(map[graph.BlobID]*domain.FileFacts, len(ids))
	for len(ids) > 0 {
		n := min(batch, len(ids))
		if err := s.loadFactsBatch(ctx, sql, ids[:n], facts); err != nil {
			return nil, err
		}
		ids = ids[n:]
	}
	return facts, nil
}

func (s *Store) loadFactsBatch(ctx context.Context, sql string, ids []graph.BlobID, into map[graph.BlobID]*domain.FileFacts) error {
	keys, err := hashList("blob", ids)
	if err != nil {
		return err
	}
	byKey := make(map[string]graph.BlobID, len(ids))
	for i, key := range keys {
		byKey[string(key)] = ids[i]
	}
	type row struct{ Key, Outline, Details []byte }
	rows, err := collect(ctx, s.pool, "load facts", pgx.RowToStructByPos[row], sql, keys, factsType)
	if err != nil {
		return err
	}
	decoded := make([]*domain.FileFacts, len(rows))
	group, _ := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, r := range rows {
		group.Go(func() (err error) {
			decoded[i], err = joinFacts(r.Outline, r.Details)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("load facts: %w", err)
	}
	for i, r := range rows {
		into[byKey[string(r.Key)]] = decoded[i]
	}
	return nil
}

// Texts loads the stored texts of blobs; those without one are absent from the map.
func (s *Store) Texts(ctx context.Context, ids []graph.BlobID) (map[graph.BlobID][]byte, error) {
	keys, err := hashList("blob", ids)
	if err != nil {
		return nil, err
	}
	type row struct{ Key, Text []byte }
	rows, err := collect(ctx, s.pool, "load texts", pgx.RowToStructByPos[row],
		`select key, text from source_blobs where key = any($1) and text is not null`, keys)
	if err != nil {
		return nil, err
	}
	texts := make(map[graph.BlobID][]byte, len(rows))
	for _, r := range rows {
		if texts[graph.BlobID(hex.EncodeToString(r.Key))], err = decompress(r.Text); err != nil {
			return nil, fmt.Errorf("load texts: %w", err)
		}
	}
	return texts, nil
}
