package resolve

import "strings"

// java is the languages of the JVM: a module is a package, whatever folders it is in.
type java struct{ plainRules }

var javaTraits = traits{
	implicitThis: true,
	strictTypes:  true,
	constructors: []string{"", "constructor", "<init>", "this"},
	self:         set("this.type"),
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

func (java) traits(language string) traits {
	if language == "scala" {
		return scalaTraits
	}
	return javaTraits
}

func (java) module(_ *World, f *file) string {
	if f.facts.Package == "" {
		return "(folder) " + f.dir
	}
	return f.facts.Package
}

// child finds a package below another; one that only has packages below it stands for them.
func (java) child(w *World, m *module, name string) *module {
	return javaPackage(w, m.key+"."+name)
}

func javaPackage(w *World, key string) *module {
	fam := w.families["jvm"]
	if m := fam.modules[key]; m != nil {
		return m
	}
	if fam.packages[key] {
		return &module{key: key}
	}
	return nil
}

// global finds the package that a qualified name begins with.
func (java) global(v *view, _ *file, _ *class, name string) target {
	return target{module: javaPackage(v.w, name)}
}

func (j java) bind(w *World, f *file) {
	for _, im := range f.facts.Imports {
		if im.Name == "*" {
			if m := j.scope(w, im.Target); m != nil {
				f.open = append(f.open, m)
			}
			continue
		}
		full, local := im.Target, im.Alias
		if im.Name != "" {
			full += "." + im.Name
		}
		if local == "" {
			local = lastOf(full)
		}
		f.names[local] = j.named(w, full)
	}
}

// named finds what a fully qualified name means: the longest package of the repository that
// it begins with, and the names inside.
func (java) named(w *World, full string) target {
	for i := len(full); i > 0; i = strings.LastIndexByte(full[:i], '.') {
		m := w.families["jvm"].modules[full[:i]]
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
	return target{external: true}
}

// scope gives the names that a wildcard import opens: those of a package, or the members of
// a type.
func (j java) scope(w *World, full string) *module {
	t := j.named(w, full)
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

func (java) rank(f *file) int {
	if strings.Contains(f.path, "/test/") {
		return 1
	}
	return 0
}
