package activities

import (
	"context"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// reasonRedacted is the reason of a retry event where a text is said again without a secret.
const reasonRedacted domain.Code = "redacted"

// retract takes out of what an answer has said already what one of its calls gave as a secret
// only then. The blocks that hold it end before it, readers are told to drop the answer's
// text, and then are given all of it again without. The open block is changed in place.
func (a *Model) retract(ctx context.Context, stream *textStream, claim domain.CallClaim, open *domain.ClosedBlock, out *outcome) error {
	if out.hide == nil {
		return nil
	}
	blocks, since := stream.blocks()
	var cut []domain.ClosedBlock
	var again []domain.NewEvent
	for i, b := range blocks {
		text := out.hide(b.Text)
		if i >= since {
			again = append(again, domain.NewPayload(b.Type, map[string]string{"text": text}))
		}
		if text != b.Text {
			b.Text = common(b.Text, text)
			cut = append(cut, b)
		}
	}
	changed := len(cut) > 0
	if open != nil {
		text := out.hide(open.Text)
		again = append(again, domain.NewPayload(open.Type, map[string]string{"text": text}))
		changed = changed || text != open.Text
		open.Text = common(open.Text, text)
	}
	if !changed {
		return nil
	}
	out.events = append(append([]domain.NewEvent{retryEvent(reasonRedacted, "a secret was taken out of the text", 0)}, again...), out.events...)
	if len(cut) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitPatience)
	defer cancel()
	return a.Store.CutBlocks(ctx, claim, cut)
}

// common gives what two texts begin with alike, in whole characters.
func common(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}
