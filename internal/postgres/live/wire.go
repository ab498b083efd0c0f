package live

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// MaxWire bounds one encoded packet: a notification of Postgres holds less than 8,000 bytes.
const MaxWire = 7000

// maxPieceText keeps a piece within MaxWire however its characters are escaped.
const maxPieceText = 1100

// Message is one of a piece, a row or a mark, as processes tell each other.
type Message struct {
	Piece *domain.TextPiece `json:"p,omitempty"`
	Row   *Row              `json:"r,omitempty"`
	Mark  *Mark             `json:"m,omitempty"`
}

// Mark says that the database holds a subject's log up to a place.
type Mark struct {
	Subject string        `json:"s"`
	Cursor  domain.Cursor `json:"c"`
}

// packet is what travels: From names the process, which ignores its own.
type packet struct {
	From     string            `json:"f"`
	Messages []json.RawMessage `json:"m"`
}

// Encode packs messages into as few packets as fit MaxWire each. Pieces that continue each
// other travel as one; a payload too long to travel is left out.
func Encode(from string, messages []Message) []string {
	var packets []string
	current, size := packet{From: from}, 0
	flush := func() {
		if len(current.Messages) > 0 {
			body, _ := json.Marshal(current) // raw messages that were marshalled before
			packets = append(packets, string(body))
			current, size = packet{From: from}, 0
		}
	}
	for _, m := range join(messages) {
		body, _ := json.Marshal(m) // plain values
		if m.Row != nil && len(body) > MaxWire-200 {
			row := *m.Row
			row.Payload = nil
			body, _ = json.Marshal(Message{Row: &row})
		}
		if size+len(body) > MaxWire-200 {
			flush()
		}
		current.Messages = append(current.Messages, body)
		size += len(body) + 1
	}
	flush()
	return packets
}

// join merges pieces that follow each other directly, and splits long ones.
func join(messages []Message) []Message {
	var out []Message
	for _, m := range messages {
		if m.Piece == nil {
			out = append(out, m)
			continue
		}
		p := *m.Piece
		if n := len(out); n > 0 && out[n-1].Piece != nil {
			last := out[n-1].Piece
			if last.Subject == p.Subject && last.Seq == p.Seq && last.Attempt == p.Attempt &&
				last.End() == p.From && len(last.Text)+len(p.Text) <= maxPieceText {
				last.Text += p.Text
				continue
			}
		}
		for len(p.Text) > maxPieceText {
			cut := maxPieceText
			for cut > maxPieceText-utf8.UTFMax && !utf8.RuneStart(p.Text[cut]) {
				cut--
			}
			head := p
			head.Text = p.Text[:cut]
			out = append(out, Message{Piece: &head})
			p.From, p.Text = p.From+int64(cut), p.Text[cut:]
		}
		out = append(out, Message{Piece: &p})
	}
	return out
}

// Apply hands the messages of a packet to h, unless the process self sent it.
func (h *Hub) Apply(self, body string) error {
	var in struct {
		From     string    `json:"f"`
		Messages []Message `json:"m"`
	}
	if h.Len() == 0 || strings.HasPrefix(body, `{"f":"`+self+`"`) { // as Encode begins: not worth reading
		return nil
	}
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		return domain.Wrap(domain.CodeInternal, err, "a notification can't be read")
	}
	if in.From == self {
		return nil
	}
	for _, m := range in.Messages {
		h.Deliver(m)
	}
	return nil
}

// Deliver hands one message to the readers of its subject.
func (h *Hub) Deliver(m Message) {
	switch {
	case m.Piece != nil:
		h.Piece(*m.Piece)
	case m.Row != nil:
		h.Row(*m.Row)
	case m.Mark != nil:
		h.Mark(m.Mark.Subject, m.Mark.Cursor)
	}
}
