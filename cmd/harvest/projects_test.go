package main

import (
	"strings"
	"testing"
)

func TestATeamUsesProjectsByCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t, `{"rounds":[{"text":"In turns."}]}`, "[[llm]]\nprovider = \"scripted\"\nmodel = \"s\"\nscript = SCRIPT\n")
	ada := newTeamProgram(t, map[string]string{urlVariable: r.base, tokenVariable: r.token})
	if _, said := ada.run(exitOK, "", "projects", "list"); !strings.Contains(said, "there are no projects") {
		t.Errorf("before: %s", said)
	}
	id, _ := ada.run(exitOK, "", "projects", "create", "engine", "--description", "The engine.")
	if list, _ := ada.run(exitOK, "", "projects", "list"); !strings.Contains(list, strings.TrimSpace(id)+"  engine") {
		t.Errorf("list: %s", list)
	}
	if shown, _ := ada.run(exitOK, "", "projects", "show", "engine"); !strings.Contains(shown, `"description": "The engine."`) {
		t.Errorf("shown: %s", shown)
	}
	made, _ := ada.run(exitOK, "", "conversations", "create", "--project", "engine", "Storage of turns")
	made = strings.TrimSpace(made)
	if list, _ := ada.run(exitOK, "", "conversations", "list", "--project", "engine"); !strings.Contains(list, made) || !strings.Contains(list, "Storage of turns") {
		t.Errorf("conversations: %s", list)
	}
	if _, said := ada.run(exitOK, "", "conversations", "list"); !strings.Contains(said, "there are no conversations") {
		t.Errorf("own conversations: %s", said)
	}
	if text, _ := ada.run(exitOK, "", "conversations", "export", made, "--project", "engine"); !strings.HasPrefix(text, "# Storage of turns\n") {
		t.Errorf("export: %s", text)
	}
	if answer, _ := ada.run(exitOK, "", "ask", "--json", "--project", "engine", "--conversation", made, "Where are turns stored?"); !strings.Contains(answer, "In turns.") {
		t.Errorf("answer: %s", answer)
	}
	if text, _ := ada.run(exitOK, "", "--plain", "ask", "--project", "engine", "And runs?"); !strings.Contains(text, "In turns.") {
		t.Errorf("shown: %s", text)
	}
	if text, _ := ada.run(exitOK, "", "conversations", "export", made, "--project", "engine"); !strings.Contains(text, "Where are turns stored?") || !strings.Contains(text, "In turns.") {
		t.Errorf("export after the turn: %s", text)
	}
	ada.run(exitOK, "", "groups", "create", "motors")
	ada.run(exitOK, "", "projects", "move", "engine", "motors")
	if shown, _ := ada.run(exitOK, "", "projects", "show", "engine"); !strings.Contains(shown, `"group_name": "motors"`) {
		t.Errorf("moved: %s", shown)
	}
	ada.run(exitFailed, "", "projects", "move", "engine", "nobodys")
	ada.run(exitUsage, "", "conversations", "export", made, "--format", "pdf")
	ada.run(exitFailed, "", "conversations", "export", made)
	ada.run(exitFailed, "", "conversations", "list", "--project", "none")
	if said, _ := ada.run(exitOK, "", "projects", "delete", "engine"); !strings.Contains(said, "removed: 2 conversations, 4 messages, 2 turns, of which 0 ran") {
		t.Errorf("deleted: %s", said)
	}
	ada.run(exitFailed, "", "projects", "show", "engine")
}
