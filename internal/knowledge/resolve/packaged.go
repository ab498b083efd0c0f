package resolve

import "strings"

// packaged is languages whose files declare a package or a namespace, which is the module,
// whatever folders it is in: those of the JVM, C# and PHP.
type packaged struct {
	plainRules
	family  string
	parents bool // names of the namespaces around are seen
	by      func(language string) traits
}

var javaTraits = traits{
	implicitThis: true,
	strictTypes:  true,
	constructors: []string{"", "constructor", "<init>", "this"},
	self:         set("this.type"),
	iterator:     "iterator",
	open:         '<',
	shut:         '>',
	prefixes:     []string{"final ", "@Nullable ", "@NonNull ", "? extends ", "? super ", "out ", "in ", "vararg "},
	wrappers:     set("Optional CompletableFuture Future Supplier Provider Lazy Mono Single Maybe AtomicReference ThreadLocal WeakReference Deferred"),
	builtin: set(`int long short byte char float double boolean void String Object Integer Long Double Float Boolean Character Number
		CharSequence Iterable Comparable Runnable Thread Class Exception RuntimeException Throwable Error StringBuilder Math System
		List Map Set Collection ArrayList HashMap HashSet Any Unit Int Nothing Array Seq Option Either Vector func`),
	keeps: set("stream values filter sorted iterator keySet entrySet distinct limit skip parallelStream subList toList reversed"),
	common: set(`get set add put remove size isEmpty contains equals hashCode toString close open read write next hasNext run call apply
		accept test stream map filter collect forEach of from build builder iterator length name value values valueOf ordinal compareTo
		getName getId setName getValue start stop append format println print info debug warn error execute submit invoke clear keySet
		entrySet containsKey create update delete find save load init copy let also reset`),
}

// scalaTraits are those of Scala, whose types have their arguments in square brackets.
var scalaTraits = func() traits {
	t := javaTraits
	t.open, t.shut = '[', ']'
	t.wrappers = set("Option Future Try IO Task Either")
	return t
}()

func jvmTraits(language string) traits {
	if language == "scala" {
		return scalaTraits
	}
	return javaTraits
}

func (p packaged) traits(language string) traits { return p.by(language) }

func (p packaged) module(_ *World, f *file) string {
	if f.facts.Package == "" && p.family == "jvm" {
		return "(folder) " + f.dir
	}
	return dottedName(f.facts.Package)
}

// child finds a package below another; one that only has packages below it stands for them.
func (p packaged) child(w *World, m *module, name string) *module {
	return p.at(w, m.key+"."+name)
}

func (p packaged) at(w *World, key string) *module {
	fam := w.families[p.family]
	if m := fam.modules[key]; m != nil {
		return m
	}
	if fam.packages[key] {
		return &module{key: key}
	}
	return nil
}

// global finds the package that a qualified name begins with.
func (p packaged) global(v *view, f *file, _ *class, name string) target {
	if m := p.at(v.w, name); m != nil {
		return target{module: m}
	}
	if !p.parents {
		return target{}
	}
	for key := f.module.key; key != ""; {
		key = strings.TrimSuffix(strings.TrimSuffix(key, lastOf(key)), ".")
		if m := v.f.family.modules[key]; m != nil {
			if t := v.inModule(m, name, 1); t.found() {
				return t
			}
		}
	}
	return target{}
}

func (p packaged) bind(w *World, f *file) {
	for _, im := range f.facts.Imports {
		if im.Name == "*" {
			if m := p.scope(w, dottedName(im.Target)); m != nil {
				f.open = append(f.open, m)
			}
			continue
		}
		full, local := dottedName(im.Target), im.Alias
		if im.Name != "" {
			full += "." + im.Name
		}
		if local == "" {
			local = lastOf(full)
		}
		f.names[local] = p.named(w, strings.TrimPrefix(full, "."))
	}
}

// named finds what a fully qualified name means: the longest package of the repository that
// it begins with, and the names inside.
func (p packaged) named(w *World, full string) target {
	for i := len(full); i > 0; i = strings.LastIndexByte(full[:i], '.') {
		m := w.families[p.family].modules[full[:i]]
		if m == nil {
			continue
		}
		if i == len(full) {
			return target{module: m}
		}
		rest := full[i+1:]
		for _, f := range m.files {
			if syms := f.nested[rest]; len(syms) > 0 {
				return target{syms: syms}
			}
		}
		return target{later: &handed{m, rest, ""}}
	}
	if p.at(w, full) != nil {
		return target{module: p.at(w, full)}
	}
	return target{external: true}
}

// scope gives the names that a wildcard import opens: those of a package, or the members of
// a type.
func (p packaged) scope(w *World, full string) *module {
	t := p.named(w, full)
	if t.module != nil {
		return t.module
	}
	for _, s := range t.syms {
		if typeLike(s.symbol().Kind) {
			return membersOf(s.file.module, s.symbol().QualifiedName())
		}
	}
	return nil
}

func (packaged) rank(f *file) int {
	if strings.Contains(f.path, "/test/") {
		return 1
	}
	return 0
}
