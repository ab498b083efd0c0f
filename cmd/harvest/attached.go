package main

import (
	"net/http"
	"os"
	"path/filepath"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// maxAttached is how much a question's files may have together, in bytes; the server says more.
const maxAttached = 30 << 20

// attached reads the files that go with a question.
func attached(names []string) ([]client.File, error) {
	var files []client.File
	room := int64(maxAttached)
	for _, name := range names {
		at, err := os.Stat(name)
		if err != nil {
			return nil, fileFault(name, err)
		}
		if !at.Mode().IsRegular() {
			return nil, domain.Errorf(domain.CodeInvalid, "%s is no file", name)
		}
		if room -= at.Size(); room < 0 {
			return nil, domain.Errorf(domain.CodeTooLarge, "the attached files are larger than %d MiB together", maxAttached>>20)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fileFault(name, err)
		}
		if len(data) == 0 {
			return nil, domain.Errorf(domain.CodeInvalid, "the file %s is empty", name)
		}
		files = append(files, client.File{Name: filepath.Base(name), MimeType: http.DetectContentType(data), Data: data})
	}
	return files, nil
}
