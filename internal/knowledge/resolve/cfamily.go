package resolve

import (
	"path"
	"strings"
)

// cfamily is C and C++: a module is a file. It sees what it includes, and what is defined in
// the sources that belong to the headers it includes.
type cfamily struct{ plainRules }

var cTraits = traits{
	reexports:    true, // a header hands on what it includes
	implicitThis: true,
	uniqueFuncs:  true,
	declarations: true,
	constructors: []string{""},
	open:         '<',
	shut:         '>',
	prefixes: []string{"const ", "volatile ", "static ", "struct ", "class ", "enum ", "union ", "typename ", "register ", "inline ",
		"constexpr ", "mutable ", "unsigned ", "signed ", "::"},
	wrappers: set("unique_ptr shared_ptr weak_ptr optional reference_wrapper atomic future Ref Ptr"),
	builtin: set(`int char short long float double void bool auto size_t ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t
		uint64_t intptr_t uintptr_t FILE string vector map set unordered_map unordered_set pair tuple function ostream istream
		string_view array list deque func`),
	common: set(`size begin end push_back emplace_back insert erase find clear empty get reset data front back swap count at open close read
		write init free run start stop main print update render draw lock unlock wait notify_one notify_all str c_str length substr append
		push pop top resize reserve first second value has_value load store malloc calloc realloc memcpy memset printf fprintf sprintf
		snprintf strlen strcmp strcpy exit abort assert`),
}

func (cfamily) traits(string) traits { return cTraits }

func (cfamily) module(_ *World, f *file) string { return f.path }

func (c cfamily) bind(w *World, f *file) {
	c.companions(f, f.path)
	for _, im := range f.facts.Imports {
		if im.Name != "" || im.Alias != "" {
			c.using(w, f, im.Target, im.Name, im.Alias)
			continue
		}
		m := c.included(w, f, im.Target)
		if m == nil {
			continue
		}
		f.open = append(f.open, m)
		c.companions(f, m.key)
	}
}

// companions opens the sources of a header: those of its name.
func (cfamily) companions(f *file, header string) {
	for _, other := range f.family.suffix[stemOf(header)] {
		if other.path != header && other != f && (other.dir == dirOf(header) || distance(other.dir, dirOf(header)) <= 3) {
			f.open = append(f.open, other.module)
		}
	}
}

// using opens a namespace, or binds one of its names.
func (c cfamily) using(w *World, f *file, space, name, alias string) {
	m := c.space(w, dottedName(space))
	switch {
	case m == nil:
	case name == "*":
		f.open = append(f.open, m)
	case name != "":
		f.names[name] = target{later: &handed{m, name, name}}
	default:
		f.names[alias] = target{module: m}
	}
}

// included finds the file that an include names: beside the file, from the root, or the
// only one whose path ends so.
func (cfamily) included(w *World, f *file, name string) *module {
	modules := w.families["c"].modules
	for _, dir := range []string{f.dir, "", "include", "src"} {
		if p, ok := join(dir, name); ok && modules[p] != nil {
			return modules[p]
		}
	}
	var best *file
	again := false
	for _, other := range f.family.suffix[stemOf(name)] {
		if !strings.HasSuffix("/"+other.path, "/"+path.Clean(name)) {
			continue
		}
		d := distance(f.dir, other.dir)
		switch {
		case best == nil || d < distance(f.dir, best.dir):
			best, again = other, false
		case d == distance(f.dir, best.dir):
			again = true
		}
	}
	if best == nil || again {
		return nil
	}
	return best.module
}

// space gives the names of a namespace, of whatever files.
func (cfamily) space(w *World, dotted string) *module {
	fam := w.families["c"]
	if m := fam.spaces[dotted]; m != nil {
		return m
	}
	if fam.packages[dotted] {
		return &module{key: spacePrefix + dotted} // only namespaces stand in it
	}
	return nil
}

func (c cfamily) child(w *World, m *module, name string) *module {
	if space, ok := strings.CutPrefix(m.key, spacePrefix); ok {
		return c.space(w, space+"."+name)
	}
	return nil
}

func (c cfamily) global(v *view, f *file, _ *class, name string) target {
	if m := c.space(v.w, name); m != nil {
		return target{module: m}
	}
	return target{}
}

// rank puts definitions before declarations.
func (cfamily) rank(f *file) int {
	if strings.HasPrefix(path.Ext(f.path), ".h") {
		return 1
	}
	return 0
}
