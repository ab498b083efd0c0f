package syntax_test

import (
	"context"
	"os"
	"strings"
	"testing"

	sitter "github.com/tree-sitter/go-tree-sitter"
	grammargo "github.com/tree-sitter/tree-sitter-go/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/lang/syntax"
)

// The bridge declares the library's structs itself: this compares all that it reads with
// what the library's own binding reads of the same text.
func TestBridgeMatchesTheLibrary(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("tree.go")
	if err != nil {
		t.Fatal(err)
	}
	src = append(src, "func broken( {{ ]"...)
	tree, err := syntax.NewLanguage(grammargo.Language()).Parse(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()

	parser := sitter.NewParser()
	defer parser.Close()
	if err := parser.SetLanguage(sitter.NewLanguage(grammargo.Language())); err != nil {
		t.Fatal(err)
	}
	want := parser.Parse(src, nil)
	defer want.Close()
	cursor := want.Walk()
	defer cursor.Close()

	n := 0
	var check func(parent int)
	check = func(parent int) {
		node, at := cursor.Node(), n
		n++
		if got := tree.Kind(at); got != node.Kind() {
			t.Fatalf("node %d is %q, want %q", at, got, node.Kind())
		}
		got := tree.Nodes[at]
		if uint(got.Start) != node.StartByte() || uint(got.End) != node.EndByte() {
			t.Fatalf("node %d spans %d-%d, want %d-%d", at, got.Start, got.End, node.StartByte(), node.EndByte())
		}
		if tree.FieldName(at) != cursor.FieldName() || tree.Named(at) != node.IsNamed() || tree.Parent(at) != parent {
			t.Fatalf("node %d: role %q, named %v, parent %d", at, tree.FieldName(at), tree.Named(at), tree.Parent(at))
		}
		if line := tree.Line(got.Start); line != int(node.StartPosition().Row)+1 {
			t.Fatalf("node %d is in line %d, want %d", at, line, node.StartPosition().Row+1)
		}
		if cursor.GotoFirstChild() {
			for more := true; more; more = cursor.GotoNextSibling() {
				check(at)
			}
			cursor.GotoParent()
		}
		if tree.End(at) != n {
			t.Fatalf("the subtree of %d ends at %d, want %d", at, tree.End(at), n)
		}
	}
	check(syntax.None)
	if n != len(tree.Nodes) || tree.Errors() == 0 {
		t.Errorf("%d nodes with %d errors, want %d with some", len(tree.Nodes), tree.Errors(), n)
	}
}

func TestParseStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := syntax.NewLanguage(grammargo.Language()).Parse(ctx, []byte("package a"))
	if domain.CodeOf(err) != domain.CodeCanceled {
		t.Errorf("got %v, want canceled", err)
	}
}

func TestParseRefusesHugeTexts(t *testing.T) {
	t.Parallel()
	_, err := syntax.NewLanguage(grammargo.Language()).Parse(t.Context(), make([]byte, syntax.MaxBytes+1))
	if domain.CodeOf(err) != domain.CodeTooLarge {
		t.Errorf("got %v, want too_large", err)
	}
}

func TestDeepTreesAreFlattened(t *testing.T) {
	t.Parallel()
	const depth = 20_000
	src := "package a\nvar x = " + strings.Repeat("(", depth) + "1" + strings.Repeat(")", depth)
	tree, err := syntax.NewLanguage(grammargo.Language()).Parse(t.Context(), []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	deepest := 0
	for n := range tree.Nodes {
		if tree.Kind(n) == "parenthesized_expression" {
			deepest++
		}
	}
	if deepest != depth {
		t.Errorf("%d nested expressions, want %d", deepest, depth)
	}
}
