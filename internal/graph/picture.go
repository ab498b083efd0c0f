package graph

import (
	"cmp"
	"slices"

	"github.com/harvest-engine/harvest/internal/domain"
)

// PictureLink is an edge between two nodes of a picture, by their positions from 0.
type PictureLink struct {
	From, To int
	Kind     domain.EdgeKind
	How      domain.How
}

// linkOrder says which links a picture keeps first: structure, then calls, then uses.
var linkOrder = map[domain.EdgeKind]int{domain.EdgeCalls: 1, domain.EdgeUses: 2}

// Draw makes a Picture of nodes in their order and of the links between them: structure
// first, then calls, then uses, the surer before the others, and at most maxEdges (0: all).
// Of several links of one kind between the same two the surest is drawn. total is the number
// of symbols that there are.
func Draw(nodes []Hit, links []PictureLink, total, maxEdges int) Picture {
	links = surest(links)
	slices.SortFunc(links, func(a, b PictureLink) int {
		return cmp.Or(cmp.Compare(linkOrder[a.Kind], linkOrder[b.Kind]), cmp.Compare(sureness(a.How), sureness(b.How)),
			cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
	})
	picture := Picture{Nodes: make([]Node, len(nodes)), Edges: []Link{}, TotalNodes: total, Truncated: len(nodes) < total}
	for i, n := range nodes {
		picture.Nodes[i] = Node{ID: n.Path + ":" + n.Local, Name: n.Name, File: n.Path, Kind: string(n.Kind),
			StartLine: n.StartLine, Signature: n.Signature}
	}
	if maxEdges > 0 && len(links) > maxEdges {
		links, picture.Truncated = links[:maxEdges], true
	}
	for _, l := range links {
		source, target := picture.Nodes[l.From].ID, picture.Nodes[l.To].ID
		picture.Edges = append(picture.Edges, Link{ID: string(l.Kind) + ":" + source + ">" + target,
			Source: source, Target: target, Relation: string(l.Kind), How: string(l.How)})
	}
	return picture
}

// surest keeps one link of a kind between the same two nodes.
func surest(links []PictureLink) []PictureLink {
	type ends struct {
		from, to int
		kind     domain.EdgeKind
	}
	at := make(map[ends]int, len(links))
	kept := links[:0]
	for _, l := range links {
		key := ends{l.From, l.To, l.Kind}
		i, again := at[key]
		switch {
		case !again:
			at[key] = len(kept)
			kept = append(kept, l)
		case sureness(l.How) < sureness(kept[i].How):
			kept[i] = l
		}
	}
	return kept
}

// sureness orders the ways of resolution, the surest first.
func sureness(how domain.How) int {
	switch how {
	case domain.HowExact:
		return 0
	case domain.HowScoped:
		return 1
	}
	return 2
}
