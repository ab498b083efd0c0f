package syntax

/*
#include "bridge.h"
*/
import "C"

import (
	"bytes"
	"iter"
	"sort"
	"unsafe"
)

// Node is one syntax node. Its layout is that of the bridge's hv_node.
type Node struct {
	Start, End uint32 // bytes, End exclusive
	next       uint32
	parent     uint32
	Kind       Kind
	field      uint16
	named      uint16
	broken     uint16
}

// The layouts agree, or this does not compile.
var _ [unsafe.Sizeof(Node{})]byte = [C.sizeof_hv_node]byte{}

// None is the node that is not there. Every method takes it and answers with nothing.
const None = -1

// Tree is a parsed text. Its nodes are numbered in the order of a walk that visits parents
// before children; node 0 is the root, and the nodes n+1 … End(n)-1 are those below n.
// A Tree is for one goroutine.
type Tree struct {
	Nodes  []Node
	Text   string // the whole source; strings cut from it share its memory
	lang   *Language
	lines  []uint32 // where each line begins
	buffer *[]Node
}

func newTree(l *Language, src []byte, nodes []Node, buffer *[]Node) *Tree {
	t := &Tree{Nodes: nodes, Text: string(src), lang: l, buffer: buffer}
	t.lines = make([]uint32, 1, len(src)/32+1)
	for at := 0; ; {
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			return t
		}
		at += i + 1
		t.lines = append(t.lines, uint32(at))
	}
}

// Close gives the nodes' memory back. The tree must not be used after.
func (t *Tree) Close() {
	if cap(*t.buffer) <= shrinkNodes {
		buffers.Put(t.buffer)
	}
	t.Nodes, t.buffer = nil, nil
}

// Kind gives the name of n's kind; "ERROR" for text that fits no rule.
func (t *Tree) Kind(n int) string {
	if n < 0 {
		return ""
	}
	k := t.Nodes[n].Kind
	if k == kindError {
		return "ERROR"
	}
	return t.lang.kinds[k]
}

// Named reports whether n is a rule of the grammar, not a keyword or a sign.
func (t *Tree) Named(n int) bool { return n >= 0 && t.Nodes[n].named != 0 }

// End gives the first node after n's subtree.
func (t *Tree) End(n int) int {
	if n < 0 {
		return 0
	}
	return int(t.Nodes[n].next)
}

// Parent gives the node above n, None for the root.
func (t *Tree) Parent(n int) int {
	if n <= 0 {
		return None
	}
	return int(t.Nodes[n].parent)
}

// Children iterates over the nodes right below n, signs and keywords included.
func (t *Tree) Children(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		end := t.End(n)
		for c := n + 1; c < end; c = int(t.Nodes[c].next) {
			if !yield(c) {
				return
			}
		}
	}
}

// First gives the first named child of n.
func (t *Tree) First(n int) int {
	for c := range t.Children(n) {
		if t.Named(c) {
			return c
		}
	}
	return None
}

// Last gives the last named child of n.
func (t *Tree) Last(n int) int {
	last := None
	for c := range t.Children(n) {
		if t.Named(c) {
			last = c
		}
	}
	return last
}

// Child gives the first child of n of that kind.
func (t *Tree) Child(n int, kind string) int {
	for c := range t.Children(n) {
		if t.Kind(c) == kind {
			return c
		}
	}
	return None
}

// Field gives the first child of n in that role.
func (t *Tree) Field(n int, name string) int {
	for c := range t.Children(n) {
		if t.FieldName(c) == name {
			return c
		}
	}
	return None
}

// FieldName gives n's role in its parent, "" where it has none.
func (t *Tree) FieldName(n int) string {
	if n < 0 {
		return ""
	}
	return t.lang.fields[t.Nodes[n].field]
}

// Content gives n's text.
func (t *Tree) Content(n int) string {
	if n < 0 {
		return ""
	}
	return t.Text[t.Nodes[n].Start:t.Nodes[n].End]
}

// Line gives the line of a byte, from 1.
func (t *Tree) Line(at uint32) int {
	return sort.Search(len(t.lines), func(i int) bool { return t.lines[i] > at })
}

// LineStart gives the first byte of the line that holds the byte at.
func (t *Tree) LineStart(at uint32) uint32 { return t.lines[t.Line(at)-1] }

// Errors counts the places where the text does not fit the grammar.
func (t *Tree) Errors() int {
	n := 0
	for i := range t.Nodes {
		if t.Nodes[i].broken != 0 {
			n++
		}
	}
	return n
}
