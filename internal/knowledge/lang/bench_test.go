package lang_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	grammargo "github.com/tree-sitter/tree-sitter-go/bindings/go"

	"github.com/harvest-engine/harvest/internal/knowledge/lang"
	"github.com/harvest-engine/harvest/internal/knowledge/lang/syntax"
)

// The two benchmarks read the same files: extraction is judged by its share of the
// throughput of parsing alone.

func BenchmarkExtract(b *testing.B) {
	perFile(b, func(ctx context.Context, path string, src []byte) error {
		_, err := lang.Extract(ctx, path, src)
		return err
	})
}

func BenchmarkParse(b *testing.B) {
	language := syntax.NewLanguage(grammargo.Language())
	perFile(b, func(ctx context.Context, _ string, src []byte) error { return language.Bare(ctx, src) })
}

func perFile(b *testing.B, read func(ctx context.Context, path string, src []byte) error) {
	b.Helper()
	files, size := standardLibrary(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for path, src := range files {
			if err := read(context.Background(), path, src); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// standardLibrary loads the Go files of net, go and encoding.
func standardLibrary(b *testing.B) (map[string][]byte, int64) {
	b.Helper()
	files, size := map[string][]byte{}, int64(0)
	for _, dir := range []string{"net", "go", "encoding"} {
		root := filepath.Join(runtime.GOROOT(), "src", dir)
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.Contains(path, "testdata") {
				return err
			}
			src, err := os.ReadFile(path)
			files[path], size = src, size+int64(len(src))
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return files, size
}
