package pg

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const (
	maxTextMatches = 200
	maxTextContext = 5
	// textTime bounds one search; what was found by then is given.
	textTime = 15 * time.Second
	// A search holds at most textReaders batches of textBatch bytes of text, and one file more.
	textReaders = 3
	textBatch   = 8 << 20
	// textCap bounds the matches that a search keeps for ranking.
	textCap = 20000
)

// SearchText finds lines in the texts of files. A regular expression gives matches in the
// order of versions (newest first), paths and lines; words give the best matches first. A
// line that several versions hold is given once, from the newest.
func (s *Store) SearchText(ctx context.Context, q graph.TextQuery) (graph.TextPage, error) {
	if q.Limit <= 0 {
		q.Limit = 50
	}
	q.Limit, q.Context = min(q.Limit, maxTextMatches), min(max(q.Context, 0), maxTextContext)
	matcher, err := newMatcher(q)
	if err != nil {
		return graph.TextPage{}, err
	}
	paths, err := graph.Glob(q.PathGlob)
	if err != nil {
		return graph.TextPage{}, err
	}
	timed, cancel := context.WithTimeout(ctx, textTime)
	defer cancel()
	var found []graph.TextMatch
	page := graph.TextPage{}
	err = s.over(ctx, q.Versions, func(chosen []graph.Snapshot) (present bool, err error) {
		found = nil
		texts, present, err := s.textsOf(timed, chosen, paths)
		if err != nil || !present {
			return present, err
		}
		page.Files = len(texts)
		scan := textScan{store: s, matcher: matcher, context: q.Context}
		if q.Regexp {
			scan.enough = q.Limit + 1
		}
		found, err = scan.run(timed, texts)
		return !scan.swept, err
	})
	if errors.Is(timed.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		page.TimedOut, page.Truncated, err = true, true, nil
	}
	if err != nil {
		return graph.TextPage{}, fmt.Errorf("search text: %w", err)
	}
	if !q.Regexp {
		slices.SortStableFunc(found, func(a, b graph.TextMatch) int { return compareScores(b.Score, a.Score) })
	}
	found = onceEach(found, q.Limit+1)
	page.Truncated = page.Truncated || len(found) > q.Limit
	page.Matches = found[:min(len(found), q.Limit)]
	return page, nil
}

func compareScores(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// onceEach drops lines that a newer version of the same file has shown, up to limit.
func onceEach(found []graph.TextMatch, limit int) []graph.TextMatch {
	type line struct{ repo, path, text string }
	shown := map[line]string{}
	kept := found[:0]
	for _, m := range found {
		if len(kept) == limit {
			break
		}
		key := line{m.Repo, m.Path, m.Text}
		if by, seen := shown[key]; seen && by != m.Version {
			continue
		}
		shown[key] = m.Version
		kept = append(kept, m)
	}
	return kept
}

// textFile is a file whose text may be read.
type textFile struct {
	blob int32
	size int64
	ref  graph.FileRef
}

const textsSQL = `
select b.id, b.size, f.path, l.pos
from (
    select vf.file_id, min(u.pos) as pos
    from unnest(@versions::int[]) with ordinality u(id, pos) join version_files vf on vf.version_id = u.id
    group by vf.file_id
) l
join source_files f on f.id = l.file_id
join source_blobs b on b.id = f.blob_id
where b.text is not null
order by l.pos, f.path collate "C"`

// textsOf lists the files of versions whose paths match, each content of a path once, and says
// whether the versions were all listed meanwhile.
func (s *Store) textsOf(ctx context.Context, versions []graph.Snapshot, paths *regexp.Regexp) (texts []textFile, present bool, err error) {
	ids := versionIDs(versions)
	texts, seen, err := whilePresent(ctx, s, "list texts", func(row pgx.CollectableRow) (textFile, error) {
		var f textFile
		var pos int64
		err := row.Scan(&f.blob, &f.size, &f.ref.Path, &pos)
		if err == nil {
			f.ref.Repo, f.ref.Version = versions[pos-1].Repo, versions[pos-1].Tag
		}
		return f, err
	}, ids, textsSQL, pgx.NamedArgs{"versions": ids})
	return slices.DeleteFunc(texts, func(f textFile) bool { return !paths.MatchString(f.ref.Path) }), seen.listed, err
}

// textScan reads files in batches, several at a time, and keeps their matches in order.
type textScan struct {
	store   *Store
	matcher matcher
	context int
	enough  int // matches after which, in order, no more are needed; 0: all

	mu    sync.Mutex
	found [][]graph.TextMatch // by batch; nil while it is being read
	kept  int                 // matches of all batches
	done  bool
	swept bool // a content is gone: its version was swept
}

func (t *textScan) run(ctx context.Context, files []textFile) ([]graph.TextMatch, error) {
	batches := batchesOf(files)
	t.found = make([][]graph.TextMatch, len(batches))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(textReaders)
	for i, batch := range batches {
		if t.finished() || ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			matches, present, err := t.read(ctx, batch)
			t.note(i, matches, present || err != nil)
			return err
		})
	}
	err := group.Wait()
	return slices.Concat(t.found...), err
}

