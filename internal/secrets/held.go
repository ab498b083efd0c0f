package secrets

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Held implements domain.Scrubber.
func (s scrubber) Held(text string) int { return s.all.held(text) }

// Half implements domain.Scrubber.
func (s scrubber) Half(text string) int { return s.all.half(text) }

// Hide gives what takes these texts out of others, in every form, where they belong to no
// secret: "[secret]" comes in their place. Those too short to be told from ordinary text stay.
func (v *Vault) Hide(texts []string) domain.Scrubber {
	var list []form
	for _, text := range texts {
		for _, f := range forms(text) {
			list = append(list, form{text: f})
		}
	}
	x := newIndex(list)
	return scrubber{all: x, hidden: x}
}

// held gives how many bytes at the end of a text may be the beginning of a form.
func (x *index) held(text string) int {
	if x == nil {
		return 0
	}
	for at := range text {
		if x.begins(text[at:]) {
			return len(text) - x.before(text, at)
		}
	}
	return 0
}

// before gives where the forms begin that overlap and reach beyond a place; the place itself
// where none does.
func (x *index) before(text string, place int) int {
	begin, end := 0, 0
	for at := 0; at < place && at+keyBytes <= len(text); at++ {
		found, ok := x.at(text[at:])
		if !ok {
			continue
		}
		if at >= end {
			begin = at
		}
		end = max(end, at+len(found.text))
	}
	if end > place {
		return begin
	}
	return place
}

// half gives the longest end of a form that a text begins with, and not all of it; ends too
// short to find a form by tell nothing.
func (x *index) half(text string) int {
	if x == nil {
		return 0
	}
	longest := 0
	for _, same := range x.forms {
		for _, f := range same {
			longest = max(longest, len(f.text))
		}
	}
	text = text[:min(len(text), longest)]
	borders, most := bordersOf(text), 0
	for _, same := range x.forms {
		for _, f := range same {
			most = max(most, endsWith(f.text[1:], text, borders))
		}
	}
	if most < keyBytes {
		return 0
	}
	return most
}

// bordersOf gives for each beginning of a text the longest shorter one that it also ends with
// (Knuth, Morris and Pratt).
func bordersOf(text string) []int {
	borders := make([]int, len(text)+1)
	for i, k := 1, 0; i < len(text); i++ {
		for k > 0 && text[i] != text[k] {
			k = borders[k]
		}
		if text[i] == text[k] {
			k++
		}
		borders[i+1] = k
	}
	return borders
}

// endsWith gives the longest beginning of a text that a form ends with.
func endsWith(form, text string, borders []int) int {
	if text == "" {
		return 0
	}
	k := 0
	for i := range len(form) {
		for k > 0 && (k == len(text) || form[i] != text[k]) {
			k = borders[k]
		}
		if form[i] == text[k] {
			k++
		}
	}
	return k
}

// begins reports whether a text is the beginning of a form, and not all of it.
func (x *index) begins(text string) bool {
	if len(text) < keyBytes {
		for key := range x.forms {
			if strings.HasPrefix(string(key[:]), text) {
				return true
			}
		}
		return false
	}
	if pair := uint(text[0])<<8 | uint(text[1]); x.first[pair>>6]&(1<<(pair&63)) == 0 {
		return false
	}
	for _, f := range x.forms[[keyBytes]byte([]byte(text[:keyBytes]))] {
		if len(f.text) > len(text) && strings.HasPrefix(f.text, text) {
			return true
		}
	}
	return false
}
