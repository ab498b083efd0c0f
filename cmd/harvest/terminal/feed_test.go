package terminal_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/domain"
)

// raw is an event as the API sends it.
type raw string

func (r raw) Decode(out any) error { return json.Unmarshal([]byte(r), out) }

func TestFeed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	screen := terminal.New(&out, false, func() int { return 80 })
	feed := terminal.NewFeed(screen, map[string]string{"a": "Storage"})
	for _, e := range []raw{
		`{"type":"presence","users":[{"name":"Ada"},{"name":"Grace"}]}`,
		`{"type":"presence","users":[{"name":"Ada"},{"name":"Grace"}]}`,
		`{"type":"user_leave","name":"Grace"}`,
		`{"type":"lock","conv_id":"a","by":"Ada"}`,
		`{"type":"user_message","conv_id":"a","username":"Ada","query":"Where?\nAnd why?"}`,
		`{"type":"conversation_created","conv_id":"b","conversation":{"id":"b","title":""}}`,
		`{"type":"user_message","conv_id":"b","username":"Eve","query":"Who?"}`,
		`{"type":"text_delta","conv_id":"a","text":"Let me "}`,
		`{"type":"text_delta","conv_id":"b","text":"You."}`,
		`{"type":"text_delta","conv_id":"a","text":"look.\nSo"}`,
		`{"type":"tool_call","conv_id":"a","id":"1","name":"grep","description":"Searching \u001b[31mfor x"}`,
		`{"type":"tool_call","conv_id":"a","id":"2","name":"run_command","hostname":"web1","input":{"agent_id":"a-1"},"description":"Running on a-1: ls a-1"}`,
		`{"type":"tool_call","conv_id":"a","id":"3","name":"run_command","hostname":"","input":["odd"],"description":"Running on 5"}`,
		`{"type":"tool_result","conv_id":"a","id":"1","name":"grep","preview":"3 hits","error":false,"truncated":false}`,
		`{"type":"confirm_action","conv_id":"a","id":"act-1","name":"drop","description":"long"}`,
		`{"type":"action_decided","conv_id":"a","id":"act-1","name":"Grace","status":"approved"}`,
		`{"type":"title_updated","conv_id":"b","title":"Who?"}`,
		`{"type":"title_updated","conv_id":"b","title":"People"}`,
		`{"type":"done","conv_id":"b","answer":"You.","question":{"question":"x","choices":[]}}`,
		`{"type":"suggestions","conv_id":"b","choices":["How many?"]}`,
		`{"type":"question","conv_id":"a","question":"Which one?","choices":["This"]}`,
		`{"type":"error","conv_id":"a","message":"it broke","code":"internal"}`,
		`{"type":"conversation_deleted","conv_id":"b"}`,
		`{"type":"command_ordered","id":"c1","agent_id":"a1","hostname":"web1","command":"df -h","description":"","requester":"u","requester_name":"Ada"}`,
		`{"type":"command_ended","id":"c1","agent_id":"a1","hostname":"web1","requester":"u","requester_name":"Ada","status":"done","exit_code":3,"error":""}`,
		`{"type":"command_ended","id":"c2","agent_id":"a1","hostname":"web1","requester":"u","requester_name":"Ada","status":"failed","exit_code":null,"error":"there is no bash"}`,
		`{"type":"command_ended","id":"c3","agent_id":"a1","hostname":"web1","requester":"u","requester_name":"Ada","status":"expired","exit_code":null,"error":"x"}`,
	} {
		var kind struct{ Type domain.EventType }
		if err := e.Decode(&kind); err != nil {
			t.Fatal(err)
		}
		if err := feed.Show(kind.Type, e); err != nil {
			t.Errorf("%s: %v", e, err)
		}
	}
	screen.Close()
	got := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d  `).ReplaceAllString(out.String(), "")
	want := `here: Ada, Grace
Grace has gone
Storage  Ada asks: Where?
Storage  And why?
Who?  Eve asks: Who?
Storage  Let me look.
Storage  So
Storage  Searching [31mfor x
Storage  Running on web1: ls a-1
Storage  Running on 5
Storage  3 hits
Storage  drop waits for approval: harvest actions show act-1
Storage  approved by Grace
Who?  You.
Who?  is called now: People
People  done
People  ask next: How many?
Storage  asks back: Which one?
Storage  - This
Storage  failed: it broke
People  the conversation was removed
Ada runs on web1: df -h
the command of Ada on web1 ended with exit code 3 (harvest agents logs c1)
the command of Ada on web1 never ran: there is no bash (harvest agents logs c2)
the command of Ada on web1 never ran: the machine stayed away (harvest agents logs c3)
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}
