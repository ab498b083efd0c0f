package domain

import "strconv"

// SymbolKind names what a symbol is.
type SymbolKind string

// The kinds of symbols. The graph's Function label covers function and method, Class
// covers struct, enum, trait, class and interface; the others are Symbol nodes only.
const (
	KindFunction  SymbolKind = "function"
	KindMethod    SymbolKind = "method"
	KindStruct    SymbolKind = "struct"
	KindEnum      SymbolKind = "enum"
	KindTrait     SymbolKind = "trait"
	KindClass     SymbolKind = "class"
	KindInterface SymbolKind = "interface"
	KindModule    SymbolKind = "module"   // module, namespace, package object, HCL block …
	KindConstant  SymbolKind = "constant" // a named constant or a package-level variable
	KindType      SymbolKind = "type"     // alias, newtype, typedef, union
)

// Function reports whether symbols of kind k are functions in the contract's sense.
func (k SymbolKind) Function() bool { return k == KindFunction || k == KindMethod }

// Class reports whether symbols of kind k are classes in the contract's sense.
func (k SymbolKind) Class() bool {
	switch k {
	case KindStruct, KindEnum, KindTrait, KindClass, KindInterface:
		return true
	}
	return false
}

// Symbol is a definition in a file. Its identity inside the file is (Receiver, Name,
// StartLine): two methods of one name are two symbols.
type Symbol struct {
	Name      string     `json:"name"`               // bare: "ServeHTTP"
	Receiver  string     `json:"receiver,omitempty"` // the type it belongs to, bare; of nested ones dotted: "Outer.Inner"
	Kind      SymbolKind `json:"kind"`
	Signature string     `json:"signature"` // one line, blanks folded, at most 500 bytes
	Doc       string     `json:"doc,omitempty"`
	StartLine int        `json:"start_line"` // from 1, of the definition itself (decorators and attributes included, doc comments not)
	EndLine   int        `json:"end_line"`   // inclusive
	Exported  bool       `json:"exported,omitempty"`
	Bases     []TypeRef  `json:"bases,omitempty"` // supertypes, as written
	// Type is a type as written, "" where none is: of a function its (first) result, of a
	// constant or variable its own, of an alias what it stands for. An untyped initializer
	// may give a chain; see Reference.RecvType.
	Type   string  `json:"type,omitempty"`
	Fields []Field `json:"fields,omitempty"` // of a class: its fields that have a known type, for resolution
}

// Field is a field or property of a class. It is no symbol of its own.
type Field struct {
	Name string `json:"name"`
	Type string `json:"type"` // as written, or a chain; see Reference.RecvType
}

// QualifiedName is "Receiver.Name", or the bare name.
func (s Symbol) QualifiedName() string {
	if s.Receiver == "" {
		return s.Name
	}
	return s.Receiver + "." + s.Name
}

// TypeRef is a type that a definition names.
type TypeRef struct {
	Name string   `json:"name"` // as written, without type arguments: "io.Reader"
	Kind EdgeKind `json:"kind"` // inherits, implements, embeds or uses
	Line int      `json:"line"`
}

// Import is an import declaration.
type Import struct {
	Target string `json:"target"`          // as written: module path, header, package
	Name   string `json:"name,omitempty"`  // the imported member, "*" for all; "" for the module itself
	Alias  string `json:"alias,omitempty"` // the local name where it differs
	Line   int    `json:"line"`
}

// Reference is an unresolved mention in a file: a call or the use of a type.
type Reference struct {
	From     int    `json:"from"`               // index of the enclosing symbol in FileFacts.Symbols; -1 at file level
	Name     string `json:"name"`               // the last element: "Do"
	Receiver string `json:"receiver,omitempty"` // the expression before it as written: "c.http", "pkg", "self"
	// RecvType is the type of Receiver as far as the file itself tells: a type as written
	// ("*http.Client", from a declared parameter, field or local), or a chain of steps that
	// other files must answer, joined by "!". A chain begins with a type, with a variable of
	// the module or of another ("http.DefaultClient"), or with a call by name ("NewClient()",
	// "pkg.New()", "Client()"); a step is a field ("name"), a method's
	// result ("name()") or an element of a container ("[]"). So c.http, of a parameter
	// c *Client whose struct is declared elsewhere, is "*Client!http"; the variable of
	// "for _, s := range NewPool().Servers" is "NewPool()!Servers![]".
	//
	// Of a plain call of a local variable, "=" and a chain say from which field or variable of
	// the package it took its function: "=commands![]!run", "=Server!onMiss".
	RecvType string   `json:"recv_type,omitempty"`
	Kind     EdgeKind `json:"kind"` // calls or uses
	Line     int      `json:"line"`
	Args     int      `json:"args,omitempty"` // number of arguments of a call; -1 unknown
	// Local says that Name, or the first name of Receiver, is a parameter or a local variable
	// here: no function, type, package or module of that name is meant.
	Local bool `json:"local,omitempty"`
}

