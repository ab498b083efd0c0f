package pg

import (
	"slices"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The stored numbers of kinds: positions in these lists, which only grow at their ends.
// Statements name two of them as numbers: calls is edge kind 1, contains is 2.
var (
	symbolKinds = []domain.SymbolKind{"", domain.KindFunction, domain.KindMethod, domain.KindStruct, domain.KindEnum,
		domain.KindTrait, domain.KindClass, domain.KindInterface, domain.KindModule, domain.KindConstant, domain.KindType}
	edgeKinds = []domain.EdgeKind{"", domain.EdgeCalls, domain.EdgeContains, domain.EdgeInherits, domain.EdgeImplements,
		domain.EdgeEmbeds, domain.EdgeUses}
	hows = []domain.How{"", domain.HowExact, domain.HowScoped, domain.HowName}
)

func kindCode(kind domain.SymbolKind) int16 { return code(symbolKinds, kind) }
func edgeCode(kind domain.EdgeKind) int16   { return code(edgeKinds, kind) }
func howCode(how domain.How) int16          { return code(hows, how) }

func code[T comparable](list []T, v T) int16 { return int16(max(slices.Index(list, v), 0)) }

func decoded[T any](list []T, code int16) T {
	if int(code) >= len(list) || code < 0 {
		return list[0]
	}
	return list[code]
}
