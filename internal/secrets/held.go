package secrets

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Held implements domain.Scrubber.
func (s scrubber) Held(text string) int { return s.all.held(text) }

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
			return len(text) - at
		}
	}
	return 0
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
