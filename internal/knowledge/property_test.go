package knowledge_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge"
	"github.com/harvest-engine/harvest/internal/knowledge/knowledgetest"
)

// TestIncrementalEqualsClean holds that after any series of edits a reading that builds on
// the versions before gives what a reading from nothing gives, node for node and edge for
// edge: of commits, and of the folder with uncommitted changes.
func TestIncrementalEqualsClean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t, rt)
		defer os.RemoveAll(m.repo.dir)
		memory := knowledgetest.NewMemory()
		m.grown, m.name, m.reader = memory, "r", newReader(t, memory, knowledgeOptions{})
		m.run(5)
	})
}

// machine is a repository under edits.
type machine struct {
	t      *rapid.T
	repo   checkout
	files  map[string]string
	name   string // of the repository
	grown  held
	reader *knowledge.Reader // into grown
}

// held is where versions are kept that build on one another.
type held interface {
	Nodes(repo, tag string) []string
	Edges(repo, tag string) []string
}

func newMachine(t *testing.T, rt *rapid.T) *machine {
	dir, err := os.MkdirTemp("", "harvest-property-")
	if err != nil {
		rt.Fatal(err)
	}
	return &machine{t: rt, repo: checkout{t, dir}, files: map[string]string{}}
}

// run edits and compares in a few rounds.
func (m *machine) run(rounds int) {
	// Most series are of a plain folder: each command of git costs more than a reading.
	tracked := rapid.IntRange(0, 7).Draw(m.t, "tracked") == 0
	if tracked {
		m.repo.git("init", "--quiet", "--initial-branch=main")
	}
	m.put("go.mod", "module example.com/r\n")
	m.put("r/Cargo.toml", "[package]\nname = \"r\"\n")
	for _, name := range []string{"x/x.go", "x/use.go", "y/y.go", "z/z_linux.go", "p/m.py", "p/__init__.py", "t/a.ts", "t/b.ts", "r/src/a.rs", "r/src/b.rs"} {
		m.put(name, m.drawSource(name))
	}
	m.compare(tracked)
	for range rapid.IntRange(1, rounds).Draw(m.t, "rounds") {
		for range rapid.IntRange(1, 4).Draw(m.t, "edits") {
			m.edit()
		}
		m.compare(tracked && rapid.Bool().Draw(m.t, "commit"))
	}
}

