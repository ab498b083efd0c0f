package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// fieldSet collects the fields of a class; what is known first stays.
type fieldSet struct {
	fields []domain.Field
	at     map[string]bool
}

func newFieldSet() *fieldSet { return &fieldSet{at: make(map[string]bool)} }

func (s *fieldSet) add(w *walker, name, typ string) {
	if name == "" || typ == "" || s.at[name] {
		return
	}
	s.at[name] = true
	s.fields = append(s.fields, domain.Field{Name: w.intern(name), Type: w.intern(typ)})
}

// bindFields binds the fields of a class by their bare names, where its methods may use
// them so.
func (w *walker) bindFields(fields []domain.Field) {
	for _, f := range fields {
		w.bind(f.Name, binding{typ: f.Type})
	}
}

// fieldOf gives the type of a field of a type: that which the file declares, or a chain.
func (w *walker) fieldOf(typ, field string) string {
	if typ == "" || strings.HasSuffix(field, ")") || strings.Contains(typ, "!") {
		return step(typ, field)
	}
	bare := strings.TrimLeft(typ, "*&?")
	if i := strings.IndexAny(bare, "<[?"); i > 0 {
		bare = bare[:i]
	}
	if known, ok := w.fieldTypes[bare+"."+field]; ok && (bare == w.self || !w.generic[bare+"."+field]) {
		return known
	}
	return step(typ, field)
}
