// Package gitrepo reads repositories with the git binary: it keeps shallow bare mirrors of
// remote ones, reads local ones in place from their object store, and lists plain folders
// and working trees.
//
// What it reads is hostile: nothing is ever checked out; hooks, filters, submodules,
// file-system monitors and lazy fetches are off; the configuration of the system and of the
// user is not read; every address and ref is validated before git sees it, and stands after
// "--" or a full ref name.
package gitrepo
