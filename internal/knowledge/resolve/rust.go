package resolve

import (
	"path"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/manifest"
)

// rust: a module is a file by its path below the root of its crate.
type rust struct{ plainRules }

var rustTraits = traits{
	declaresModules: true,
	reexports:       true,
	strictTypes:     true,
	closed:          true,
	extensions:      true,
	receiverParam:   []string{"self"},
	self:            set("Self"),
	open:            '<',
	shut:            '>',
	prefixes:        []string{"&", "*const ", "*mut ", "mut ", "dyn ", "impl ", "ref ", "'_ ", "'static ", "'a ", "'b "},
	wrappers: set(`Box Rc Arc Option Result Ref RefMut Mutex RwLock MutexGuard RwLockReadGuard RwLockWriteGuard Cow Pin Cell RefCell
		OnceCell OnceLock Lazy LazyLock ManuallyDrop Weak NonNull`),
	builtin: set(`u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char str String Vec HashMap HashSet BTreeMap BTreeSet
		VecDeque func Duration Instant PathBuf Path OsString Debug Clone Copy Default PartialEq Eq Hash Ord PartialOrd Send Sync Iterator
		Into From Display Error Fn FnMut FnOnce`),
	through: set(`unwrap expect ok ok_or ok_or_else unwrap_or unwrap_or_default unwrap_or_else clone cloned copied as_ref as_mut borrow
		borrow_mut lock read write to_owned into_inner map_err context with_context deref deref_mut or or_else take filter`),
	keeps: set("iter iter_mut into_iter values values_mut drain filter rev skip take chain enumerate make_contiguous as_mut_slice cloned copied peekable as_slice to_vec entry"),
	common: set(`new default from into clone len is_empty iter push pop insert get remove contains unwrap expect map and_then fmt drop next
		collect lock read write send recv as_str to_string as_ref borrow`),
}

func (rust) traits(string) traits { return rustTraits }

// module gives "CRATE::a::b"; the roots of a library and of its program are one module.
func (rust) module(w *World, f *file) string {
	crate := rustCrate(w, f.path)
	rest := strings.TrimSuffix(strings.TrimPrefix(f.path, crate), ".rs")
	rest = strings.TrimPrefix(rest, "/")
	if below, ok := strings.CutPrefix(rest, "src/bin/"); ok {
		return crate + "#bin/" + strings.TrimSuffix(below, "/main")
	}
	below, ok := strings.CutPrefix(rest, "src/")
	if !ok {
		// Tests, examples and benches are a crate each; modules beside them belong to them.
		return crate + "#" + strings.TrimSuffix(strings.ReplaceAll(rest, "/", "::"), "::main")
	}
	key := crate
	for part := range strings.SplitSeq(below, "/") {
		if part != "lib" && part != "main" && part != "mod" || part == "mod" && key == crate {
			key += "::" + part
		}
	}
	return key
}

// rustCrate gives the folder of the crate that a path belongs to: that of the nearest
// manifest above, else the one that holds src.
func rustCrate(w *World, p string) string {
	best, found := "", false
	for _, m := range w.manifests[manifest.Cargo] {
		if m.facts.Package != "" && (m.dir == "" || strings.HasPrefix(p, m.dir+"/")) && (!found || len(m.dir) > len(best)) {
			best, found = m.dir, true
		}
	}
	if found {
		return best
	}
	if i := strings.LastIndex("/"+p, "/src/"); i > 0 {
		return p[:i-1]
	}
	return ""
}

// child finds a module below another; the modules of a test or an example stand beside it.
func (rust) child(w *World, m *module, name string) *module {
	modules := w.families["rust"].modules
	if below := modules[m.key+"::"+name]; below != nil {
		return below
	}
	if i := strings.LastIndex(m.key, "::"); i >= 0 && strings.Contains(m.key, "#") {
		return modules[m.key[:i]+"::"+name]
	}
	return nil
}

// global knows the names that paths begin with, and the crates of the workspace.
func (r rust) global(v *view, f *file, in *class, name string) target {
	switch name {
	case "crate":
		return target{module: r.root(v.w, f)}
	case "self":
		return target{module: f.module}
	case "super":
		if in != nil && in.kind() == domain.KindModule { // written in the file, whose module is around it
			return target{module: f.module}
		}
		return target{module: r.parent(v.w, f.module)}
	}
	if m := r.crateNamed(v.w, name); m != nil {
		return target{module: m}
	}
	return target{external: rustExternal[name]}
}

