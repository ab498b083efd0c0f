// Package gotypes says what the Go code of a repository calls, by type-checking it.
//
// It works on sources in memory: no code of the repository is run, no tool is started, and
// nothing is fetched. Packages of the repository are found by its go.mod files and vendor
// folders, the standard library in GOROOT; what is in neither stays unknown, and so do calls
// into it. Files are chosen as for linux on amd64 with cgo; nothing is said of the others.
//
// What is said of a file depends on the file, and on the surfaces (sources without bodies of
// functions) of the files of its package and of the repository's packages below: see
// Package.View.
package gotypes

import "runtime"

// Version changes whenever equal sources may give other answers than before: with these
// rules, and with the type checker, which comes with the toolchain.
func Version() string { return "3 " + runtime.Version() }
