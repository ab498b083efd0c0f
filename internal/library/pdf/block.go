package pdf

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// block writes one block.
func (p *page) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		p.heading(n)
	case *ast.List:
		p.list(n)
	case *ast.Blockquote:
		p.quote(n)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		p.code(n)
	case *ast.ThematicBreak:
		p.rule()
	case *east.Table:
		p.table(n)
	case *ast.HTMLBlock:
		// left out
	case *ast.TextBlock:
		p.inline(n, style{size: bodySize})
		p.end(0)
	default:
		p.inline(n, style{size: bodySize})
		p.end(gap)
	}
}

var headingSizes = [...]float64{0, 20, 16, 13.5, 12, 11, bodySize}

func (p *page) heading(n *ast.Heading) {
	size := headingSizes[min(n.Level, len(headingSizes)-1)]
	if p.GetY() > margin+1 {
		p.Ln(gap)
	}
	_, height := p.GetPageSize()
	if p.GetY()+size > height-2*margin { // not alone at the end of a page
		p.AddPage()
	}
	p.Bookmark(clean(p.plain(n)), n.Level-1, -1)
	p.inline(n, style{size: size, bold: true})
	p.Ln(size * 0.5)
	p.Ln(gap)
}

func (p *page) list(n *ast.List) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "•"
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d.", number)
			number++
		}
		p.SetFont(sans, "", bodySize)
		x := p.GetX()
		p.CellFormat(indentStep, lineHeight, mark, "", 0, "L", false, 0, "")
		p.SetX(x)
		p.left(max(indentStep, p.GetStringWidth(mark)+1.5), func() { p.blocks(item) })
	}
	if n.Parent() == nil || n.Parent().Kind() != ast.KindListItem {
		p.Ln(gap)
	}
}

func (p *page) quote(n *ast.Blockquote) {
	p.SetTextColor(90, 90, 90)
	p.left(indentStep, func() { p.blocks(n) })
	p.SetTextColor(0, 0, 0)
}

// code writes lines as they are, on grey, broken where they are too long.
func (p *page) code(n ast.Node) {
	p.SetFont(mono, "", codeSize)
	p.SetFillColor(244, 244, 244)
	for i := range n.Lines().Len() {
		if p.ctx.Err() != nil {
			return
		}
		segment := n.Lines().At(i)
		line := strings.ReplaceAll(strings.TrimRight(string(segment.Value(p.source)), "\r\n"), "\t", "    ")
		if line = clean(line); line == "" {
			line = " "
		}
		p.MultiCell(0, codeSize*0.48, line, "", "L", true)
	}
	p.Ln(gap)
}

func (p *page) rule() {
	width, _ := p.GetPageSize()
	y := p.GetY() + gap
	p.SetDrawColor(180, 180, 180)
	p.Line(margin+p.indent, y, width-margin, y)
	p.Ln(2 * gap)
}

// table writes columns of equal width; a row is as high as its highest cell.
func (p *page) table(n *east.Table) {
	width, height := p.GetPageSize()
	columns := max(len(n.Alignments), 1)
	each := (width - 2*margin - p.indent) / float64(columns)
	for row := n.FirstChild(); row != nil && p.ctx.Err() == nil; row = row.NextSibling() {
		weight := ""
		if row.Kind() == east.KindTableHeader {
			weight = "B"
		}
		p.SetFont(sans, weight, codeSize)
		var cells [][]string
		lines := 1
		for cell := row.FirstChild(); cell != nil && len(cells) < columns; cell = cell.NextSibling() {
			broken := p.SplitText(clean(p.plain(cell)), each-3)
			cells = append(cells, broken)
			lines = max(lines, len(broken))
		}
		p.row(cells, each, min(float64(lines)*codeSize*0.48+1.6, height-2*margin-1))
	}
	p.SetX(margin + p.indent)
	p.Ln(gap)
}

// row draws the cells of a row, on a new page where it does not fit on this one.
func (p *page) row(cells [][]string, each, high float64) {
	_, height := p.GetPageSize()
	if p.GetY()+high > height-margin {
		p.AddPage()
	}
	top := p.GetY()
	p.SetDrawColor(200, 200, 200)
	for i, cell := range cells {
		x := margin + p.indent + float64(i)*each
		p.Rect(x, top, each, high, "D")
		for j, line := range cell {
			y := top + 0.8 + float64(j)*codeSize*0.48
			if y+codeSize*0.48 > top+high+0.1 {
				break
			}
			p.SetXY(x+1, y)
			p.CellFormat(each-2, codeSize*0.48, line, "", 0, "L", false, 0, "")
		}
	}
	p.SetXY(margin+p.indent, top+high)
}
