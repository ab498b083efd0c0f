package resolve

import (
	"path"
	"regexp"
	"strings"

	"github.com/harvest-engine/harvest/internal/knowledge/manifest"
)

// golang: a module is a package, that is a folder and a package name.
type golang struct{ plainRules }

var goTraits = traits{
	strictOwners:   true,
	strictTypes:    true,
	conversions:    true,
	structural:     true,
	functionValues: true,
	open:           '[',
	shut:           ']',
	prefixes:       []string{"*", "...", "&"},
	builtin: set(`bool string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune float32 float64
		complex64 complex128 error any comparable func struct interface chan map`),
	common: set(`Error String Close Read Write Len Less Swap Reset Unwrap Is As Lock Unlock RLock RUnlock Add Done Wait Get Set Put Name
		Scan Next Err Value Format MarshalJSON UnmarshalJSON Do Load Store Run Start Stop Key Size Seek Flush Copy Clone Init Context
		Type Kind Fatal Fatalf Errorf Log Logf Helper Printf Print Println Equal Compare Sum Write Sub After Before Now Index Bytes`),
}

func (golang) traits(string) traits { return goTraits }

func goModuleKey(dir, pkg string) string { return dir + "\x00" + pkg }

func (golang) module(_ *World, f *file) string { return goModuleKey(f.dir, f.facts.Package) }

func (g golang) bind(w *World, f *file) {
	for _, im := range f.facts.Imports {
		m := g.imported(w, f, im.Target)
		switch {
		case im.Alias == "_" || im.Target == "C":
		case im.Name == "*" || im.Alias == ".":
			if m != nil {
				f.open = append(f.open, m)
			}
		case im.Alias != "":
			f.names[im.Alias] = target{module: m, external: m == nil}
		case m != nil:
			f.names[m.files[0].facts.Package] = target{module: m}
		default:
			for _, name := range guessPackage(im.Target) {
				if _, taken := f.names[name]; !taken {
					f.names[name] = target{external: true}
				}
			}
		}
	}
}

var goVersionPart = regexp.MustCompile(`^v[0-9]+$`)

// guessPackage gives the names that the package of an import path may have.
func guessPackage(target string) []string {
	dir, last := path.Split(target)
	if goVersionPart.MatchString(last) && dir != "" {
		last = path.Base(dir)
	}
	last, _, _ = strings.Cut(last, ".v")
	names := []string{last, strings.ReplaceAll(last, "-", "_")}
	for _, part := range []string{strings.TrimPrefix(last, "go-"), strings.TrimSuffix(last, "-go"), strings.TrimSuffix(last, ".go"), last[strings.LastIndexAny(last, "-.")+1:]} {
		names = append(names, part)
	}
	return names
}

// imported finds the package of an import path: in a vendor folder above, in a module of
// the repository, or in a folder whose path ends so where there is no module.
func (g golang) imported(w *World, f *file, target string) *module {
	if strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") {
		if dir, ok := join(f.dir, target); ok {
			return g.packageIn(w, f, dir)
		}
		return nil
	}
	for dir := f.dir; ; dir = dirOf(dir) {
		if m := g.packageIn(w, f, path.Join(dir, "vendor", target)); m != nil {
			return m
		}
		if dir == "" {
			break
		}
	}
	mods := w.manifests[manifest.GoMod]
	var best *module
	longest := -1
	for _, mod := range mods {
		name := mod.facts.Package
		rest, ok := strings.CutPrefix(target, name)
		if name == "std" { // the standard library calls its packages without its own name
			rest, ok = "/"+target, true
		}
		if !ok || rest != "" && rest[0] != '/' || len(name) <= longest {
			continue
		}
		if m := g.packageIn(w, f, path.Join(mod.dir, strings.TrimPrefix(rest, "/"))); m != nil {
			best, longest = m, len(name)
		}
	}
	if best == nil && len(mods) == 0 {
		return g.bySuffix(w, f, target)
	}
	return best
}

// bySuffix finds the only folder whose path ends as the import path does, by two elements
// or more; of a repository that is part of a larger tree, the folder may be shorter.
func (g golang) bySuffix(w *World, f *file, target string) *module {
	if m := g.packageIn(w, f, target); m != nil {
		return m
	}
	for rest := target; strings.Contains(rest, "/"); {
		_, rest, _ = strings.Cut(rest, "/")
		if m := g.packageIn(w, f, rest); m != nil && strings.Contains(rest, "/") {
			return m
		}
	}
	return nil
}

// packageIn gives the package of a folder that others import: not its tests, and not a
// program among library files.
func (golang) packageIn(w *World, f *file, dir string) *module {
	if dir == "." {
		dir = ""
	}
	var best *module
	for _, m := range f.family.dirs[dir] {
		pkg := m.files[0].facts.Package
		if strings.HasSuffix(pkg, "_test") {
			continue
		}
		if best == nil || len(m.files) > len(best.files) {
			best = m
		}
	}
	return best
}

var goSystems = set(`aix android darwin dragonfly freebsd hurd illumos ios js nacl netbsd openbsd plan9 solaris wasip1 windows zos`)

var goMachines = set(`386 amd64p32 arm armbe arm64 arm64be loong64 mips mips64 mips64le mips64p32 mips64p32le mipsle ppc ppc64
	ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm`)

// rank puts files for linux on amd64 before those for other systems.
func (golang) rank(f *file) int {
	name := strings.TrimSuffix(path.Base(f.path), ".go")
	rank := 0
	if rest, ok := strings.CutSuffix(name, "_test"); ok {
		name, rank = rest, 1
	}
	parts := strings.Split(name, "_")
	for _, part := range parts[1:] {
		if goSystems[part] || goMachines[part] {
			rank += 10
		}
	}
	return rank
}
