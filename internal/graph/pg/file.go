package pg

import (
	"bytes"
	"context"
	"encoding/hex"
	"strings"

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
	found, err := answer(ctx, s, func(q querier) ([]row, error) {
		return collect(ctx, q, "read file", pgx.RowToStructByPos[row], fileTextSQL, fileArgs(at))
	}, func(q querier) error {
		return absentFile(ctx, q, at)
	})
	if err != nil {
		return "", 0, err
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
func absentFile(ctx context.Context, q querier, at graph.FileRef) error {
	if err := needVersion(ctx, q, at.Repo, at.Version); err != nil {
		return err
	}
	all, err := listFiles(ctx, q, at.Repo, at.Version)
	if err != nil {
		return err
	}
	var like []graph.VersionFile
	for _, f := range all {
		if len(like) < 5 && strings.EqualFold(graph.Base(f.Path), graph.Base(at.Path)) {
			like = append(like, f)
		}
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
	all, err := answer(ctx, s, func(q querier) ([]graph.VersionFile, error) {
		return listFiles(ctx, q, repo, version)
	}, func(q querier) error {
		return needVersion(ctx, q, repo, version)
	})
	if err != nil {
		return nil, err
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

func listFiles(ctx context.Context, q querier, repo, version string) ([]graph.VersionFile, error) {
	return collect(ctx, q, "list files", scanFile, filesSQL, pgx.NamedArgs{"repo": repo, "tag": version})
}

func scanFile(row pgx.CollectableRow) (graph.VersionFile, error) {
	var f graph.VersionFile
	var blob, resolved []byte
	err := row.Scan(&f.Path, &blob, &resolved, &f.Language, &f.Skipped)
	f.Blob, f.Resolved = graph.BlobID(hex.EncodeToString(blob)), graph.ResolvedID(hex.EncodeToString(resolved))
	return f, err
}
