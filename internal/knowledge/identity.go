package knowledge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
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
	text := make([]byte, 0, 256+96*len(edges))
	text = append(append(append(append(text, path...), 0), blob...), 0)
	text = append(append(text, goView...), 0)
	for i := range edges {
		e := &edges[i]
		text = append(strconv.AppendInt(text, int64(e.From), 10), ' ')
		text = append(strconv.AppendInt(text, int64(e.Line), 10), ' ')
		text = append(append(append(append(text, e.Kind...), ' '), e.How...), ' ')
		text = append(append(append(append(text, e.To.Path...), 0), e.To.Local...), 0)
	}
	sum := sha256.Sum256(text)
	return graph.ResolvedID(r.stamp + hex.EncodeToString(sum[:])[stampLength:])
}

// current reports whether an id was made under the same stamp as this reader's.
func (r *Reader) current(id graph.ResolvedID) bool {
	return strings.HasPrefix(string(id), r.stamp)
}
