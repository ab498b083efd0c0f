package graph

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	defaultHits = 20
	maxHits     = 100
	// fewHits is how many matches make a search by likeness superfluous.
	fewHits = 3
	// shortest is the length in letters that an index by parts of names needs.
	shortest = 3
)

// Search is a SymbolQuery made ready.
type Search struct {
	SymbolQuery
	Folded    string
	Words     []string // of the name, at most 6, in lower case
	Qualifier string   // lower case; "" for none
}

// NewSearch reads a query; invalid where its text or kind is of no use.
func NewSearch(q SymbolQuery) (Search, error) {
	if q.Limit <= 0 {
		q.Limit = defaultHits
	}
	q.Limit = min(q.Limit, maxHits)
	text := strings.TrimSpace(q.Text)
	if text == "" {
		return Search{}, domain.Invalid("query", "say what to search for")
	}
	if len(text) > 200 {
		return Search{}, domain.Invalid("query", "a name has at most 200 bytes; use search_text for longer texts")
	}
	s := Search{SymbolQuery: q}
	if !strings.ContainsAny(text, " \t") {
		readings, _ := SymbolRef{Name: text}.Alternatives()
		for _, r := range readings {
			if r.Qualifier != "" {
				text, s.Qualifier = r.Name, strings.ToLower(r.Qualifier)
				break
			}
		}
	}
	s.Folded, s.Words = Fold(text), Words(text)
	s.Words = s.Words[:min(len(s.Words), 6)]
	if kinds := s.Kinds(); kinds != nil && len(kinds) == 0 {
		return Search{}, domain.Invalid("kind", "%q is no kind of symbol; use function, class, any, or one of %v", q.Kind, allKinds)
	}
	return s, nil
}

var allKinds = []domain.SymbolKind{domain.KindFunction, domain.KindMethod, domain.KindStruct, domain.KindEnum, domain.KindTrait,
	domain.KindClass, domain.KindInterface, domain.KindModule, domain.KindConstant, domain.KindType}

// Kinds are the kinds of symbols that the query wants: nil for any, empty for an unknown one.
func (s Search) Kinds() []domain.SymbolKind {
	kinds := []domain.SymbolKind{}
	for _, kind := range allKinds {
		switch s.Kind {
		case "", "any":
			return nil
		case "function":
			if kind.Function() {
				kinds = append(kinds, kind)
			}
		case "class":
			if kind.Class() {
				kinds = append(kinds, kind)
			}
		default:
			if string(kind) == s.Kind {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

// Short reports whether no word of the text is long enough to be found inside of names: then
// only names that begin with the text match.
func (s Search) Short() bool {
	return !slices.ContainsFunc(s.Words, func(word string) bool { return utf8.RuneCountInString(word) >= shortest })
}

// WantsAlike reports whether, after a number of matches, names that look alike are of use too.
func (s Search) WantsAlike(matches int) bool {
	return matches < fewHits && utf8.RuneCountInString(s.Folded) >= shortest
}

// TierScore is the score of a hit: 1 for an equal name (tier 0), 0.9, 0.8 and 0.7 for one that
// begins with the text, holds it at the start of a part, or anywhere; and for a name that only
// looks alike (tier 4) 0.6 times its likeness, which is up to 1.
func TierScore(tier int, likeness float64) float64 {
	if tier < 4 {
		return 1 - float64(tier)/10
	}
	return 0.6 * likeness
}

// MergeHits appends those of more that hits does not hold.
func MergeHits(hits, more []Hit) []Hit {
	type place struct{ repo, path, local string }
	seen := make(map[place]bool, len(hits))
	for _, h := range hits {
		seen[place{h.Repo, h.Path, h.Local}] = true
	}
	for _, h := range more {
		if !seen[place{h.Repo, h.Path, h.Local}] {
			hits = append(hits, h)
		}
	}
	return hits
}
