// Package resolve turns what files mention into edges between symbols.
//
// A World is built from the outlines of all files of a version: what each file shows to the
// others. It never changes. Resolving a file is a function of the file's facts and of the
// World alone, so files that see an equal World get equal edges.
//
// A mention is looked up in this order: the scopes around it, the type of its receiver, the
// imports of its file, the package or module of its file; and only where nothing speaks
// against it by its bare name. No edge is better than a wrong one.
//
// What differs between languages (which files make a module, what an import names, how a
// type is written) is a rules value each; the search itself is one.
package resolve

// Version changes whenever equal facts give other edges than before.
const Version = "5"
