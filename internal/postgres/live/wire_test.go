package live_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

// Whatever is sent fits a notification, and arrives whole at a reader elsewhere.
func TestPacketsFitAndArrive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"\x01", "<é", "𝅲"}).Draw(t, "unit"), rapid.IntRange(1, 3000).Draw(t, "times"))
		})), 1, 6).Draw(t, "pieces")
		var messages []live.Message
		whole := ""
		for _, text := range pieces {
			text = domain.CleanText(text)
			messages = append(messages, live.Message{Piece: &domain.TextPiece{
				Subject: "s", Seq: 1, Attempt: 1, Type: domain.EventTextDelta, From: int64(len(whole)), Text: text,
			}})
			whole += text
		}
		long := json.RawMessage(`{"answer":"` + strings.Repeat("x", 9000) + `"}`)
		messages = append(messages,
			live.Message{Row: &live.Row{Subject: "s", Seq: 1, Attempt: 1, Type: domain.EventTextDelta, Length: int64(len(whole))}},
			live.Message{Row: &live.Row{Subject: "s", Seq: 2, Type: domain.EventPhase, Payload: json.RawMessage(`{"label":"x"}`)}},
			live.Message{Row: &live.Row{Subject: "s", Seq: 3, Type: domain.EventDone, Payload: long}})

		hub := live.NewHub()
		feed := hub.Open("s")
		defer feed.Close()
		for _, body := range live.Encode("sender", messages) {
			if len(body) > 7900 {
				t.Fatalf("a packet has %d bytes", len(body))
			}
			if err := hub.Apply("receiver", body); err != nil {
				t.Fatal(err)
			}
		}
		events, pos, covered := feed.Next(live.At(domain.Cursor{}))
		got := ""
		for _, e := range events {
			if e.Type.Block() {
				var body struct{ Text string }
				if err := json.Unmarshal(e.Payload, &body); err != nil {
					t.Fatal(err)
				}
				got += body.Text
			}
		}
		if got != whole {
			t.Errorf("%d bytes of text arrived, want %d", len(got), len(whole))
		}
		if covered || pos.Seq != 2 {
			t.Errorf("after the feed: place %s, covered %v; the long event must be read elsewhere", pos, covered)
		}
	})
}

func TestAProcessIgnoresItself(t *testing.T) {
	t.Parallel()
	hub := live.NewHub()
	feed := hub.Open("s")
	defer feed.Close()
	row := live.Message{Row: &live.Row{Subject: "s", Seq: 1, Type: domain.EventPhase, Payload: json.RawMessage(`{}`)}}
	for _, body := range live.Encode("me", []live.Message{row}) {
		if err := hub.Apply("me", body); err != nil {
			t.Fatal(err)
		}
	}
	if events, _, _ := feed.Next(live.At(domain.Cursor{})); len(events) > 0 {
		t.Errorf("got %v", events)
	}
	if err := hub.Apply("me", "{"); err == nil {
		t.Error("a packet that can't be read is no error")
	}
}

func TestAFeedIsBounded(t *testing.T) {
	t.Parallel()
	hub := live.NewHub()
	feed := hub.Open("s")
	text := strings.Repeat("x", 1000)
	for i := range 2000 {
		hub.Piece(domain.TextPiece{Subject: "s", Seq: 1, Attempt: 1, Type: domain.EventTextDelta, From: int64(i * len(text)), Text: text})
	}
	if _, _, covered := feed.Next(live.At(domain.Cursor{})); covered {
		t.Error("a feed holds two million bytes of a block")
	}
	near := live.Position{Cursor: domain.Cursor{Seq: 1, Offset: 1_990_000}, Attempt: 1}
	if events, _, covered := feed.Next(near); !covered || len(events) != 1 {
		t.Errorf("a reader that is near: %d events, covered %v", len(events), covered)
	}
	feed.Close()
	if hub.Len() != 0 {
		t.Error("a feed without readers is kept")
	}
}
