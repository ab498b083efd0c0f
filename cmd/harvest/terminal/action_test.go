package terminal_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
)

func TestATurnThatWaits(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	screen := terminal.New(&out, false, func() int { return 100 })
	turn := terminal.NewTurn(screen)
	err := play(t, turn.Show,
		`{"type":"text_delta","text":"I remove it."}`,
		`{"type":"confirm_action","id":"a1","call_id":"c1","name":"drop","input":{"id":"x"},"description":"Run drop with:\n  id: x","nonce":"n","hash":"h","expires_at":"2026-12-01T12:00:00Z"}`,
		`{"type":"unlock","conv_id":"c"}`,
		`{"type":"action_decided","id":"a1","status":"rejected","decided_by":"u","name":"Grace","reason":"not today"}`,
		`{"type":"tool_result","id":"c1","name":"drop","preview":"rejected by Grace","error":true,"truncated":false}`,
		`{"type":"done","answer":"I did not.","sources":[],"tool_calls_made":1,"provider_used":null,"reason":"answered","usage":{"cost":0}}`)
	screen.Close()
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{"this waits for your approval", "    Run drop with:\n      id: x\n", "harvest actions approve a1", "harvest actions reject a1", "rejected by Grace: not today"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
}
