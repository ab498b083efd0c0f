package resolve

import (
	"path"
	"strings"

	"github.com/harvest-engine/harvest/internal/knowledge/manifest"
)

// ecma is TypeScript and JavaScript: a module is a file.
type ecma struct{ plainRules }

var ecmaTraits = traits{
	reexports:    true,
	strictTypes:  true,
	constructors: []string{"constructor"},
	self:         set("this"),
	open:         '<',
	shut:         '>',
	prefixes:     []string{"readonly ", "typeof ", "keyof ", "asserts ", "unique ", "abstract "},
	wrappers: set(`Promise PromiseLike Readonly Partial Required NonNullable Awaited DeepPartial Ref ComputedRef MaybeRef Observable
		InstanceType Writable Signal`),
	builtin: set(`string number boolean bigint symbol object any unknown never void null undefined Array ReadonlyArray Map ReadonlyMap
		Set ReadonlySet WeakMap WeakSet Date RegExp Error TypeError RangeError Object Function JSON Math Buffer Uint8Array ArrayBuffer
		Iterable Iterator AsyncIterable Generator Record URL URLSearchParams Headers Request Response FormData Event EventTarget
		AbortController AbortSignal HTMLElement Element Node Document Window func console process window document globalThis`),
	keeps: set("values keys entries filter slice sort concat reverse flat toSorted"),
	common: set(`get set add push pop shift map filter reduce forEach find some every join split slice splice concat includes indexOf keys
		values entries has delete clear then catch finally next done call apply bind toString valueOf toJSON emit on once off close open
		read write end send start stop run test exec match replace trim log error warn info debug append remove update create save load
		sort length resolve reject subscribe unsubscribe dispatch render use listen connect init reset render execute handle parse format
		addEventListener removeEventListener preventDefault describe it expect`),
}

func (ecma) traits(string) traits { return ecmaTraits }

func (ecma) module(_ *World, f *file) string { return f.path }

func (e ecma) bind(w *World, f *file) {
	for _, im := range f.facts.Imports {
		m := e.imported(w, f, im.Target)
		local := im.Alias
		if local == "" {
			local = im.Name
		}
		switch {
		case local == "" || local == "*" && m == nil:
		case local == "*": // export * from
			f.open = append(f.open, m)
		case m == nil:
			f.names[local] = target{external: true}
		case im.Name == "*" || im.Name == "":
			f.names[local] = target{module: m}
		default:
			f.names[local] = target{later: &handed{m, im.Name, local}}
		}
	}
}

// main gives what a module is as a value: its default export.
func (ecma) main(v *view, m *module, _ string) []sym {
	if syms := m.top["default"]; len(syms) > 0 {
		return syms
	}
	return v.handedOn(m, "default", v.hops).syms
}

// imported finds the module that an import names; nil where the repository has none.
func (e ecma) imported(w *World, f *file, target string) *module {
	if strings.HasPrefix(target, ".") {
		if p, ok := join(f.dir, target); ok {
			return e.at(w, p)
		}
		return nil
	}
	if m := e.mapped(w, f, target); m != nil {
		return m
	}
	if m := e.packaged(w, target); m != nil {
		return m
	}
	for _, prefix := range []string{"@/", "~/", "src/"} { // where bundlers map them without a tsconfig
		rest, ok := strings.CutPrefix(target, prefix)
		if !ok {
			continue
		}
		for dir := f.dir; ; dir = dirOf(dir) {
			if m := e.at(w, path.Join(dir, "src", rest)); m != nil {
				return m
			}
			if dir == "" {
				break
			}
		}
	}
	return nil
}

var (
	ecmaEndings = []string{".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"}
	ecmaSwaps   = map[string]string{".js": ".ts", ".jsx": ".tsx", ".mjs": ".mts", ".cjs": ".cts"}
)

// at gives the module at a path as imports write it: with or without its ending, with the
// ending of what it is compiled to, or as a folder with an index.
func (ecma) at(w *World, p string) *module {
	modules := w.families["ecma"].modules
	if m := modules[p]; m != nil {
		return m
	}
	ext := path.Ext(p)
	if swap := ecmaSwaps[ext]; swap != "" {
		base := strings.TrimSuffix(p, ext)
		for _, candidate := range []string{base + swap, base + ".tsx", base + ".d.ts"} {
			if m := modules[candidate]; m != nil {
				return m
			}
		}
	}
	for _, ending := range ecmaEndings {
		if m := modules[p+ending]; m != nil {
			return m
		}
	}
	for _, ending := range ecmaEndings {
		if m := modules[path.Join(p, "index"+ending)]; m != nil {
			return m
		}
	}
	return nil
}

// mapped finds a module by the paths and the base of the nearest tsconfig.
func (e ecma) mapped(w *World, f *file, target string) *module {
	var config *file
	for _, c := range w.manifests[manifest.TSConfig] {
		if (c.dir == "" || f.dir == c.dir || strings.HasPrefix(f.dir, c.dir+"/")) && (config == nil || len(c.dir) > len(config.dir)) {
			config = c
		}
	}
	if config == nil {
		return nil
	}
	for _, alias := range config.facts.Imports {
		before, after, star := strings.Cut(alias.Alias, "*")
		rest, ok := strings.CutPrefix(target, before)
		if !ok || !strings.HasSuffix(rest, after) || !star && rest != "" {
			continue
		}
		p := strings.Replace(alias.Target, "*", strings.TrimSuffix(rest, after), 1)
		if m := e.at(w, path.Join(config.dir, p)); m != nil {
			return m
		}
	}
	if base := config.facts.Package; base != "" {
		return e.at(w, path.Join(config.dir, base, target))
	}
	return nil
}

// packaged finds a module in a package of the repository by the package's name.
func (e ecma) packaged(w *World, target string) *module {
	for _, p := range w.manifests[manifest.NPM] {
		name := p.facts.Package
		rest, ok := strings.CutPrefix(target, name)
		if name == "" || !ok || rest != "" && rest[0] != '/' {
			continue
		}
		if rest != "" {
			for _, dir := range []string{"", "src"} {
				if m := e.at(w, path.Join(p.dir, dir, rest)); m != nil {
					return m
				}
			}
		}
		for _, entry := range p.facts.Imports {
			if entry.Alias != "."+rest {
				continue
			}
			if m := e.at(w, path.Join(p.dir, entry.Target)); m != nil {
				return m
			}
			// What is named is compiled: its source stands in src under the same name.
			if m := e.at(w, path.Join(p.dir, "src", stemOf(entry.Target))); m != nil {
				return m
			}
		}
		if rest == "" {
			for _, guess := range []string{"src/index", "index", "src/main", "lib/index"} {
				if m := e.at(w, path.Join(p.dir, guess)); m != nil {
					return m
				}
			}
		}
	}
	return nil
}
