// Package pdf renders Markdown as PDF: headings, paragraphs, lists, quotes, code, tables and
// links, in the Go fonts, which have Latin, Greek and Cyrillic letters. Images and HTML are
// left out, with their text in their place: nothing is fetched, and nothing is run.
package pdf

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
)

// Document is what is rendered.
type Document struct {
	Title    string // of the file, for readers' windows; the text begins with its own heading
	Markdown string
	At       time.Time // becomes the file's date
}

// Measures are in millimetres, sizes of type in points.
const (
	margin     = 20.0
	lineHeight = 5.4
	bodySize   = 10.5
	codeSize   = 9.0
	indentStep = 6.0
	gap        = 2.4 // between blocks
	maxIndent  = 60.0

	sans = "sans"
	mono = "mono"
)

var parser = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify)).Parser()

// Render gives the PDF file of a document. It ends with the error of ctx soon after that ends.
func Render(ctx context.Context, d Document) ([]byte, error) {
	out := fpdf.New("P", "mm", "A4", "")
	out.SetTitle(d.Title, true)
	out.SetCreator("Harvest", true)
	out.SetCreationDate(d.At.UTC())
	out.SetModificationDate(d.At.UTC())
	out.SetCatalogSort(true)
	out.SetMargins(margin, margin, margin)
	out.SetAutoPageBreak(true, margin)
	for _, f := range []struct {
		family, style string
		ttf           []byte
	}{{sans, "", goregular.TTF}, {sans, "B", gobold.TTF}, {sans, "I", goitalic.TTF}, {sans, "BI", gobolditalic.TTF}, {mono, "", gomono.TTF}} {
		out.AddUTF8FontFromBytes(f.family, f.style, f.ttf)
	}
	out.SetFooterFunc(func() {
		out.SetY(-margin + 6)
		out.SetFont(sans, "", 8)
		out.SetTextColor(120, 120, 120)
		out.CellFormat(0, 5, fmt.Sprint(out.PageNo()), "", 0, "C", false, 0, "")
		out.SetTextColor(0, 0, 0)
	})
	out.AddPage()
	source := []byte(d.Markdown)
	root, err := parse(ctx, source)
	if err != nil {
		return nil, err
	}
	p := &page{Fpdf: out, ctx: ctx, source: source}
	p.blocks(root)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var file bytes.Buffer
	if err := out.Output(&file); err != nil {
		return nil, fmt.Errorf("write the PDF: %w", err)
	}
	return file.Bytes(), nil
}

// parse reads Markdown. The parser can't be stopped, and takes minutes for some texts
// (ten thousands of quotes in each other, of stars that emphasise nothing): it is left to end
// by itself where ctx ends first.
func parse(ctx context.Context, source []byte) (ast.Node, error) {
	type result struct {
		root  ast.Node
		fault any
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.fault = recover()
			done <- r
		}()
		r.root = parser.Parse(text.NewReader(source))
	}()
	select {
	case r := <-done:
		if r.fault != nil {
			return nil, fmt.Errorf("panic: %v", r.fault)
		}
		return r.root, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// page writes blocks one under the other.
type page struct {
	*fpdf.Fpdf
	ctx    context.Context // what is written after its end is thrown away
	source []byte
	indent float64
	depth  int
}

// maxDepth bounds how deep lists and quotes are shown in each other.
const maxDepth = 40

// blocks writes the children of a node.
func (p *page) blocks(parent ast.Node) {
	if p.depth++; p.depth <= maxDepth {
		for n := parent.FirstChild(); n != nil && p.ctx.Err() == nil; n = n.NextSibling() {
			p.block(n)
		}
	}
	p.depth--
}

// left moves the left edge by some millimetres while it runs do.
func (p *page) left(by float64, do func()) {
	if p.indent+by > maxIndent {
		by = 0
	}
	p.indent += by
	p.SetLeftMargin(margin + p.indent)
	p.SetX(margin + p.indent)
	do()
	p.indent -= by
	p.SetLeftMargin(margin + p.indent)
	p.SetX(margin + p.indent)
}

// end ends a block that was written as running text.
func (p *page) end(space float64) {
	p.Ln(lineHeight)
	p.Ln(space)
}

// clean leaves out what a line of a PDF can't hold.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r == 0x7f:
			return -1
		case r > 0xffff: // beyond what the fonts can address
			return '\u25a1'
		}
		return r
	}, s)
}
