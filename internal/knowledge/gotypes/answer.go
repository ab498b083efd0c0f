package gotypes

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Answers is what the type checker says of one file.
type Answers struct {
	Calls           []Call
	Uses            []Use
	Implementations []Implementation
}

// Symbol is a declaration of the repository as the type checker sees it: the first of its name
// in the file, where several are wrongly there. Its line is not told, for a change in a body
// moves it.
type Symbol struct {
	Path     string
	Receiver string // the type's name, for methods and methods of interfaces
	Name     string
}

// Call is a call, at the line of the name that is called.
type Call struct {
	Line   int
	Name   string
	Target Symbol // zero where what is called is not a function of the repository
	// Assigned says that a variable is called, and that the target is all that it was ever
	// given.
	Assigned bool
	Value    bool // a variable is called
}

// Use is a mention of a type of the repository.
type Use struct {
	Line   int
	Target Symbol
}

// Implementation says that a type of the file has all methods of an interface.
type Implementation struct {
	Type      Symbol
	Interface Symbol
}

// answer reads the answers of one file from what the type checker recorded.
func (p *Program) answer(f parsed, info *types.Info) *Answers {
	a := &Answers{}
	given := assigned(f.ast, info)
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if c, ok := p.call(n, info, given); ok {
				a.Calls = append(a.Calls, c)
			}
		case *ast.Ident:
			if name, ok := info.Uses[n].(*types.TypeName); ok && ofPackage(name) {
				if target, ok := p.symbolOf(name); ok {
					a.Uses = append(a.Uses, Use{p.line(n.Pos()), target})
				}
			}
		}
		return true
	})
	return a
}

// call judges one call; ok is false where the type checker could not tell.
func (p *Program) call(n *ast.CallExpr, info *types.Info, given map[types.Object]*types.Func) (c Call, ok bool) {
	id := callee(n.Fun)
	if id == nil {
		return c, false
	}
	c = Call{Line: p.line(id.Pos()), Name: id.Name}
	switch obj := info.Uses[id].(type) {
	case *types.Func:
		c.Target, _ = p.symbolOf(obj)
	case *types.Var:
		c.Value = true
		if f := given[obj]; f != nil {
			c.Target, c.Assigned = p.symbolOf(f)
		}
	case *types.TypeName, *types.Builtin:
	default:
		return c, false
	}
	return c, true
}

// callee gives the name that is called: f, x.f, f[T]; nil for a function literal and the like.
func callee(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.SelectorExpr:
			return x.Sel
		case *ast.Ident:
			return x
		default:
			return nil
		}
	}
}

// assigned finds the local variables that are given a function by name once and nothing
// else: a call of them is a call of it.
func assigned(tree *ast.File, info *types.Info) map[types.Object]*types.Func {
	given, times := map[types.Object]*types.Func{}, map[types.Object]int{}
	note := func(left, right ast.Expr) {
		id, ok := left.(*ast.Ident)
		if !ok {
			return
		}
		obj := info.Defs[id]
		if obj == nil {
			obj = info.Uses[id]
		}
		if obj == nil {
			return
		}
		times[obj]++
		if right == nil {
			return
		}
		if name := callee(right); name != nil {
			if f, ok := info.Uses[name].(*types.Func); ok {
				given[obj] = f
			}
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) {
					note(left, n.Rhs[i])
				} else {
					note(left, nil)
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) && len(n.Names) == len(n.Values) {
					note(name, n.Values[i])
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				note(n.X, nil) // it may be changed through its address
				note(n.X, nil)
			}
		}
		return true
	})
	for obj := range given {
		if times[obj] != 1 || obj.Parent() == nil || obj.Pkg() == nil || obj.Parent() == obj.Pkg().Scope() {
			delete(given, obj) // variables of the package may be given another elsewhere
		}
	}
	return given
}

// symbolOf describes a function or a type of the repository.
func (p *Program) symbolOf(obj types.Object) (Symbol, bool) {
	if f, ok := obj.(*types.Func); ok {
		obj = f.Origin()
	}
	pos := p.fset.Position(obj.Pos())
	if !pos.IsValid() || pos.Filename == "" || p.std.holds(pos.Filename) {
		return Symbol{}, false
	}
	s := Symbol{Path: pos.Filename, Name: obj.Name()}
	if f, ok := obj.(*types.Func); ok {
		s.Receiver = receiverName(f)
	}
	return s, true
}

// ofPackage reports whether a type is declared outside of functions.
func ofPackage(name *types.TypeName) bool {
	return name.Pkg() != nil && name.Parent() == name.Pkg().Scope()
}

// receiverName gives the name of the type that a method belongs to.
func receiverName(f *types.Func) string {
	sig, ok := f.Type().(*types.Signature)
	if !ok || sig.Recv() == nil {
		return ""
	}
	t := sig.Recv().Type()
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok {
		return named.Obj().Name()
	}
	return ""
}

func (p *Program) line(pos token.Pos) int { return p.fset.Position(pos).Line }

// holds reports whether a file was read from GOROOT and not from the repository: the paths
// of the repository are relative.
func (s *standard) holds(name string) bool {
	return s.root != "" && strings.HasPrefix(name, s.root+string('/'))
}
