package pg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Facts are read for every file of a version at each ingestion, so their form is made for
// reading: varints, each distinct string once, and a compression that is fast above all. The
// form follows the Go types; a change of them, or of packing, changes factsType, and a blob of
// another type counts as missing.

// packing names the compression of facts.
const packing = "s2"

// details is the part of a file's facts that other files can't see.
type details struct {
	References []domain.Reference
	Docs       []string // of the symbols, in order
}

var factsType = int64(fingerprint(reflect.TypeFor[domain.FileFacts](), reflect.TypeFor[details]()))

var (
	compressor, _   = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(2))
	decompressor, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(256<<20))
)

func compress(raw []byte) []byte { return compressor.EncodeAll(raw, make([]byte, 0, len(raw)/3+64)) }

func decompress(packed []byte) ([]byte, error) { return decompressor.DecodeAll(packed, nil) }

// splitFacts gives the stored forms of facts: what other files can see, and the rest.
func splitFacts(facts domain.FileFacts) (outline, rest []byte) {
	private := details{References: facts.References}
	facts.References = nil
	symbols := make([]domain.Symbol, len(facts.Symbols))
	for i, s := range facts.Symbols {
		private.Docs = append(private.Docs, s.Doc)
		s.Doc = ""
		symbols[i] = s
	}
	facts.Symbols = symbols
	return s2.Encode(nil, encode(facts)), s2.Encode(nil, encode(private))
}

// joinFacts reverses splitFacts; rest may be nil for the outline alone.
func joinFacts(outline, rest []byte) (*domain.FileFacts, error) {
	var facts domain.FileFacts
	if err := unpack(outline, &facts); err != nil {
		return nil, err
	}
	if rest == nil {
		return &facts, nil
	}
	var private details
	if err := unpack(rest, &private); err != nil {
		return nil, err
	}
	facts.References = private.References
	for i := range min(len(facts.Symbols), len(private.Docs)) {
		facts.Symbols[i].Doc = private.Docs[i]
	}
	return &facts, nil
}

func unpack(packed []byte, into any) error {
	raw, err := s2.Decode(nil, packed)
	if err != nil {
		return fmt.Errorf("decompress facts: %w", err)
	}
	return decode(raw, into)
}

// fingerprint hashes the structure of types, names, order and kinds of their fields, and how
// they are packed.
func fingerprint(types ...reflect.Type) uint64 {
	h := fnv.New64a()
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		_, _ = h.Write([]byte(t.Kind().String() + ";"))
		switch t.Kind() {
		case reflect.Struct:
			for i := range t.NumField() {
				_, _ = h.Write([]byte(t.Field(i).Name + ":"))
				walk(t.Field(i).Type)
			}
		case reflect.Slice:
			walk(t.Elem())
		}
	}
	_, _ = h.Write([]byte(packing))
	for _, t := range types {
		walk(t)
	}
	return h.Sum64()
}

// encode writes a struct of strings, integers, booleans, structs and slices of them: the
// table of strings, then the values.
func encode(v any) []byte {
	e := encoder{index: map[string]uint64{"": 0}}
	e.value(reflect.ValueOf(v))
	out := binary.AppendUvarint(nil, uint64(len(e.strings)))
	for _, s := range e.strings {
		out = binary.AppendUvarint(out, uint64(len(s)))
	}
	for _, s := range e.strings {
		out = append(out, s...)
	}
	return append(out, e.values...)
}

type encoder struct {
	index   map[string]uint64
	strings []string
	values  []byte
}

func (e *encoder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		s := v.String()
		n, known := e.index[s]
		if !known {
			e.strings = append(e.strings, s)
			n = uint64(len(e.strings))
			e.index[s] = n
		}
		e.values = binary.AppendUvarint(e.values, n)
	case reflect.Int, reflect.Int64, reflect.Int32:
		e.values = binary.AppendVarint(e.values, v.Int())
	case reflect.Bool:
		b := byte(0)
		if v.Bool() {
			b = 1
		}
		e.values = append(e.values, b)
	case reflect.Slice:
		e.values = binary.AppendUvarint(e.values, uint64(v.Len()))
		for i := range v.Len() {
			e.value(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			e.value(v.Field(i))
		}
	default:
		panic("facts hold a " + v.Kind().String() + ", which has no stored form")
	}
}

var errFacts = errors.New("stored facts are damaged")

// decode reads what encode wrote into a pointer to the same type.
func decode(raw []byte, into any) (err error) {
	defer func() {
		if recover() != nil { // an index beyond the end, however it comes about
			err = errFacts
		}
	}()
	d := decoder{rest: raw}
	sizes := make([]int, d.length())
	for i := range sizes {
		sizes[i] = d.length()
	}
	d.strings = make([]string, len(sizes)+1)
	total := 0
	for _, n := range sizes {
		total += n
	}
	text := string(d.rest[:total])
	d.rest = d.rest[total:]
	for i, n := range sizes {
		d.strings[i+1], text = text[:n], text[n:]
	}
	d.value(reflect.ValueOf(into).Elem())
	return nil
}

type decoder struct {
	rest    []byte
	strings []string
}

// length reads a count of things that take at least no less than a byte in all.
func (d *decoder) length() int {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > uint64(len(d.rest)) {
		panic(errFacts)
	}
	d.rest = d.rest[size:]
	return int(n)
}

func (d *decoder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		n, size := binary.Uvarint(d.rest)
		d.rest = d.rest[size:]
		v.SetString(d.strings[n])
	case reflect.Int, reflect.Int64, reflect.Int32:
		n, size := binary.Varint(d.rest)
		d.rest = d.rest[size:]
		v.SetInt(n)
	case reflect.Bool:
		v.SetBool(d.rest[0] == 1)
		d.rest = d.rest[1:]
	case reflect.Slice:
		n := d.length()
		if n == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			d.value(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			d.value(v.Field(i))
		}
	}
}
