package syntax

/*
#include "bridge.h"
*/
import "C"

import (
	"runtime"
	"unsafe"

	// The library itself: the bridge calls its C functions.
	_ "github.com/tree-sitter/go-tree-sitter"
)

func init() { C.hv_plain_allocator() }

// Kind is the number of a node kind in its grammar.
type Kind uint16

// kindError is the kind of text that no rule of the grammar fits.
const kindError = Kind(65535)

// Language is a grammar with its names and its idle parsers. It may be used from many
// goroutines.
type Language struct {
	grammar *C.TSLanguage
	kinds   []string
	named   []bool
	fields  []string
	idle    chan *C.TSParser
}

// NewLanguage takes the pointer that a grammar module's Language function gives.
func NewLanguage(grammar unsafe.Pointer) *Language {
	l := &Language{grammar: (*C.TSLanguage)(grammar), idle: make(chan *C.TSParser, runtime.NumCPU())}
	for i := range uint16(C.ts_language_symbol_count(l.grammar)) {
		id := C.uint16_t(i)
		l.kinds = append(l.kinds, C.GoString(C.ts_language_symbol_name(l.grammar, id)))
		l.named = append(l.named, C.ts_language_symbol_type(l.grammar, id) == 0)
	}
	l.fields = append(l.fields, "")
	for i := range uint16(C.ts_language_field_count(l.grammar)) {
		l.fields = append(l.fields, C.GoString(C.ts_language_field_name_for_id(l.grammar, C.uint16_t(i+1))))
	}
	return l
}

// Kinds gives the numbers of the named kinds of that name; several symbols of a grammar
// may share one.
func (l *Language) Kinds(name string) []Kind {
	var kinds []Kind
	for i, k := range l.kinds {
		if k == name && l.named[i] {
			kinds = append(kinds, Kind(i))
		}
	}
	return kinds
}

// KindCount is one more than the largest Kind of the grammar, errors apart.
func (l *Language) KindCount() int { return len(l.kinds) }

// take gives an idle parser, or a new one; nil where the library does not know the
// grammar's format.
func (l *Language) take() *C.TSParser {
	select {
	case p := <-l.idle:
		return p
	default:
		return C.hv_parser(l.grammar)
	}
}

// put keeps a parser for the next text. Parsers live in C memory, which a sync.Pool would
// drop without freeing it.
func (l *Language) put(p *C.TSParser) {
	select {
	case l.idle <- p:
	default:
		C.hv_parser_delete(p)
	}
}
