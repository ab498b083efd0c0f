package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlKeepDocument = statement("keep a document's text", `
insert into document_texts (owner, sha256, pages, cut, problem, body)
select @owner, @sha256, @pages, @cut, @problem, @body
where exists (select from large_values where owner = @owner and sha256 = @sha256)
on conflict do nothing`)

	sqlDocument = statement("read a document's text", `
select pages, cut, problem, body from document_texts where owner = @owner and sha256 = @sha256`)

	sqlDocumentProblems = statement("list documents without a text", `
select sha256, problem from document_texts where owner = @owner and sha256 = any(@sums::bytea[]) and problem <> ''`)
)

// KeepDocument stores what was read of a document that is attached in a turn's conversation,
// once.
func (s *Store) KeepDocument(ctx context.Context, turn domain.Turn, document []byte, text domain.DocumentText) error {
	sum := sha256.Sum256(document)
	var sealed []byte
	if text.Text != "" {
		var err error
		if sealed, err = s.seal.Seal(codec().EncodeAll([]byte(text.Text), nil), textContext(sum[:])); err != nil {
			return fmt.Errorf("seal a document's text: %w", err)
		}
	}
	_, err := s.pool.Exec(ctx, sqlKeepDocument, pgx.NamedArgs{
		"owner": feedOf(turn.ProjectID, turn.UserID), "sha256": sum[:], "pages": text.Pages, "cut": text.Cut, "problem": string(text.Problem),
		"body": append([]byte{}, sealed...),
	})
	return failed("keep a document's text", err)
}

// textContext binds a sealed text to its document.
func textContext(sum []byte) []byte { return append([]byte("text of "), sum...) }

// document gives what was read of a document, or nil.
func (s *Store) document(ctx context.Context, owner string, sum []byte) (*domain.DocumentText, error) {
	var text domain.DocumentText
	var sealed []byte
	err := s.pool.QueryRow(ctx, sqlDocument, pgx.NamedArgs{"owner": owner, "sha256": sum}).Scan(&text.Pages, &text.Cut, &text.Problem, &sealed)
	if noRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, failed("read a document's text", err)
	}
	if len(sealed) == 0 {
		return &text, nil
	}
	packed, err := s.seal.Open(sealed, textContext(sum))
	if err != nil {
		return nil, fmt.Errorf("open a document's text: %w", err)
	}
	body, err := codec().DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack a document's text: %w", err)
	}
	text.Text = string(body)
	return &text, nil
}

// noteProblems tells of those files what kept their text from being read.
func (s *Store) noteProblems(ctx context.Context, owner string, entries []storedEntry) error {
	var sums [][]byte
	for _, e := range entries {
		for _, f := range e.files {
			if f.MimeType == domain.PDFType {
				sums = append(sums, f.ref.SHA256)
			}
		}
	}
	if len(sums) == 0 {
		return nil
	}
	rows, err := s.pool.Query(ctx, sqlDocumentProblems, pgx.NamedArgs{"owner": owner, "sums": sums})
	if err != nil {
		return failed("list documents without a text", err)
	}
	var sum []byte
	var problem domain.DocumentProblem
	_, err = pgx.ForEachRow(rows, []any{&sum, &problem}, func() error {
		for _, e := range entries {
			for i := range e.files {
				if f := &e.files[i]; slices.Equal(f.ref.SHA256, sum) {
					f.Note = problem.Note(f.Name)
				}
			}
		}
		return nil
	})
	return failed("list documents without a text", err)
}
