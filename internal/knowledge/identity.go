package knowledge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/knowledge/gotypes"
	"github.com/harvest-engine/harvest/internal/knowledge/manifest"
	"github.com/harvest-engine/harvest/internal/knowledge/resolve"
)

// blobID identifies a content read in one way. kind is the language, with the kind of
// manifest or the reason of skipping after "+" where there is one.
func (r *Reader) blobID(kind string, data []byte) graph.BlobID {
	h := sha256.New()
	_, _ = io.WriteString(h, "blob "+kind+"\x00"+r.cfg.Extractor.Version+"."+manifest.Version+surfaceVersion+"\x00")
	_, _ = h.Write(data)
	return graph.BlobID(hex.EncodeToString(h.Sum(nil)))
}

// surfaceVersion changes when surfaces are made otherwise than before.
const surfaceVersion = ".2"

// stampLength is the number of hex digits of a stamp.
const stampLength = 8

// stampOf is a short hash of what every file's identity and edges depend on: the rules that
// read and resolve, the limit of size, and Go's standard library.
func stampOf(cfg Config) string {
	release := ""
	if cfg.GOROOT != "" {
		text, _ := os.ReadFile(filepath.Join(cfg.GOROOT, "VERSION")) // none: a checkout of its own
		release = "go " + string(text)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%d\x00%s\x00%t",
		cfg.Extractor.Version, manifest.Version+surfaceVersion, resolve.Version, gotypes.Version(), cfg.MaxSize, release, cfg.NamesOnly))
	return hex.EncodeToString(sum[:])[:stampLength]
}

// resolvedID identifies a file's edges: the stamp, then a hash of the path, the blob, the
// edges that follow from the repository's declarations, and what Go's type checker would
// see ("" where it has no say). Edges of a file are a function of these.
func (r *Reader) resolvedID(path string, blob graph.BlobID, edges []domain.Edge, goView string) graph.ResolvedID {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\x00%s\x00%s\x00", path, blob, goView)
	for _, e := range edges {
		_, _ = fmt.Fprintf(h, "%d %d %s %s %s\x00%s\x00", e.From, e.Line, e.Kind, e.How, e.To.Path, e.To.Local)
	}
	return graph.ResolvedID(r.stamp + hex.EncodeToString(h.Sum(nil))[stampLength:])
}

// current reports whether an id was made under the same stamp as this reader's.
func (r *Reader) current(id graph.ResolvedID) bool {
	return strings.HasPrefix(string(id), r.stamp)
}
