package lang

// binding is what a name means in a scope.
type binding struct {
	typ       string // its type, as written or a chain; "" unknown
	local     bool   // a parameter or a variable of a function
	typeParam bool   // a type parameter; typ is its bound
	ofType    bool   // a type parameter of a type, not of a function
	origin    string // the field or variable that it took a function from; see domain.Reference
}

type scope map[string]binding

// push opens a scope.
func (w *walker) push() { w.scopes = append(w.scopes, nil) }

// pop closes the innermost scope.
func (w *walker) pop() {
	last := len(w.scopes) - 1
	if s := w.scopes[last]; s != nil {
		clear(s)
		w.idle = append(w.idle, s)
	}
	w.scopes = w.scopes[:last]
}

// bind gives a name its meaning in the innermost scope.
func (w *walker) bind(name string, b binding) {
	if name == "" || name == "_" {
		return
	}
	last := len(w.scopes) - 1
	if w.scopes[last] == nil {
		if n := len(w.idle); n > 0 {
			w.scopes[last], w.idle = w.idle[n-1], w.idle[:n-1]
		} else {
			w.scopes[last] = make(scope)
		}
	}
	if len(b.typ) > maxChain {
		b.typ = ""
	}
	w.scopes[last][name] = b
}

// bindLocal binds a parameter or a local variable.
func (w *walker) bindLocal(name, typ string) { w.bind(name, binding{typ: typ, local: true}) }

// lookup finds what a name means here.
func (w *walker) lookup(name string) (binding, bool) {
	for i := len(w.scopes) - 1; i >= 0; i-- {
		if b, ok := w.scopes[i][name]; ok {
			return b, true
		}
	}
	return binding{}, false
}

// argument gives what stands for a type parameter: its bound. In what other files see of a
// type its own parameters stay as they are written; they know the arguments.
func (w *walker) argument(name string, b binding) string {
	if w.shown && b.ofType {
		return name
	}
	return b.typ
}

// showing runs read on what other files see.
func (w *walker) showing(read func()) {
	was := w.shown
	w.shown = true
	read()
	w.shown = was
}

func (w *walker) isLocal(name string) bool {
	b, _ := w.lookup(name)
	return b.local
}
