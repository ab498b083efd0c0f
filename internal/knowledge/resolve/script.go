package resolve

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// script is languages whose files name other files: a module is a file.
type script struct {
	plainRules
	family   string
	language traits
	endings  []string // what a name may be followed by in a path
}

var bashTraits = traits{reexports: true, uniqueFuncs: true, open: '<', shut: '>', common: set("main usage log die error info warn help run")}

var luaTraits = traits{
	reexports: true, strictTypes: true, constructors: []string{"new", "__init", "init"}, self: set("self"), open: '<', shut: '>',
	builtin: set("string table math io os coroutine debug utf8 package number boolean nil any"),
	common:  set("new get set add remove insert update draw init run start stop close open read write find call on emit name size length"),
}

var zigTraits = traits{
	strictTypes: true, closed: true, self: set("Self @This()"), open: '(', shut: ')',
	receiverParam: []string{"self"},
	prefixes:      []string{"*", "?", "const ", "!", "anyerror!", "[]", "[*]", "comptime "},
	builtin:       set("u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 bool void anytype type noreturn anyerror comptime_int std"),
}

func (s script) traits(string) traits { return s.language }

func (script) module(_ *World, f *file) string { return f.path }

func (s script) bind(w *World, f *file) {
	for _, im := range f.facts.Imports {
		m := s.named(w, f, im.Target)
		local := im.Alias
		if local == "" {
			local = im.Name
		}
		switch {
		case m == nil && local != "":
			f.names[local] = target{external: true}
		case m == nil:
		case local == "":
			f.open = append(f.open, m)
		case im.Name != "":
			f.names[local] = target{later: &handed{m, im.Name, local}}
		default:
			f.names[local] = target{module: m}
		}
	}
}

// named finds the file that an import names: beside the file, from the root, or the only one
// whose path ends so. Variables at the beginning of a path stand for any folder.
func (s script) named(w *World, f *file, name string) *module {
	if i := strings.LastIndexAny(name, "})"); i >= 0 {
		name = name[i+1:]
	}
	if strings.HasPrefix(name, "$") {
		_, name, _ = strings.Cut(name, "/")
	}
	name = strings.TrimPrefix(name, "/")
	if s.family == "lua" {
		name = strings.ReplaceAll(name, ".", "/")
	}
	modules := w.families[s.family].modules
	for _, ending := range s.endings {
		for _, dir := range []string{f.dir, "", "lua", "src"} {
			if p, ok := join(dir, name+ending); ok && modules[p] != nil && modules[p] != f.module {
				return modules[p]
			}
		}
	}
	var only *module
	for _, ending := range s.endings {
		p := path.Clean(name + ending)
		for _, other := range f.family.suffix[stemOf(p)] {
			if strings.HasSuffix("/"+other.path, "/"+strings.TrimLeft(p, "./")) && other != f {
				if only != nil && only != other.module {
					return nil
				}
				only = other.module
			}
		}
	}
	return only
}

// main gives the table that a Lua file returns: the only type it defines, or the one of its
// name.
func (s script) main(_ *view, m *module, _ string) []sym {
	var found []sym
	for _, f := range m.files {
		for _, name := range slices.Sorted(maps.Keys(f.classes)) {
			c := f.classes[name]
			if len(c.syms) == 0 {
				continue
			}
			if plainWord(name) == plainWord(stemOf(f.path)) {
				return c.syms
			}
			found = append(found, c.syms...)
		}
	}
	if len(found) == 1 {
		return found
	}
	return nil
}

// hcl: a module is a folder; blocks are named by their address.
type hcl struct{ plainRules }

var hclTraits = traits{usesSymbols: true, strictTypes: true, open: '(', shut: ')'}

func (hcl) traits(string) traits { return hclTraits }

func (hcl) module(_ *World, f *file) string { return f.dir }

func (hcl) bind(*World, *file) {}

// plainWord writes a name as both file names and identifiers have it: userStore, user-store.
func plainWord(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(name))
}
