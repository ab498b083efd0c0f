// Package knowledge reads repositories into the sources and the graph.
//
// A version is read in steps, each of which skips what is stored already, so that a reading
// that was killed goes on where it was, and a second version costs its difference:
//
//   - list the files of the commit, or of the folder (package gitrepo);
//   - read what the version before did not have, classify it, and parse each distinct blob
//     once, ever (package lang);
//   - resolve references between files (packages resolve and gotypes) and load the edges of
//     those files whose ResolvedID the graph lacks;
//   - publish the version, whole.
//
// Memory is bounded by the outlines of a version's files, and a few batches of contents.
package knowledge
