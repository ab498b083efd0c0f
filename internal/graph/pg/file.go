package pg

import (
	"bytes"
	"context"
	"encoding/hex"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const fileTextSQL = `
select vf.skipped, b.text
from versions v
join repositories r on r.id = v.repo_id
join source_files f on f.repo_id = r.id and f.path = @path
join version_files vf on vf.version_id = v.id and vf.file_id = f.id
join source_blobs b on b.id = f.blob_id
where v.live and r.name = @repo and v.tag = @tag`

// ReadFile gives lines of a file's text and its number of lines. A file whose text is not
// kept is unprocessable.
func (s *Store) ReadFile(ctx context.Context, at graph.FileRef, from, to int) (string, int, error) {
	type row struct {
		Skipped string
		Text    []byte
	}
	found, err := collect(ctx, s.pool, "read file", pgx.RowToStructByPos[row], fileTextSQL, fileArgs(at))
	if err != nil {
		return "", 0, err
	}
	if len(found) == 0 {
		return "", 0, s.absentFile(ctx, at)
	}
	if found[0].Text == nil {
		reason := found[0].Skipped
		if reason == "" {
			reason = "not text"
		}
		return "", 0, domain.Errorf(domain.CodeUnprocessable, "%s is %s: its text is not kept", at.Path, reason)
	}
	raw, err := decompress(found[0].Text)
	if err != nil {
		return "", 0, err
	}
	text, lines := cutLines(raw, from, to)
	return string(text), lines, nil
}

// fileArgs are the named arguments by which statements find a file.
func fileArgs(at graph.FileRef) pgx.NamedArgs {
	return pgx.NamedArgs{"repo": at.Repo, "tag": at.Version, "path": clean(at.Path)}
}

// cutLines gives lines from..to of text, counted from 1, and how many there are.
func cutLines(text []byte, from, to int) ([]byte, int) {
	lines := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		lines++
	}
	if to <= 0 || to > lines {
		to = lines
	}
	from = max(from, 1)
	if from > to {
		return nil, lines
	}
	start := lineStart(text, from)
	return text[start : start+lineStart(text[start:], to-from+2)], lines
}

// lineStart is the offset of line n, from 1, or the end of text.
func lineStart(text []byte, n int) int {
	offset := 0
	for ; n > 1; n-- {
		next := bytes.IndexByte(text[offset:], '\n')
		if next < 0 {
			return len(text)
		}
		offset += next + 1
	}
	return offset
}

// absentFile is the not_found of a path, with files of the same name elsewhere.
func (s *Store) absentFile(ctx context.Context, at graph.FileRef) error {
	if err := s.absent(ctx, at.Repo, at.Version); err != nil {
		return err
	}
	like, err := s.Files(ctx, at.Repo, at.Version, graph.Base(at.Path), 5)
	if err != nil {
		like = nil // the hint is a courtesy
	}
	return graph.NoFile(at, like)
}

const filesSQL = `
select f.path, b.key, r2.key, f.language, vf.skipped
from versions v
join repositories r on r.id = v.repo_id
join version_files vf on vf.version_id = v.id
join source_files f on f.id = vf.file_id
join source_blobs b on b.id = f.blob_id
left join resolutions r2 on r2.id = vf.resolved_id
where v.live and r.name = @repo and v.tag = @tag
order by f.path collate "C"`

// Files lists paths of a version that match a glob ("" for all), up to limit (0: all).
func (s *Store) Files(ctx context.Context, repo, version, glob string, limit int) ([]graph.VersionFile, error) {
	matcher, err := graph.Glob(glob)
	if err != nil {
		return nil, err
	}
	if err := graph.CheckVersion(repo, version); err != nil {
		return nil, err
	}
	all, err := collect(ctx, s.pool, "list files", scanFile, filesSQL, pgx.NamedArgs{"repo": repo, "tag": version})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, s.absent(ctx, repo, version)
	}
	found := make([]graph.VersionFile, 0, min(len(all), 64))
	for _, f := range all {
		if limit > 0 && len(found) == limit {
			break
		}
		if matcher.MatchString(f.Path) {
			found = append(found, f)
		}
	}
	return found, nil
}

func scanFile(row pgx.CollectableRow) (graph.VersionFile, error) {
	var f graph.VersionFile
	var blob, resolved []byte
	err := row.Scan(&f.Path, &blob, &resolved, &f.Language, &f.Skipped)
	f.Blob, f.Resolved = graph.BlobID(hex.EncodeToString(blob)), graph.ResolvedID(hex.EncodeToString(resolved))
	return f, err
}
