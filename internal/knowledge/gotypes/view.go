package gotypes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/build"
	"go/build/constraint"
	"slices"
	"strings"
)

// View is a hash of all that checking a file of the package looks at besides the file: the
// surfaces of the package's files, and the views of the packages of the repository that it
// imports. It is "" for a package that is not checked.
func (p *Program) View(pkg *Package) string {
	if pkg.view != "" || p.cyclic(pkg) {
		return pkg.view
	}
	h := sha256.New()
	for _, s := range append(slices.Clone(pkg.around), pkg.sources...) {
		_, _ = fmt.Fprintf(h, "%s\x00%s\n", s.Path, s.Surface)
	}
	for _, dep := range p.imports(pkg) {
		_, _ = fmt.Fprintf(h, "%s\x00%s\n", dep.Dir, p.View(dep))
	}
	pkg.view = hex.EncodeToString(h.Sum(nil)[:16])
	return pkg.view
}

// closure gives the packages that a package imports, directly or not, in a fixed order; with
// itself where it is in a cycle.
func (p *Program) closure(pkg *Package) []*Package {
	if known, ok := p.closures[pkg]; ok {
		return known
	}
	seen := map[*Package]bool{}
	queue := p.imports(pkg)
	var all []*Package
	for i := 0; i < len(queue); i++ {
		if seen[queue[i]] {
			continue
		}
		seen[queue[i]] = true
		all = append(all, queue[i])
		queue = append(queue, p.imports(queue[i])...)
	}
	slices.SortFunc(all, func(a, b *Package) int { return strings.Compare(a.Files[0], b.Files[0]) })
	p.closures[pkg] = all
	return all
}

// below gives the packages of the repository that a package sees, directly or not, in a fixed
// order: what is behind a cycle is not seen.
func (p *Program) below(pkg *Package) []*Package {
	seen := map[*Package]bool{}
	queue := []*Package{pkg}
	var all []*Package
	for i := 0; i < len(queue); i++ {
		for _, dep := range p.imports(queue[i]) {
			if !seen[dep] && !p.cyclic(dep) {
				seen[dep] = true
				all, queue = append(all, dep), append(queue, dep)
			}
		}
	}
	slices.SortFunc(all, func(a, b *Package) int { return strings.Compare(a.Files[0], b.Files[0]) })
	return all
}

// cyclic reports whether a package imports itself, which does not compile: what a check
// would say then depends on where it begins, so there is none.
func (p *Program) cyclic(pkg *Package) bool { return slices.Contains(p.closure(pkg), pkg) }

var systems = words(`aix android darwin dragonfly freebsd hurd illumos ios js nacl netbsd openbsd plan9 solaris wasip1 windows zos linux`)

var machines = words(`386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mips64 mips64le mips64p32 mips64p32le mipsle ppc ppc64
	ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm`)

func words(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}

// matches reports whether a file belongs to a build for linux on amd64 with cgo, by its name
// and the expression of its go:build line.
func matches(name, expression string) bool {
	if strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") || !nameMatches(name) {
		return false
	}
	if expression == "" {
		return true
	}
	expr, err := constraint.Parse("//go:build " + expression)
	return err == nil && expr.Eval(tagHolds)
}

// nameMatches judges the endings _GOOS, _GOARCH and _GOOS_GOARCH.
func nameMatches(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".go"), "_test")
	_, name, ok := strings.Cut(name, "_") // a file may be called linux.go
	if !ok {
		return true
	}
	parts := strings.Split(name, "_")
	last := parts[len(parts)-1]
	if machines[last] {
		if len(parts) > 1 && systems[parts[len(parts)-2]] {
			return last == "amd64" && parts[len(parts)-2] == "linux"
		}
		return last == "amd64"
	}
	return !systems[last] || last == "linux"
}

func tagHolds(tag string) bool {
	switch tag {
	case "linux", "amd64", "unix", "gc", "cgo":
		return true
	}
	return slices.Contains(build.Default.ReleaseTags, tag) || slices.Contains(build.Default.ToolTags, tag)
}