var rustExternal = set("std core alloc")

func (rust) root(w *World, f *file) *module {
	key, below, _ := strings.Cut(f.module.key, "::")
	if strings.Contains(key, "#") { // each test is a crate
		first, _, _ := strings.Cut(below, "::")
		key += "::" + first
	}
	return w.families["rust"].modules[key]
}

func (rust) parent(w *World, m *module) *module {
	i := strings.LastIndex(m.key, "::")
	if i < 0 {
		return nil
	}
	return w.families["rust"].modules[m.key[:i]]
}

// crateNamed gives the root of a crate of the repository.
func (rust) crateNamed(w *World, name string) *module {
	for _, m := range w.manifests[manifest.Cargo] {
		if m.facts.Package == name {
			return w.families["rust"].modules[m.dir]
		}
	}
	return nil
}

func (r rust) bind(w *World, f *file) {
	for _, im := range f.facts.Imports {
		from, rest := r.start(w, f, im)
		local := im.Alias
		if local == "" {
			local = im.Name
		}
		if local == "" {
			local = lastPart(im.Target)
		}
		if from == nil {
			if local != "*" && local != "_" {
				f.names[local] = target{external: true}
			}
			continue
		}
		for len(rest) > 0 {
			below := r.child(w, from, rest[0])
			if below == nil {
				break
			}
			from, rest = below, rest[1:]
		}
		switch {
		case im.Name == "*" && len(rest) == 0:
			f.open = append(f.open, from)
		case im.Name == "*":
			f.open = append(f.open, membersOf(from, strings.Join(rest, ".")))
		case im.Name == "self" || im.Name == "":
			f.names[local] = target{module: from}
			if len(rest) > 0 {
				f.names[local] = target{later: &handed{from, strings.Join(rest, "."), local}}
			}
		default:
			f.names[local] = target{later: &handed{from, strings.Join(append(rest, im.Name), "."), local}}
		}
	}
}

// start gives the module that the path of an import begins in, and the rest of the path.
func (r rust) start(w *World, f *file, im domain.Import) (from *module, rest []string) {
	rest = strings.Split(strings.TrimPrefix(im.Target, "::"), "::")
	from = f.module
	inline := f.inlineDepth(im.Line)
	for i := 0; len(rest) > 0; i++ {
		switch rest[0] {
		case "crate":
			from = r.root(w, f)
		case "self":
		case "super":
			if inline > 0 { // the file's own module is around the one in which the import stands
				inline--
			} else if from = r.parent(w, from); from == nil {
				return nil, nil
			}
		default:
			if i > 0 {
				return from, rest
			}
			if m := r.child(w, f.module, rest[0]); m != nil {
				return m, rest[1:]
			}
			if len(f.module.top[rest[0]]) > 0 {
				return from, rest
			}
			return r.crateNamed(w, rest[0]), rest[1:]
		}
		rest = rest[1:]
	}
	return from, rest
}

// inlineDepth counts the modules written in the file that a line stands in.
func (f *file) inlineDepth(line int) int {
	depth := 0
	for i := range f.facts.Symbols {
		if s := &f.facts.Symbols[i]; s.Kind == domain.KindModule && s.StartLine <= line && line <= s.EndLine && s.EndLine > s.StartLine {
			depth++
		}
	}
	return depth
}

// membersOf makes the names inside a type a scope, for imports of all of them.
func membersOf(m *module, name string) *module {
	inside := &module{key: m.key + "::" + name, dir: m.dir, top: map[string][]sym{}}
	for _, f := range m.files {
		for i := range f.facts.Symbols {
			if s := &f.facts.Symbols[i]; s.Receiver == name {
				inside.top[s.Name] = append(inside.top[s.Name], sym{f, i})
			}
		}
	}
	return inside
}

func (rust) rank(f *file) int {
	if strings.HasPrefix(path.Base(f.dir), "test") {
		return 1
	}
	return 0
}
