// Package syntax parses source text with tree-sitter and gives the whole tree as one flat
// slice in Go memory.
//
// A tree is read in a handful of crossings into C, however large it is: walking it node by
// node through the library's Go binding costs more than parsing. Nodes stand in the order
// of a walk that visits parents first, so a subtree is a range of the slice, and walking
// needs neither recursion nor a stack.
package syntax
