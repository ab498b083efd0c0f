package pdftext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	wasm "github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	// readLimit bounds the reading of a file, once the reader stands.
	readLimit = 20 * time.Second
	// memoryPages bound what the sandbox may take, at 64 KiB each: 256 MiB.
	memoryPages = 4096
	maxPages    = 500
	maxText     = 1 << 20 // bytes of text that are kept
)

// Serve is the work of the child process: it reads a file from in and writes its text to out,
// as the JSON of a domain.DocumentText. The compiled reader is kept in the folder cache, ""
// for nowhere.
func Serve(in io.Reader, out io.Writer, cache string) error {
	time.AfterFunc(childLimit, func() { os.Exit(1) }) // also when whoever started us is gone
	data, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return fmt.Errorf("take the file: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pool, err := sandbox(ctx, cache)
	if err != nil {
		return fmt.Errorf("set the sandbox up: %w", err)
	}
	defer pool.Close()
	instance, err := pool.GetInstance(childLimit)
	if err != nil {
		return fmt.Errorf("start PDFium: %w", err)
	}
	defer time.AfterFunc(readLimit, cancel).Stop()
	text := read(instance, data)
	if ctx.Err() != nil {
		text = domain.DocumentText{Pages: text.Pages, Problem: domain.DocumentSlow}
	}
	return json.NewEncoder(out).Encode(text)
}

// sandbox makes a runtime that holds PDFium, and nothing of this machine.
func sandbox(ctx context.Context, cache string) (pdfium.Pool, error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(wasm.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithCloseOnContextDone(true).
		WithMemoryLimitPages(memoryPages)
	if cache != "" {
		if kept, err := wazero.NewCompilationCacheWithDir(cache); err == nil { // else it is compiled each time
			config = config.WithCompilationCache(kept)
		}
	}
	return webassembly.Init(webassembly.Config{
		Context: ctx, RuntimeConfig: config, FSConfig: wazero.NewFSConfig(), MaxIdle: 1, MaxTotal: 1, Stdout: io.Discard, Stderr: io.Discard,
	})
}

// read reads an open file's pages as far as the limits go.
func read(instance pdfium.Pdfium, data []byte) domain.DocumentText {
	opened, err := instance.OpenDocument(&requests.OpenDocument{File: &data})
	if err != nil {
		return domain.DocumentText{Problem: problemOf(err)}
	}
	counted, err := instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	if err != nil || counted.PageCount == 0 {
		return domain.DocumentText{Problem: domain.DocumentBroken}
	}
	document := domain.DocumentText{Pages: counted.PageCount}
	var text strings.Builder
	said := false
	for i := range min(counted.PageCount, maxPages) {
		page, err := pageText(instance, opened.Document, i)
		if err != nil {
			return domain.DocumentText{Pages: document.Pages, Problem: domain.DocumentBroken}
		}
		said = said || strings.TrimSpace(page) != ""
		room := max(0, maxText-text.Len())
		document.Cut = len(page) > room
		fmt.Fprintf(&text, "[page %d]\n%s\n\n", i+1, strings.TrimSpace(strings.ToValidUTF8(page[:min(room, len(page))], "")))
		if document.Cut {
			break
		}
	}
	switch {
	case !said:
		document.Problem = domain.DocumentPictures
		return document
	case document.Cut || document.Pages > maxPages:
		document.Cut = true
		fmt.Fprintf(&text, "[cut: the document has %d pages, more than are given here]\n", document.Pages)
	}
	document.Text = strings.TrimSpace(text.String())
	return document
}

// marks are what PDFium puts into text for the ends of lines and for hyphens there.
var marks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x02", "-", "\ufffe", "-")

func pageText(instance pdfium.Pdfium, document references.FPDF_DOCUMENT, i int) (string, error) {
	page, err := instance.GetPageText(&requests.GetPageText{
		Page: requests.Page{ByIndex: &requests.PageByIndex{Document: document, Index: i}},
	})
	if err != nil {
		return "", err
	}
	return domain.CleanText(marks.Replace(page.Text)), nil
}

func problemOf(err error) domain.DocumentProblem {
	if errors.Is(err, pdferrors.ErrPassword) || errors.Is(err, pdferrors.ErrSecurity) {
		return domain.DocumentEncrypted
	}
	return domain.DocumentBroken
}