// Conformance is a supertype that a file gives to a type which it does not define: Rust's
// "impl Trait for Type".
type Conformance struct {
	Type string  `json:"type"` // as written
	Base TypeRef `json:"base"`
}

// Export is a name under which a module hands on one of its own, where it differs:
// "export default createServer".
type Export struct {
	Name string `json:"name"` // in the file, dotted
	As   string `json:"as"`   // "default"
}

// Given is a function that is given to a variable or a field: by an initializer, an
// assignment, or as an element of what the variable or field holds.
type Given struct {
	Owner string `json:"owner,omitempty"` // whose field Name is: a type or a chain, see Reference.RecvType; "" for a variable of a package
	Name  string `json:"name"`            // the field or the variable: "OnClose", "pkg.Hook"
	// Value is the function: "f", "pkg.F", or a method as a chain whose last step it is:
	// "*Server!handle"; LiteralFunction for one that is written out there.
	Value string `json:"value"`
}

// LiteralFunction is the Value of a Given that is a function literal. A variable that has one
// stands for it.
const LiteralFunction = "func{}"

// FileFacts is all that parsing one blob tells, without looking at any other file.
type FileFacts struct {
	Language   string      `json:"language"`          // "" where no grammar applies
	Package    string      `json:"package,omitempty"` // declared package, namespace or module
	Symbols    []Symbol    `json:"symbols,omitempty"` // in order of position
	Imports    []Import    `json:"imports,omitempty"`
	References []Reference `json:"references,omitempty"`
	// Conformances, Exports and Givens are what a file says of symbols apart from their
	// definitions. Other files see it.
	Conformances []Conformance `json:"conformances,omitempty"`
	Exports      []Export      `json:"exports,omitempty"`
	Givens       []Given       `json:"givens,omitempty"`
	Errors       int           `json:"errors,omitempty"` // syntax errors the parser stepped over
	// Surface is a hash of what other files can see of this one where that is more than the
	// fields above; a change inside a function's body leaves it alone.
	Surface string `json:"surface,omitempty"`
}

// EdgeKind names a relationship between two symbols; it is the "relation" of the contract.
type EdgeKind string

// The kinds of edges.
const (
	EdgeCalls      EdgeKind = "calls"
	EdgeContains   EdgeKind = "contains"
	EdgeInherits   EdgeKind = "inherits"
	EdgeImplements EdgeKind = "implements"
	EdgeEmbeds     EdgeKind = "embeds"
	EdgeUses       EdgeKind = "uses"
)

// How says how an edge's target was found.
type How string

// The ways of resolution, from the surest.
const (
	HowExact  How = "exact"  // by a type checker
	HowScoped How = "scoped" // by scope, receiver or import
	HowName   How = "name"   // by a name that is alone, or the likeliest, in the repository
)

// SymbolKey names a symbol across the files of one version.
type SymbolKey struct {
	Path string `json:"path"`
	// Local is the qualified name; of the second and later symbols of that qualified name
	// in the file it is followed by "@" and the start line, and of the second and later of
	// these on one line by "." and a number from 2.
	Local string `json:"local"`
}

// LocalNames gives the Local of each symbol of a file, in order.
func LocalNames(symbols []Symbol) []string {
	seen := make(map[string]bool, len(symbols))
	names := make([]string, len(symbols))
	for i, s := range symbols {
		name := s.QualifiedName()
		if seen[name] {
			name += "@" + strconv.Itoa(s.StartLine)
		}
		for at, n := name, 2; seen[name]; n++ {
			name = at + "." + strconv.Itoa(n)
		}
		seen[name] = true
		names[i] = name
	}
	return names
}

// Edge is a resolved relationship that starts in one file.
type Edge struct {
	From int       `json:"from"` // index of the symbol in the file's facts; -1 for the file itself
	To   SymbolKey `json:"to"`
	Kind EdgeKind  `json:"kind"`
	Line int       `json:"line"`
	How  How       `json:"how"`
}
