package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
)

func TestAskingModelAsksAndThenAnswers(t *testing.T) {
	t.Parallel()
	asked := domain.TextMessage(domain.RoleUser, "May the handler be changed?")
	said := func(messages ...domain.Message) domain.ModelResponse {
		var text strings.Builder
		response, err := askingModel{}.Stream(context.Background(), domain.ModelRequest{Messages: messages},
			func(d domain.ModelDelta) error { text.WriteString(d.Text); return nil })
		if err != nil || text.String() != response.Message.Text() {
			t.Errorf("it streams %q and says %q, %v", &text, response.Message.Text(), err)
		}
		return response
	}
	first := said(asked)
	if calls := first.ToolCalls(); first.Stop != domain.StopToolUse || len(calls) != 1 ||
		!askingTools().Asks(context.Background(), domain.Scope{}, calls[0].Tool, calls[0].Input) {
		t.Errorf("at first it says %+v", first)
	}
	result := domain.Message{Role: domain.RoleUser, Blocks: []domain.Block{{Type: domain.BlockToolResult, CallID: "call-0", Text: "It is changed."}}}
	if last := said(asked, first.Message, result); last.Stop != domain.StopEndTurn || len(last.ToolCalls()) > 0 {
		t.Errorf("at last it says %+v", last)
	}
}

func TestAWorkerApartAnswersEachQuestion(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := answer(strings.NewReader(askDone+"\n"+askMemory+"\n"), &out, func() int64 { return 7 }); err != nil {
		t.Fatal(err)
	}
	var reports []apartReport
	for decoder := json.NewDecoder(strings.NewReader(out.String())); decoder.More(); {
		var r apartReport
		if err := decoder.Decode(&r); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	if len(reports) != 3 || reports[1].Done != 7 || reports[1].Heap != 0 || reports[2].Heap <= 0 {
		t.Errorf("it answers %+v", reports)
	}
}

func TestUntilFindsAnEventOfItsType(t *testing.T) {
	t.Parallel()
	events := sse.NewReader(strings.NewReader("data: {\"type\":\"unlock\"}\n\ndata: {\"type\":\"lock\",\"by\":\"done\"}\n\n"), 1000)
	if _, err := until(events, domain.EventLock); err != nil {
		t.Error(err)
	}
	if _, err := until(events, domain.EventDone); err == nil {
		t.Error("it finds an event that does not come")
	}
}
