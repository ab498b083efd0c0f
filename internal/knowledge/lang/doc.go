// Package lang reads one source file into facts: its symbols, imports, and references,
// without looking at any other file.
//
// Extract parses with tree-sitter (package syntax) and walks the flat tree once. Each
// language is a file of its own with a table from node kinds to handlers; what no handler
// takes is walked through. The walker keeps the enclosing symbol, the enclosing types and
// the scopes of local names, so that a reference can say who makes it and, where the file
// itself tells, on what type: see domain.Reference for the notation.
//
// How the languages agree, for whoever resolves the references:
//
//   - A call that creates an object (new Foo(), Foo() in Python) is a call of Foo.
//   - A call without a receiver may mean a function nested in an enclosing one, a method of
//     an enclosing type where the language allows it, the file, or an import, in that order.
//   - RecvType of self, this and the like is the enclosing type, nested ones dotted.
//   - super is the first base class as written.
//   - Names of built-in types are not references.
package lang

// Version changes whenever the same text gives other facts than before. It is part of the
// identity of parsed blobs.
const Version = "1"
