package resolve

import (
	"path"
	"strings"
)

// python: a module is a file.
type python struct{ plainRules }

var pythonTraits = traits{
	reexports:     true,
	constructors:  []string{"__init__"},
	receiverParam: []string{"self", "cls", "mcs"},
	self:          set("Self"),
	iterator:      "__iter__",
	open:          '[',
	shut:          ']',
	prefixes:      []string{`"`, "'"},
	wrappers:      set("Optional Annotated Final ClassVar Awaitable Coroutine Required NotRequired ReadOnly Type type InitVar"),
	builtin: set(`str int float bool bytes bytearray list dict set tuple frozenset object complex type None Any Callable Iterable Iterator
		Sequence Mapping MutableMapping List Dict Set Tuple Union Generator AsyncIterator AsyncGenerator memoryview range property super
		Exception BaseException ValueError TypeError KeyError IndexError RuntimeError OSError IOError LookupError AttributeError
		NotImplementedError StopIteration ABC Protocol Generic Enum IntEnum StrEnum NamedTuple TypedDict`),
	keeps: set("values items copy keys elements most_common"),
	common: set(`get set add pop append extend insert remove update keys values items copy clear sort index count join split strip
		format replace encode decode read write close open seek flush send recv start stop run wait put lower upper startswith endswith
		find match group search sub connect execute commit rollback fetchone fetchall cursor acquire release result cancel done debug info
		warning error exception critical log setdefault discard union next exists mkdir name load loads dump dumps save delete filter all
		first order_by values_list create exclude setUp tearDown assertEqual`),
}

func (python) traits(string) traits { return pythonTraits }

func (python) module(_ *World, f *file) string { return f.path }

// child finds a module of a package: a file beside its __init__, or a package below.
func (p python) child(w *World, m *module, name string) *module {
	if !strings.HasSuffix(m.key, "/") && !strings.HasPrefix(path.Base(m.key), "__init__.") {
		return nil
	}
	return p.at(w, path.Join(m.dir, name))
}

// dirKey is the key of the module that stands for a folder without __init__.
func dirKey(dir string) string { return dir + "/" }

// at gives the module at a path without extension: a file, a package, or a mere folder.
func (python) at(w *World, p string) *module {
	fam := w.families["python"]
	for _, candidate := range []string{p + ".py", p + "/__init__.py", p + ".pyi", p + "/__init__.pyi"} {
		if m := fam.modules[candidate]; m != nil {
			return m
		}
	}
	if fam.folders[p] {
		return &module{key: dirKey(p), dir: p}
	}
	return nil
}

func (p python) bind(w *World, f *file) {
	for _, im := range f.facts.Imports {
		m := p.imported(w, f, im.Target)
		switch {
		case im.Name == "*":
			if m != nil {
				f.open = append(f.open, m)
			}
		case im.Name == "":
			p.bindModule(w, f, im.Target, im.Alias, m)
		default:
			local := im.Alias
			if local == "" {
				local = im.Name
			}
			if m == nil {
				f.names[local] = target{external: true}
				continue
			}
			f.names[local] = target{later: &handed{m, im.Name, local}}
		}
	}
}

// bindModule binds "import a.b": the name a, or the alias for the whole.
func (p python) bindModule(w *World, f *file, dotted, alias string, m *module) {
	if alias != "" {
		f.names[alias] = target{module: m, external: m == nil}
		return
	}
	first, _, more := strings.Cut(dotted, ".")
	if m == nil || !more {
		f.names[first] = target{module: m, external: m == nil}
		return
	}
	root := m.dir
	if path.Base(m.key) != "__init__.py" && !strings.HasSuffix(m.key, "/") {
		root = strings.TrimSuffix(m.key, path.Ext(m.key))
	}
	for range strings.Count(dotted, ".") {
		root = dirOf(root)
	}
	f.names[first] = target{module: p.at(w, root)}
}

// imported finds a module by its dotted name: relative to the file's package, or below one
// of the folders that Python may be started in.
func (p python) imported(w *World, f *file, dotted string) *module {
	rest := strings.TrimLeft(dotted, ".")
	below := strings.ReplaceAll(rest, ".", "/")
	if dots := len(dotted) - len(rest); dots > 0 {
		dir := f.dir
		for range dots - 1 {
			dir = dirOf(dir)
		}
		return p.at(w, path.Join(dir, below))
	}
	for dir := f.dir; ; dir = dirOf(dir) {
		for _, root := range []string{"", "src", "lib", "python"} {
			// A file does not find itself: "import json" in json.py means another.
			if m := p.at(w, path.Join(dir, root, below)); m != nil && m != f.module && !strings.HasSuffix(m.key, "/") {
				return m
			}
		}
		if dir == "" {
			break
		}
	}
	return p.bySuffix(w, below)
}

// bySuffix finds the only module whose path ends so, of names with two parts or more.
func (p python) bySuffix(w *World, below string) *module {
	if !strings.Contains(below, "/") {
		return nil
	}
	var found *module
	for _, f := range w.families["python"].suffix[path.Base(below)] {
		if strings.HasSuffix(strings.TrimSuffix(f.path, path.Ext(f.path)), "/"+below) {
			if found != nil {
				return nil
			}
			found = f.module
		}
	}
	return found
}
