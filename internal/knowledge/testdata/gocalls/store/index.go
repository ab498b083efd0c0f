package store

import "cmp"

// Index is a map with ordered keys.
type Index[K cmp.Ordered, V any] struct {
	keys   []K
	values map[K]V
	less   func(a, b K) bool
}

// NewIndex makes an Index.
func NewIndex[K cmp.Ordered, V any]() *Index[K, V] {
	return &Index[K, V]{values: map[K]V{}, less: less[K]}
}

func less[K cmp.Ordered](a, b K) bool { return a < b }

// Add adds.
func (x *Index[K, V]) Add(k K, v V) {
	if _, ok := x.values[k]; !ok {
		x.insert(k)
	}
	x.values[k] = v
}

func (x *Index[K, V]) insert(k K) {
	at := Search(len(x.keys), func(i int) bool { return x.less(k, x.keys[i]) })
	x.keys = append(x.keys, k)
	copy(x.keys[at+1:], x.keys[at:])
	x.keys[at] = k
}

// Keys gives the keys.
func (x *Index[K, V]) Keys() []K { return x.keys }

// First gives the value of the least key.
func (x *Index[K, V]) First() (v V, ok bool) {
	if len(x.Keys()) == 0 {
		return v, false
	}
	return x.values[x.Keys()[0]], true
}

// Search finds the least i for which f holds.
func Search(n int, f func(int) bool) int {
	for i := range n {
		if f(i) {
			return i
		}
	}
	return n
}

// Map applies f to all.
func Map[T, U any](list []T, f func(T) U) []U {
	out := make([]U, 0, len(list))
	for _, x := range list {
		out = append(out, f(x))
	}
	return out
}

// Summer can be summed.
type Summer[T any] interface {
	Add(T) T
}

// Sum sums.
func Sum[T Summer[T]](list []T) T {
	var total T
	for _, x := range list {
		total = total.Add(x)
	}
	return total
}

// Amounts gives the amounts of entries.
func Amounts(entries []*Entry) []Money {
	return Map(entries, func(e *Entry) Money { return e.Amount })
}

// Total sums entries.
func Total(entries []*Entry) Money { return Sum(Amounts(entries)) }
