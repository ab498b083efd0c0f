package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRepositoriesByCommands(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.answer("GET /repositories", `[{"name":"team/app","url":"https://git.example.com/team/app.git","versions":["main","v1"],"version_details":[
{"version":"main","commit":"12433c48a404dd0d26f651df1f7a66a4e9e06286","ingested_at":"2026-12-01T01:02:04Z","stale":true,"files":18,"symbols":144},
{"version":"v1","ingested_at":"2026-12-01T01:02:04Z","files":17,"symbols":140}]}]`)
	m.answer("DELETE /repositories/team%2Fapp", `{"ok":true}`)
	m.answer("DELETE /repositories/none", `404 not_found: there is no repository "none"`)
	out := ada.says(exitOK, "", []string{"NAME", "team/app", "12433c48a4 ", "144", "since", "https://git.example.com/team/app.git"}, "repositories", "list")
	if strings.Count(out, "\n") != 2 {
		t.Errorf("not a line a version:\n%s", out)
	}
	var list []map[string]any
	if out = ada.says(exitOK, "", nil, "repos", "list", "--json"); json.Unmarshal([]byte(out), &list) != nil || len(list) != 1 || list[0]["versions"] == nil {
		t.Errorf("as JSON: %s", out)
	}
	ada.says(exitOK, "", []string{"removed the repository team/app"}, "repositories", "delete", "team/app")
	ada.says(exitFailed, "", []string{`there is no repository "none"`}, "repositories", "delete", "none")
	ada.says(exitUsage, "", []string{"harvest repositories list"}, "repositories", "delete")
}
