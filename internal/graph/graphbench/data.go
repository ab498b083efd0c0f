package graphbench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const (
	repoName = "graph-benchmark"
	version  = "v1"
	perFile  = 50
)

// data is a generated graph.
type data struct {
	files []graph.ResolvedFile
	nodes []node
	edges []edge
}

// node is a symbol with its place; its id is its position.
type node struct {
	domain.Symbol
	path, local string
}

// edge is a call between nodes.
type edge struct{ src, dst, line int }

// Words of which names are made: as in real code they come back again and again.
var (
	verbs = strings.Fields("parse load store read write open close start stop make build check find list send fetch apply merge split encode decode render resolve publish cancel retry")
	nouns = strings.Fields("config file node edge graph token stream buffer request response header session worker queue event index cursor batch schema record version symbol path cache client server policy budget message answer")
	tails = strings.Fields("handler manager reader writer builder option result error state context factory visitor adapter limiter")
)

// generate makes a graph that is the same for the same size: a sixth of the symbols are
// structs, three of ten calls stay in their file, and the others go where others go already.
func generate(size Size) data {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	var d data
	for i := range size.Symbols {
		s := domain.Symbol{Kind: domain.KindFunction, StartLine: 1 + (i%perFile)*8, EndLine: 6 + (i%perFile)*8, Exported: i%3 > 0}
		s.Name = pick(verbs) + title(pick(nouns)) + title(pick(tails)) + fmt.Sprintf("%x", random.IntN(4096))
		if i%6 == 0 {
			s.Kind, s.Name = domain.KindStruct, title(pick(nouns))+title(pick(tails))+fmt.Sprintf("%x", random.IntN(4096))
		}
		if s.Exported {
			s.Name = title(s.Name)
		}
		s.Signature = "func " + s.Name + "(ctx context.Context, input Input) (Output, error)"
		n := i / perFile
		d.nodes = append(d.nodes, node{Symbol: s, path: fmt.Sprintf("module%02d/package%03d/file%05d.go", n%40, n%400, n)})
	}
	for i := range size.Edges {
		src := i % size.Symbols
		dst := int(random.Float64() * random.Float64() * float64(size.Symbols)) // skewed: some are called by many
		if random.IntN(10) < 3 {
			dst = src/perFile*perFile + random.IntN(perFile)
		}
		d.edges = append(d.edges, edge{src: src, dst: min(dst, size.Symbols-1), line: d.nodes[src].StartLine + 1 + i/size.Symbols})
	}
	d.place()
	return d
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// place puts nodes and edges into files.
func (d *data) place() {
	for start := 0; start < len(d.nodes); start += perFile {
		end := min(start+perFile, len(d.nodes))
		symbols := make([]domain.Symbol, 0, perFile)
		for _, n := range d.nodes[start:end] {
			symbols = append(symbols, n.Symbol)
		}
		for i, local := range domain.LocalNames(symbols) {
			d.nodes[start+i].local = local
		}
		path := d.nodes[start].path
		d.files = append(d.files, graph.ResolvedFile{ID: graph.ResolvedID(hashOf("resolved", path)), Path: path,
			Blob: graph.BlobID(hashOf("blob", path)), Facts: &domain.FileFacts{Language: "go", Symbols: symbols}})
	}
	for _, e := range d.edges {
		f := &d.files[e.src/perFile]
		to := d.nodes[e.dst]
		f.Edges = append(f.Edges, domain.Edge{From: e.src % perFile, To: domain.SymbolKey{Path: to.path, Local: to.local},
			Kind: domain.EdgeCalls, Line: e.line, How: domain.HowScoped})
	}
}

func hashOf(what, path string) string {
	sum := sha256.Sum256([]byte(what + "\x00" + path))
	return hex.EncodeToString(sum[:])
}

// load brings the graph in as ingestion does.
func load(ctx context.Context, stores Stores, d data) error {
	if _, err := stores.Sources.SaveRepository(ctx, domain.Repository{Name: repoName}); err != nil {
		return err
	}
	loader, err := stores.Backend.Stage(ctx, graph.VersionSpec{Repo: repoName, Tag: version})
	if err != nil {
		return err
	}
	var listed []graph.VersionFile
	const batch = 200
	for start := 0; start < len(d.files); start += batch {
		files := d.files[start:min(start+batch, len(d.files))]
		var blobs []graph.Blob
		for _, f := range files {
			blobs = append(blobs, graph.Blob{ID: f.Blob, Text: []byte(f.Path + "\n"), Size: int64(len(f.Path)) + 1, Facts: *f.Facts})
			listed = append(listed, graph.VersionFile{Path: f.Path, Blob: f.Blob, Resolved: f.ID, Language: "go"})
		}
		if err := stores.Sources.PutBlobs(ctx, blobs); err != nil {
			return err
		}
		if err := loader.Put(ctx, files); err != nil {
			return err
		}
	}
	_, err = loader.Publish(ctx, listed, func(context.Context, []graph.ResolvedID) ([]graph.ResolvedFile, error) {
		return nil, fmt.Errorf("every file was put already")
	})
	return err
}
