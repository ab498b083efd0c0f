package lang_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/lang"
)

var update = flag.Bool("update", false, "rewrite the goldens under testdata from what Extract gives")

// TestGoldens compares every symbol, base, import and reference of the samples. The
// goldens were read against the samples line by line: a difference is a mistake, or an
// improvement that needs the same reading.
func TestGoldens(t *testing.T) {
	t.Parallel()
	samples, err := filepath.Glob("testdata/*/sample.*")
	if err != nil || len(samples) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, sample := range samples {
		if strings.HasSuffix(sample, ".golden") {
			continue
		}
		t.Run(filepath.Base(filepath.Dir(sample)), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(sample)
			if err != nil {
				t.Fatal(err)
			}
			if lines := strings.Count(string(src), "\n"); lines < 150 {
				t.Errorf("%s has %d lines: too few to show the language", sample, lines)
			}
			facts, err := lang.Extract(t.Context(), sample, src)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, filepath.Join(filepath.Dir(sample), "sample.golden"), render(facts))
		})
	}
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", golden, diff)
	}
}

// render writes facts for people: one line for each symbol, field, base and import, and
// the references below the symbol that makes them.
func render(f domain.FileFacts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "language %s\npackage %q\nerrors %d\n\n", f.Language, f.Package, f.Errors)
	for _, i := range f.Imports {
		fmt.Fprintf(&b, "import %d: %s", i.Line, strconv.Quote(i.Target))
		note(&b, " name ", i.Name)
		note(&b, " as ", i.Alias)
		b.WriteByte('\n')
	}
	for _, c := range f.Conformances {
		fmt.Fprintf(&b, "%s %s: %s (%d)\n", c.Base.Kind, c.Type, c.Base.Name, c.Base.Line)
	}
	for _, e := range f.Exports {
		fmt.Fprintf(&b, "export %s as %s\n", e.Name, e.As)
	}
	for _, g := range f.Givens {
		fmt.Fprintf(&b, "given %s.%s: %s\n", g.Owner, g.Name, g.Value)
	}
	b.WriteString("\nat file level\n")
	renderReferences(&b, f, -1)
	names := domain.LocalNames(f.Symbols)
	for i, s := range f.Symbols {
		fmt.Fprintf(&b, "\n%s %s  %d-%d", s.Kind, names[i], s.StartLine, s.EndLine)
		if s.Exported {
			b.WriteString(" exported")
		}
		note(&b, "\n  | ", s.Signature)
		note(&b, "\n  type ", s.Type)
		note(&b, "\n  doc ", strings.ReplaceAll(s.Doc, "\n", "⏎"))
		for _, base := range s.Bases {
			fmt.Fprintf(&b, "\n  %s %s (%d)", base.Kind, base.Name, base.Line)
		}
		for _, field := range s.Fields {
			fmt.Fprintf(&b, "\n  field %s: %s", field.Name, field.Type)
		}
		b.WriteByte('\n')
		renderReferences(&b, f, i)
	}
	return b.String()
}

func renderReferences(b *strings.Builder, f domain.FileFacts, from int) {
	for _, r := range f.References {
		if r.From != from {
			continue
		}
		fmt.Fprintf(b, "  %d: %s ", r.Line, r.Kind)
		if r.Receiver != "" {
			b.WriteString("<" + r.Receiver + ">.")
		}
		b.WriteString(r.Name)
		if r.Kind == domain.EdgeCalls {
			fmt.Fprintf(b, "/%d", r.Args)
		}
		note(b, " on ", r.RecvType)
		if r.Local {
			b.WriteString(" local")
		}
		b.WriteByte('\n')
	}
}

func note(b *strings.Builder, label, value string) {
	if value != "" {
		b.WriteString(label + value)
	}
}