// compare reads the repository again, and from nothing, and compares.
func (m *machine) compare(commit bool) {
	ref := domain.VersionRef{Tag: domain.WorktreeVersion}
	if commit {
		m.repo.commit()
		ref = domain.VersionRef{Tag: "main", Commit: m.repo.git("rev-parse", "HEAD")}
	}
	clean := knowledgetest.NewMemory()
	repo := domain.Repository{Name: m.name, URL: m.repo.dir}
	for _, reader := range []*knowledge.Reader{m.reader, newReader(m.repo.t, clean, knowledgeOptions{})} {
		if _, err := reader.Ingest(m.repo.t.Context(), repo, ref, nil); err != nil {
			m.t.Fatal(err)
		}
	}
	for what, of := range map[string]func(held) []string{
		"nodes": func(h held) []string { return h.Nodes(m.name, ref.Tag) },
		"edges": func(h held) []string { return h.Edges(m.name, ref.Tag) },
	} {
		if got, want := of(m.grown), of(clean); !slices.Equal(got, want) {
			m.t.Fatalf("%s differ\n%s\nclean\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// edit writes, changes, moves or deletes a file. Small changes are the most frequent: what a
// reading may overlook is a change of one name.
func (m *machine) edit() {
	names := slices.Sorted(maps.Keys(m.files))
	kind := rapid.SampledFrom([]string{"write", "write", "name", "name", "name", "body", "move", "delete"}).Draw(m.t, "kind")
	if len(names) == 0 {
		kind = "write"
	}
	switch kind {
	case "write":
		name := m.drawPath()
		m.put(name, m.drawSource(name))
	case "name":
		name := rapid.SampledFrom(names).Draw(m.t, "file")
		m.put(name, m.swapName(m.files[name]))
	case "body":
		name := rapid.SampledFrom(names).Draw(m.t, "file")
		m.put(name, strings.Replace(m.files[name], "{ ", "{\n\tanother(); ", rapid.IntRange(1, 2).Draw(m.t, "bodies")))
	case "move":
		from, to := rapid.SampledFrom(names).Draw(m.t, "from"), m.drawPath()
		text := m.files[from]
		m.remove(from)
		m.put(to, text)
	case "delete":
		m.remove(rapid.SampledFrom(names).Draw(m.t, "file"))
	}
}

func (m *machine) put(name, text string) {
	m.files[name] = text
	m.repo.write(map[string]string{name: text})
}

func (m *machine) remove(name string) {
	delete(m.files, name)
	if err := os.Remove(filepath.Join(m.repo.dir, name)); err != nil {
		m.t.Fatal(err)
	}
}

var anyName = regexp.MustCompile(`\b[A-C]\b|\b(?:Run|Stop)\b`)

// swapName puts another name in one place of a text.
func (m *machine) swapName(text string) string {
	places := anyName.FindAllStringIndex(text, -1)
	if len(places) == 0 {
		return text
	}
	at := rapid.SampledFrom(places).Draw(m.t, "place")
	names := []string{"A", "B", "C"}
	if at[1]-at[0] > 1 {
		names = []string{"Run", "Stop"}
	}
	return text[:at[0]] + rapid.SampledFrom(names).Draw(m.t, "name") + text[at[1]:]
}

func (m *machine) drawPath() string {
	return rapid.SampledFrom([]string{
		"a.go", "x/x.go", "x/use.go", "x/x_test.go", "y/y.go", "y/more.go", "z/z_linux.go", "z/z_windows.go", "y/go.mod",
		"p/__init__.py", "p/m.py", "p/n.py", "t/a.ts", "t/b.ts", "t/index.ts", "r/src/a.rs", "r/src/b.rs", "README.md", "x/gen.go",
	}).Draw(m.t, "path")
}

// drawSource makes a source out of few names, so that files meet. Now and then it is one
// that does not parse where it is.
func (m *machine) drawSource(path string) string {
	class := func(label string) string { return rapid.SampledFrom([]string{"A", "B", "C"}).Draw(m.t, label) }
	method := func(label string) string { return rapid.SampledFrom([]string{"Run", "Stop"}).Draw(m.t, label) }
	ext := filepath.Ext(path)
	if rapid.IntRange(0, 9).Draw(m.t, "odd") == 0 {
		ext = rapid.SampledFrom([]string{".go", ".py", ".ts", ".rs", ".md"}).Draw(m.t, "language")
	}
	switch ext {
	case ".go":
		if strings.HasSuffix(path, "gen.go") {
			return fmt.Sprintf("// Code generated by a test. DO NOT EDIT.\n\npackage x\n\nfunc generated() *%s { return nil }\n", class("result"))
		}
		return m.drawGo(path)
	case ".py":
		return fmt.Sprintf("from .%s import %s\n\nclass %s(%s):\n    def __init__(self):\n        self.f = %s()\n\n    def %s(self):\n        return self.f.%s()\n\ndef use(b: %s):\n    b.f.%s()\n",
			rapid.SampledFrom([]string{"m", "n", ""}).Draw(m.t, "module"), class("import"), class("class"), class("base"), class("made"), method("method"), method("call"), class("parameter"), method("far"))
	case ".ts":
		return fmt.Sprintf("import D, { %s } from \"./%s\";\nexport * from \"./b\";\n\nexport class %s<T> extends %s {\n  f = new %s();\n  %s(): T { this.f.%s(); this.%s(); }\n}\n\nfunction use(b: %s<D>, d: D) { b.f.%s(); b.%s().%s(); d.%s(); }\n\nexport default %s;\n",
			class("import"), rapid.SampledFrom([]string{"a", "b", "index"}).Draw(m.t, "module"), class("class"), class("base"), class("made"), method("method"), method("call"), method("own"), class("parameter"), method("far"),
			method("generic"), method("given"), method("default"), class("exported"))
	case ".rs":
		return fmt.Sprintf("use crate::%s::*;\n\npub struct %s;\n\npub trait %s {\n    fn %s(&self);\n}\n\nimpl %s for %s {\n    fn %s(&self) { self.%s(); }\n}\n\nfn call(x: &%s) { x.%s(); }\n",
			rapid.SampledFrom([]string{"a", "b"}).Draw(m.t, "module"), class("struct"), class("trait"), method("declared"), class("base"), class("type"), method("method"), method("own"), class("parameter"), method("call"))
	case ".mod":
		return "module example.com/r/" + rapid.SampledFrom([]string{"y", "w"}).Draw(m.t, "module") + "\n"
	}
	return rapid.StringN(0, 20, 40).Draw(m.t, "text")
}

// drawGo makes a source of a package that imports the next one: a imports x, x imports y,
// and y imports z. What a call means may hang on a declaration two packages away.
func (m *machine) drawGo(path string) string {
	class := func(label string) string { return rapid.SampledFrom([]string{"A", "B"}).Draw(m.t, label) }
	method := func(label string) string { return rapid.SampledFrom([]string{"Run", "Stop"}).Draw(m.t, label) }
	pkg := filepath.Base(filepath.Dir(path))
	next, ok := map[string]string{".": "x", "x": "y", "y": "z"}[pkg]
	head, o := "package "+strings.ReplaceAll(pkg, ".", "main")+"\n\n", ""
	if ok {
		head, o = head+"import o \"example.com/r/"+next+"\"\n\n", "o."
	}
	if base := filepath.Base(path); base != pkg+".go" && base != "z_linux.go" {
		return head + fmt.Sprintf("func Use%s(b *%s%s, i I) { b.G().%s(); b.G().G().%s(); i.%s(); generated().%s(); %sV(); b.G() }\n\nfunc set(b *%s%s) { %sV = (*%s).%s; b.G = %sMake }\n",
			strings.ToUpper(base[:1]), o, class("parameter"), method("near"), method("far"), method("dynamic"), method("generated"), o, o, class("owner"), o, class("given"), method("value"), o)
	}
	for _, t := range []string{"A", "B"} {
		head += fmt.Sprintf("type %s struct {\n\tf *%s\n\tG func() *%s%s\n}\n\nfunc (t *%s) %s() { t.f.%s(); t.G().%s() }\n\n",
			t, class("field"), o, class("made"), t, method("method"), method("call"), method("dynamic"))
	}
	return head + fmt.Sprintf("type I interface{ %s() }\n\nfunc (t *A) Extra() *%s { return nil }\n\nvar V = (*%s).%s\n\nfunc Make() *A { return &A{G: Make} }\n", method("contract"), class("result"), class("first"), method("value"))
}
