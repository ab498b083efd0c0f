package knowledge

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
	"github.com/harvest-engine/harvest/internal/knowledge/manifest"
)

// A window is what is read, parsed and stored at once: bounded in files and in bytes.
const (
	windowFiles = 256
	windowBytes = 8 << 20
)

// scan reads the files of a version that known does not tell, parses those blobs that are
// not stored yet, and gives the version's files in the order of the entries.
type scan struct {
	reader *Reader
	snap   *snapshot
	known  map[string]graph.VersionFile // by path: what the version before tells
	job    *job
	kept   map[graph.BlobID]*domain.FileFacts // facts that were parsed, as far as there is room
	room   int                                // for references; a symbol counts for four
	// texts are the Go sources of a commit that were parsed, by path, as far as there is room:
	// the type checker need not read them again.
	texts    map[string][]byte
	textRoom int // in bytes
}

// maxKept is how many references of facts are kept in memory: about 100 MB.
const maxKept = 500_000

// maxKeptText is how many bytes of sources are kept in memory.
const maxKeptText = 48 << 20

// item is a file on its way through a scan.
type item struct {
	at   int // place in the version's files
	blob graph.Blob
	kind string // see Reader.blobID
	path string
	data []byte
}

func (s *scan) run(ctx context.Context) ([]graph.VersionFile, error) {
	files := make([]graph.VersionFile, len(s.snap.entries))
	var read []gitrepo.Entry
	var places []int
	var oversized []item
	for i, e := range s.snap.entries {
		if known, ok := s.known[e.Path]; ok {
			files[i] = known
			files[i].Resolved = ""
			s.job.reused(e, files[i])
			continue
		}
		if s.snap.unreadable(e) {
			oversized = append(oversized, s.tooLarge(i, e))
			continue
		}
		read, places = append(read, e), append(places, i)
	}
	windows := make(chan []item, 1)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(windows)
		return s.read(ctx, read, places, windows)
	})
	group.Go(func() error {
		if err := s.store(ctx, oversized, files); err != nil {
			return err
		}
		for window := range windows {
			if err := s.store(ctx, window, files); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return dropGone(files), nil
}

// dropGone leaves out what was no more when it was to be read.
func dropGone(files []graph.VersionFile) []graph.VersionFile {
	kept := files[:0]
	for _, f := range files {
		if f.Path != "" {
			kept = append(kept, f)
		}
	}
	return kept
}

// read reads contents and sends them in windows.
func (s *scan) read(ctx context.Context, entries []gitrepo.Entry, places []int, windows chan<- []item) error {
	var window []item
	size := 0
	send := func() error {
		select {
		case windows <- window:
			window, size = nil, 0
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := s.snap.each(ctx, entries, func(i int, data []byte) error {
		if data == nil {
			return nil
		}
		window = append(window, s.classify(places[i], entries[i], data))
		size += len(data)
		if len(window) == windowFiles || size >= windowBytes {
			return send()
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	return send()
}

// classify names a content's language, or why it is skipped, and identifies it.
func (s *scan) classify(at int, e gitrepo.Entry, data []byte) item {
	it := item{at: at, path: e.Path, data: data}
	language := s.reader.cfg.Extractor.Detect(e.Path, data)
	it.kind = language
	skipped := skipReason(e.Path, data)
	if s.snap.oversized(e) {
		skipped = skippedOversized
	}
	if kind := manifest.Kind(e.Path); kind != "" && skipped == "" {
		it.kind += "+" + kind
	} else if skipped != "" {
		it.kind += "+" + skipped
	}
	it.blob = graph.Blob{ID: s.reader.blobID(it.kind, data), Size: int64(len(data)), Facts: domain.FileFacts{Language: language}}
	if skipped == "" {
		it.blob.Text = data
	}
	return it
}

// tooLarge makes the item of a file that is not read: its identity is that of git where
// there is one.
func (s *scan) tooLarge(at int, e gitrepo.Entry) item {
	language := s.reader.cfg.Extractor.Detect(e.Path, nil)
	it := item{at: at, path: e.Path, kind: language + "+" + skippedOversized}
	id := s.reader.blobID(it.kind, fmt.Appendf(nil, "%s %d", e.OID, e.Size))
	it.blob = graph.Blob{ID: id, Size: e.Size, Facts: domain.FileFacts{Language: language}}
	return it
}

// store parses and stores those blobs of a window that are missing, and fills in files.
func (s *scan) store(ctx context.Context, window []item, files []graph.VersionFile) error {
	if len(window) == 0 {
		return nil
	}
	missing, err := s.missing(ctx, window)
	if err != nil {
		return err
	}
	var fresh []*item
	for i := range window {
		if missing[window[i].blob.ID] {
			delete(missing, window[i].blob.ID) // a content that is there twice is parsed once
			fresh = append(fresh, &window[i])
		}
	}
	if err := s.parse(ctx, fresh); err != nil {
		return err
	}
	s.keep(fresh)
	blobs := make([]graph.Blob, len(fresh))
	parsed := make(map[int]bool, len(fresh))
	for i, it := range fresh {
		blobs[i], parsed[it.at] = it.blob, true
	}
	if len(blobs) > 0 {
		if err := s.reader.cfg.Sources.PutBlobs(ctx, blobs); err != nil {
			return fmt.Errorf("store blobs: %w", err)
		}
	}
	for _, it := range window {
		language, skipped, _ := strings.Cut(it.kind, "+")
		f := graph.VersionFile{Path: it.path, Blob: it.blob.ID, Language: language}
		switch skipped {
		case skippedOversized, skippedBinary, skippedGenerated:
			f.Skipped = skipped
		}
		files[it.at] = f
		s.job.read(it.blob.Size, f.Skipped, parsed[it.at])
	}
	return nil
}

// keep remembers the facts that were just read, within a bound, so that resolution need not
// load them again.
func (s *scan) keep(fresh []*item) {
	for _, it := range fresh {
		s.keepText(it)
		facts := &it.blob.Facts
		if weight := len(facts.References) + 4*len(facts.Symbols); weight <= s.room {
			s.room -= weight
			s.kept[it.blob.ID] = facts
		}
	}
}

// keepText remembers a Go source that the type checker may ask for. Files of a folder are read
// again: that shows whether they have changed meanwhile.
func (s *scan) keepText(it *item) {
	if s.snap.folder != nil || it.blob.Facts.Language != "go" || len(it.data) > s.textRoom || ignoredByGo(it.path) {
		return
	}
	s.textRoom -= len(it.data)
	s.texts[it.path] = it.data
}

func (s *scan) missing(ctx context.Context, window []item) (map[graph.BlobID]bool, error) {
	ids := make([]graph.BlobID, len(window))
	for i := range window {
		ids[i] = window[i].blob.ID
	}
	list, err := s.reader.cfg.Sources.MissingBlobs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look for stored blobs: %w", err)
	}
	missing := make(map[graph.BlobID]bool, len(list))
	for _, id := range list {
		missing[id] = true
	}
	return missing, nil
}

// parse extracts the facts of items with a few workers.
func (s *scan) parse(ctx context.Context, items []*item) error {
	group, ctx := errgroup.WithContext(ctx)
	var lock sync.Mutex
	next := 0
	for range s.reader.cfg.Workers {
		group.Go(func() error {
			for {
				lock.Lock()
				i := next
				next++
				lock.Unlock()
				if i >= len(items) {
					return nil
				}
				if err := s.extract(ctx, items[i]); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// extract reads the facts of one item. A file that can't be parsed is kept as text: one
// odd file must not keep a repository from being read.
func (s *scan) extract(ctx context.Context, it *item) error {
	if it.blob.Text == nil {
		if it.kind == "go+"+skippedGenerated || it.kind == "go+"+skippedOversized && it.data != nil {
			generatedGo(it.data, &it.blob.Facts)
		}
		return nil
	}
	facts, err := s.reader.cfg.Extractor.Extract(ctx, it.path, it.data)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		facts = domain.FileFacts{Language: it.blob.Facts.Language, Errors: 1}
	}
	manifest.Read(manifest.Kind(it.path), it.data, &facts)
	if facts.Language == "go" {
		readGo(it.data, &facts)
	}
	it.blob.Facts = facts
	if !utf8.Valid(it.data) {
		it.blob.Text = bytes.ToValidUTF8(it.data, []byte("\uFFFD"))
	}
	return nil
}
