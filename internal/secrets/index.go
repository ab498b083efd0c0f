package secrets

import (
	"slices"
	"strings"
)

// keyBytes is how much of a form finds it. Every form is longer.
const keyBytes = 4

// form is one appearance of a secret.
type form struct {
	text string
	name string // of the secret; "" where it belongs to none
}

// mark is what comes in its place.
func (f form) mark() string {
	if f.name == "" {
		return "[secret]"
	}
	return "[secret " + f.name + "]"
}

// index finds forms in texts. A nil index finds none.
type index struct {
	first [1 << 10]uint64           // a bit for each pair of bytes that a form begins with
	forms map[[keyBytes]byte][]form // by their first bytes, the longest first
	size  int                       // bytes of all forms
}

// newIndex builds the index of forms; nil where there are none.
func newIndex(list []form) *index {
	if len(list) == 0 {
		return nil
	}
	x := &index{forms: map[[keyBytes]byte][]form{}}
	for _, f := range list {
		key := [keyBytes]byte([]byte(f.text[:keyBytes]))
		pair := uint(key[0])<<8 | uint(key[1])
		x.first[pair>>6] |= 1 << (pair & 63)
		x.forms[key] = append(x.forms[key], f)
		x.size += len(f.text)
	}
	for _, same := range x.forms {
		slices.SortStableFunc(same, func(a, b form) int { return len(b.text) - len(a.text) })
	}
	return x
}

// scrub puts "[secret NAME]" in the place of every form in a text. Forms that overlap are
// taken out whole, as one, under the name of the first.
func (x *index) scrub(text string) string {
	if x == nil {
		return text
	}
	var out strings.Builder
	written, end := 0, 0 // text before written is in out; a form ends at end
	for at := 0; at+keyBytes <= len(text); at++ {
		found, ok := x.at(text[at:])
		if !ok {
			continue
		}
		if at < end {
			end = max(end, at+len(found.text))
			written = end
			continue
		}
		out.WriteString(text[written:at])
		out.WriteString(found.mark())
		end = at + len(found.text)
		written = end
	}
	if written == 0 {
		return text
	}
	out.WriteString(text[written:])
	return out.String()
}

// at gives the longest form that a text begins with.
func (x *index) at(text string) (form, bool) {
	pair := uint(text[0])<<8 | uint(text[1])
	if x.first[pair>>6]&(1<<(pair&63)) == 0 {
		return form{}, false
	}
	for _, f := range x.forms[[keyBytes]byte([]byte(text[:keyBytes]))] {
		if strings.HasPrefix(text, f.text) {
			return f, true
		}
	}
	return form{}, false
}
