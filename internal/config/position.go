package config

import (
	"bytes"
	"regexp"
	"strconv"

	"github.com/pelletier/go-toml/v2/unstable"
)

// positions finds the line of every key of a document that is known to be valid TOML.
// Paths are written like "llm[0].model".
type positions struct {
	doc   []byte
	lines map[string]int
	count map[string]int // how many elements an array of tables has so far
}

func locate(doc []byte) map[string]int {
	p := positions{doc: doc, lines: map[string]int{}, count: map[string]int{}}
	var parser unstable.Parser
	parser.Reset(doc)
	table := ""
	for parser.NextExpression() {
		node := parser.Expression()
		switch node.Kind {
		case unstable.Table:
			table, _ = p.walk("", node.Key())
		case unstable.ArrayTable:
			table = p.element(node)
		case unstable.KeyValue:
			p.keyValue(table, node)
		}
	}
	return p.lines
}

// walk follows a dotted key from path and notes the line of each step that is new.
func (p *positions) walk(path string, key unstable.Iterator) (end string, line int) {
	for key.Next() {
		node := key.Node()
		path = join(p.latest(path), string(node.Data))
		line = p.lineOf(node)
		if _, known := p.lines[path]; !known {
			p.lines[path] = line
		}
	}
	return p.latest(path), line
}

// latest turns the path of an array of tables into that of its last element.
func (p *positions) latest(path string) string {
	if n := p.count[path]; n > 0 {
		return index(path, n-1)
	}
	return path
}

func (p *positions) element(node *unstable.Node) string {
	path, line := "", 0
	key := node.Key()
	for key.Next() {
		path = join(p.latest(path), string(key.Node().Data))
		line = p.lineOf(key.Node())
	}
	if _, known := p.lines[path]; !known {
		p.lines[path] = line
	}
	p.count[path]++
	p.lines[p.latest(path)] = line
	return p.latest(path)
}

func (p *positions) keyValue(table string, node *unstable.Node) {
	path, line := p.walk(table, node.Key())
	p.value(path, line, node.Value())
}

func (p *positions) value(path string, line int, node *unstable.Node) {
	switch node.Kind {
	case unstable.InlineTable:
		children := node.Children()
		for children.Next() {
			p.keyValue(path, children.Node())
		}
	case unstable.Array:
		children := node.Children()
		for i := 0; children.Next(); i++ {
			at := line
			if children.Node().Raw.Length > 0 {
				at = p.lineOf(children.Node())
			}
			p.lines[index(path, i)] = at
			p.value(index(path, i), at, children.Node())
		}
	}
}

func (p *positions) lineOf(node *unstable.Node) int {
	end := min(int(node.Raw.Offset), len(p.doc))
	return 1 + bytes.Count(p.doc[:end], []byte{'\n'})
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func join(path, key string) string {
	if !bareKey.MatchString(key) {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
