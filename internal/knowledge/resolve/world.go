package resolve

import (
	"path"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/manifest"
)

// File is what a file shows to others: its path, and its facts with or without references.
type File struct {
	Path  string
	Facts *domain.FileFacts
}

// World is the files of a version as they see each other. It is safe for concurrent use.
type World struct {
	files     []*file // by path
	byPath    map[string]*file
	families  map[string]*family
	manifests map[string][]*file // by kind, then by path
}

// file is a file with what its symbols are called and what its imports mean.
type file struct {
	path, dir string
	facts     *domain.FileFacts
	locals    []string
	family    *family
	module    *module
	top       map[string][]sym  // symbols that belong to no other, by name
	nested    map[string][]sym  // symbols by qualified name
	classes   map[string]*class // types of the file, by dotted name
	names     map[string]target // what imports bind
	open      []*module         // modules all of whose names are seen: wildcard imports
}

// sym is a symbol of a file.
type sym struct {
	file *file
	i    int
}

func (s sym) symbol() *domain.Symbol { return &s.file.facts.Symbols[s.i] }

func (s sym) key() domain.SymbolKey {
	return domain.SymbolKey{Path: s.file.path, Local: s.file.locals[s.i]}
}

// module is a set of files whose top-level names are one scope: a Go package, a Python or
// TypeScript file, a Java package, a namespace.
type module struct {
	key   string
	dir   string
	files []*file
	top   map[string][]sym
}

// family is the languages that see each other's symbols.
type family struct {
	rules     rules
	modules   map[string]*module
	types     map[string][]*class  // by bare name
	methods   map[string][]sym     // symbols that belong to a type, by name
	funcs     map[string][]sym     // top-level functions, by name
	suffix    map[string][]*file   // files by the last element of their path without extension
	dirs      map[string][]*module // by folder
	folders   map[string]bool      // those with files in them or below
	contracts *contracts           // interfaces, where types satisfy them by their methods alone
	givens    map[string][]givenAt // functions given to fields and variables, by the last part of its name
	// packages are the declared packages and those above them, by dotted name.
	packages map[string]bool
	spaces   map[string]*module // the names of all files that declare a package
}

// target is what a name means: symbols, a module, a folder of modules, or something that is
// known to stand outside of the repository.
type target struct {
	syms     []sym
	module   *module
	external bool
	later    *handed // an imported name, looked up when it is asked for
	field    *typed  // a field of the type around
}

// handed is a name that an import takes from a module.
type handed struct {
	module *module
	name   string // dotted where it leads into a type
	alias  string // the name that it is given here
}

func (t target) found() bool { return len(t.syms) > 0 || t.module != nil || t.field != nil }