func (t *textScan) finished() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// note keeps the matches of batch i, and sees whether the batches from the first on hold
// enough, or a content was not present any more.
func (t *textScan) note(i int, matches []graph.TextMatch, present bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if matches == nil {
		matches = []graph.TextMatch{}
	}
	t.found[i] = matches
	t.kept += len(matches)
	inOrder := 0
	for _, batch := range t.found {
		if batch == nil {
			break
		}
		inOrder += len(batch)
	}
	t.swept = t.swept || !present
	t.done = t.done || t.swept || t.kept > textCap || t.enough > 0 && inOrder >= t.enough
}

func batchesOf(files []textFile) [][]textFile {
	var batches [][]textFile
	start, size := 0, int64(0)
	for i, f := range files {
		if i > start && (size+f.size > textBatch || i-start >= 500) {
			batches, start, size = append(batches, files[start:i]), i, 0
		}
		size += f.size
	}
	if start < len(files) {
		batches = append(batches, files[start:])
	}
	return batches
}

// read fetches a batch's texts and matches them; it says whether all were present.
func (t *textScan) read(ctx context.Context, batch []textFile) (found []graph.TextMatch, present bool, err error) {
	ids := make([]int32, len(batch))
	for i, f := range batch {
		ids[i] = f.blob
	}
	type row struct {
		ID   int32
		Text []byte
	}
	rows, err := collect(ctx, t.store.pool, "read texts", pgx.RowToStructByPos[row],
		`select id, text from source_blobs where id = any($1)`, ids)
	if err != nil {
		return nil, false, err
	}
	packed := make(map[int32][]byte, len(rows))
	for _, r := range rows {
		packed[r.ID] = r.Text
	}
	for _, f := range batch {
		if ctx.Err() != nil {
			return found, true, ctx.Err()
		}
		there, ok := packed[f.blob]
		if !ok {
			return nil, false, nil
		}
		text, err := decompress(there)
		if err != nil {
			return found, true, domain.Wrap(domain.CodeInternal, err, "the text of %s is damaged", f.ref.Path)
		}
		found = append(found, t.matches(ctx, f, text)...)
	}
	return found, true, nil
}

// matches gives a file's matches with their surroundings.
func (t *textScan) matches(ctx context.Context, f textFile, text []byte) []graph.TextMatch {
	lines := t.matcher.match(ctx, f.ref.Path, text)
	if len(lines) == 0 {
		return nil
	}
	index := indexLines(text)
	found := make([]graph.TextMatch, len(lines))
	for i, l := range lines {
		m := graph.TextMatch{FileRef: f.ref, Line: l.line, Text: index.text(l.line), Score: l.score}
		for n := max(1, l.line-t.context); n < l.line; n++ {
			m.Before = append(m.Before, index.text(n))
		}
		for n := l.line + 1; n <= min(l.line+t.context, index.count()); n++ {
			m.After = append(m.After, index.text(n))
		}
		found[i] = m
	}
	return found
}
