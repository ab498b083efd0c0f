package resolve

import (
	"go/ast"
	"go/parser"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// signatureOf writes the type of a Go function without the names of its parameters and with
// whole names of types, so that two of them are equal where the types are; "" where a type in
// it is not known.
func (v *view) signatureOf(s sym) string {
	cache := &v.f.family.contracts.types
	if known, ok := cache.Load(s); ok {
		return known.(string)
	}
	text := ""
	if at := signatureStart(s.symbol()); at != "" {
		if expr, err := parser.ParseExpr("func" + at); err == nil {
			if f, ok := expr.(*ast.FuncType); ok {
				text, _ = v.function(s.file, f)
			}
		}
	}
	cache.Store(s, text)
	return text
}

// signatureStart gives a signature from its parameters on; "" where it may have been cut.
func signatureStart(s *domain.Symbol) string {
	rest := s.Signature
	if len(rest) >= 490 {
		return ""
	}
	if strings.HasPrefix(rest, "func (") {
		end := matching(rest, len("func "))
		if end < 0 {
			return ""
		}
		rest = rest[end+1:]
	}
	rest = strings.TrimSpace(rest)
	if rest, ok := strings.CutPrefix(rest, s.Name); ok && strings.HasPrefix(rest, "(") {
		return rest
	}
	return ""
}

// function writes a function type.
func (v *view) function(f *file, t *ast.FuncType) (text string, ok bool) {
	if t.TypeParams != nil {
		return "", false
	}
	params, ok := v.list(f, t.Params)
	results, known := v.list(f, t.Results)
	return "(" + params + ")(" + results + ")", ok && known
}

func (v *view) list(f *file, fields *ast.FieldList) (text string, ok bool) {
	if fields == nil {
		return "", true
	}
	var all []string
	for _, field := range fields.List {
		one, ok := v.written(f, field.Type)
		if !ok {
			return "", false
		}
		for range max(1, len(field.Names)) {
			all = append(all, one)
		}
	}
	return strings.Join(all, ","), true
}

// written writes a type.
func (v *view) written(f *file, e ast.Expr) (text string, ok bool) {
	switch t := e.(type) {
	case *ast.Ident:
		text = v.qualified(f, t.Name)
		return text, text != ""
	case *ast.SelectorExpr:
		if pkg, isName := t.X.(*ast.Ident); isName {
			text = v.qualified(f, pkg.Name+"."+t.Sel.Name)
		}
		return text, text != ""
	case *ast.StarExpr:
		return v.prefixed("*", f, t.X)
	case *ast.ParenExpr:
		return v.written(f, t.X)
	case *ast.Ellipsis:
		return v.prefixed("...", f, t.Elt)
	case *ast.ArrayType:
		if t.Len == nil {
			return v.prefixed("[]", f, t.Elt)
		}
		if n, literal := t.Len.(*ast.BasicLit); literal {
			return v.prefixed("["+n.Value+"]", f, t.Elt)
		}
	case *ast.MapType:
		if key, known := v.written(f, t.Key); known {
			return v.prefixed("map["+key+"]", f, t.Value)
		}
	case *ast.ChanType:
		return v.prefixed([]string{"", "chan<- ", "<-chan ", "chan "}[t.Dir], f, t.Value)
	case *ast.FuncType:
		text, ok = v.function(f, t)
		return "func" + text, ok
	case *ast.InterfaceType:
		return "interface{}", len(t.Methods.List) == 0
	case *ast.StructType:
		return "struct{}", len(t.Fields.List) == 0
	}
	return "", false
}

func (v *view) prefixed(prefix string, f *file, e ast.Expr) (string, bool) {
	text, ok := v.written(f, e)
	return prefix + text, ok
}

// sameTypes are names of one type.
var sameTypes = map[string]string{"any": "interface{}", "byte": "uint8", "rune": "int32"}

// qualified gives the whole name of a type: that of the language, of a package of the
// repository, or of another by its import path; "" where it is not known.
func (v *view) qualified(f *file, name string) string {
	pkg, member, dotted := strings.Cut(name, ".")
	if !dotted {
		if syms := f.module.top[name]; len(syms) > 0 {
			return f.module.key + "." + name
		}
		if same := sameTypes[name]; same != "" {
			return same
		}
		if v.traits.builtin[name] {
			return name
		}
		for _, m := range f.open {
			if len(m.top[name]) > 0 {
				return m.key + "." + name
			}
		}
		return ""
	}
	t, ok := f.names[pkg]
	switch {
	case !ok:
		return ""
	case t.module != nil:
		return t.module.key + "." + member
	}
	for _, im := range f.facts.Imports {
		if im.Alias == pkg || im.Alias == "" && slices.Contains(guessPackage(im.Target), pkg) {
			return im.Target + "." + member
		}
	}
	return ""
}