// Build makes the World of files. Their order does not matter.
func Build(files []File) *World {
	w := &World{byPath: make(map[string]*file, len(files)), families: map[string]*family{}, manifests: map[string][]*file{}}
	for _, f := range files {
		w.add(f)
	}
	slices.SortFunc(w.files, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	for _, list := range w.manifests {
		slices.SortFunc(list, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	}
	for _, f := range w.files {
		w.place(f)
	}
	for _, f := range w.files {
		w.collectClasses(f)
	}
	for _, f := range w.files {
		f.family.rules.bind(w, f)
	}
	for _, f := range w.files {
		w.collectMembers(f)
	}
	for _, f := range w.files {
		w.collectConformances(f)
	}
	return w
}

// LocalNames gives the Local of each symbol of a file, in order; nil for a file whose language
// has no rules. The caller does not change them.
func (w *World) LocalNames(path string) []string {
	if f := w.byPath[path]; f != nil {
		return f.locals
	}
	return nil
}

// add takes a file in: manifests, and files of languages that have rules.
func (w *World) add(in File) {
	f := &file{path: in.Path, dir: dirOf(in.Path), facts: in.Facts}
	if kind := manifest.Kind(in.Path); kind != "" {
		w.manifests[kind] = append(w.manifests[kind], f)
		return
	}
	name, r := rulesOf(in.Facts.Language)
	if r == nil {
		return
	}
	fam := w.families[name]
	if fam == nil {
		fam = &family{
			rules: r, modules: map[string]*module{}, types: map[string][]*class{}, methods: map[string][]sym{},
			funcs: map[string][]sym{}, suffix: map[string][]*file{}, dirs: map[string][]*module{}, folders: map[string]bool{}, givens: map[string][]givenAt{}, contracts: &contracts{}, packages: map[string]bool{}, spaces: map[string]*module{},
		}
		w.families[name] = fam
	}
	f.family = fam
	f.locals = domain.LocalNames(in.Facts.Symbols)
	f.top, f.nested = make(map[string][]sym, len(in.Facts.Symbols)), make(map[string][]sym, len(in.Facts.Symbols))
	f.classes, f.names = map[string]*class{}, map[string]target{}
	w.files = append(w.files, f)
	w.byPath[f.path] = f
}

// spacePrefix begins the keys of the modules that stand for a package of whatever files.
const spacePrefix = "package "

// place puts a file into its module, and its symbols into the tables of names.
func (w *World) place(f *file) {
	fam := f.family
	key := fam.rules.module(w, f)
	m := fam.modules[key]
	if m == nil {
		m = &module{key: key, dir: f.dir, top: map[string][]sym{}}
		fam.modules[key] = m
		fam.dirs[f.dir] = append(fam.dirs[f.dir], m)
		for dir := f.dir; !fam.folders[dir]; dir = dirOf(dir) {
			fam.folders[dir] = true
		}
	}
	pkg := dottedName(f.facts.Package)
	var space *module
	if _, spaced := fam.rules.(cfamily); spaced {
		if space = fam.spaces[pkg]; space == nil {
			space = &module{key: spacePrefix + pkg, top: map[string][]sym{}}
			fam.spaces[pkg] = space
		}
		space.files = append(space.files, f)
	}
	for name := pkg; name != "" && !fam.packages[name]; name = strings.TrimSuffix(strings.TrimSuffix(name, lastOf(name)), ".") {
		fam.packages[name] = true
	}
	m.files = append(m.files, f)
	f.module = m
	stem := stemOf(f.path)
	fam.suffix[stem] = append(fam.suffix[stem], f)
	for i := range f.facts.Givens {
		g := &f.facts.Givens[i]
		fam.givens[lastOf(g.Name)] = append(fam.givens[lastOf(g.Name)], givenAt{f, g})
	}
	w.list(f, space)
}

// list puts the symbols of a file into the tables of names; space is nil for a language
// without namespaces.
func (w *World) list(f *file, space *module) {
	all := make([]sym, len(f.facts.Symbols))
	for i := range f.facts.Symbols {
		s := &f.facts.Symbols[i]
		all[i] = sym{f, i}
		one := all[i : i+1 : i+1] // most names are met once: the tables share this
		name := s.QualifiedName()
		f.nested[name] = joined(f.nested[name], one)
		if s.Receiver != "" {
			continue
		}
		f.top[name] = joined(f.top[name], one)
		f.module.top[name] = joined(f.module.top[name], one)
		if space != nil {
			space.top[name] = joined(space.top[name], one)
		}
		if s.Kind.Function() {
			f.family.funcs[name] = joined(f.family.funcs[name], one)
		}
	}
}

// joined adds to a list; an empty one need not be made for that.
func joined(list, one []sym) []sym {
	if list == nil {
		return one
	}
	return append(list, one...)
}

// dirOf is the folder of a path; "" is the root.
func dirOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

// stemOf is the last element of a path without its extension.
func stemOf(p string) string {
	base := p[strings.LastIndexByte(p, '/')+1:]
	if i := strings.IndexByte(base, '.'); i > 0 {
		return base[:i]
	}
	return base
}

// join joins a folder and a relative path; ok is false where it leads out of the repository.
func join(dir, rel string) (p string, ok bool) {
	p = path.Join(dir, rel)
	if p == "." {
		return "", true
	}
	return p, p != ".." && !strings.HasPrefix(p, "../") && !strings.HasPrefix(p, "/")
}

// distance counts the folders between two: 0 for the same.
func distance(a, b string) int {
	if a == b {
		return 0
	}
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(as) && n < len(bs) && as[n] == bs[n] {
		n++
	}
	return len(as) + len(bs) - 2*n
}
