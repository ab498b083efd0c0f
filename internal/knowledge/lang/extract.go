package lang

import (
	"context"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Extract reads the facts of one file. Of a file whose language has no grammar it gives the
// language's name only.
//
// Text that does not fit its grammar is not an error: the facts count what was stepped
// over. Errors: too_large, unprocessable (the text takes too much work), canceled, and
// internal for a fault of an extractor, which never becomes a panic.
func Extract(ctx context.Context, path string, src []byte) (facts domain.FileFacts, err error) {
	name := Detect(path, src)
	load, ok := grammars[name]
	if !ok {
		return domain.FileFacts{Language: name}, nil
	}
	defer func() {
		if r := recover(); r != nil {
			facts = domain.FileFacts{Language: name, Errors: 1}
			err = domain.Wrap(domain.CodeInternal, fmt.Errorf("%v", r), "reading %s as %s went wrong", path, name)
		}
	}()
	facts, err = walk(ctx, load(), src)
	if err != nil {
		return domain.FileFacts{Language: name, Errors: 1}, fmt.Errorf("parse %s: %w", path, err)
	}
	return facts, nil
}
