package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
)

var lxdSays = domain.Errorf(domain.CodeUpstream, "LXD could not delete the container shed: no space left (500)")

func TestContainersAreMade(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.expect(t, "flavors", "GET", "/projects/p1/agents/flavors", "")
	resp, text := f.call(t, "POST", "/projects/p1/agents/lxd", `{"name":"Web","description":"serves","flavor":"tiny"}`, "Idempotency-Key: k1")
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") || resp.Header.Get("Location") != "/projects/p1/agents/lxd/v1" {
		t.Errorf("answer %d, %v", resp.StatusCode, resp.Header)
	}
	for _, want := range []string{
		"id: 1\ndata: " + `{"type":"phase_start","phase":"ensure_network"}`, `{"type":"install_retry","attempt":2,"attempts":4,"message":"no network"}`,
		`{"type":"done","instance":"web-0001","provision_id":"v1"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the stream lacks %s:\n%s", want, text)
		}
	}
	f.expect(t, "provision_json", "POST", "/projects/p1/agents/lxd", `{"name":"Web","flavor":"tiny"}`, "Accept: application/json")
	want := []domain.ProvisionOrder{
		{ProjectID: "p1", UserID: domain.OwnerID, Name: "Web", Description: "serves", Flavor: "tiny", Key: "k1"},
		{ProjectID: "p1", UserID: domain.OwnerID, Name: "Web", Flavor: "tiny"},
	}
	if diff := cmp.Diff(want, f.machines.orders); diff != "" {
		t.Errorf("orders (-want +got):\n%s", diff)
	}
	if n := len(f.actions.performed); n != 2 {
		t.Errorf("%d calls are noted: each that succeeds vouches for an action", n)
	}
	f.expect(t, "provision", "GET", "/projects/p1/agents/lxd/v1", "")
	f.expect(t, "provision_missing", "GET", "/projects/p1/agents/lxd/v2", "")
	if _, text := f.call(t, "GET", "/projects/p1/agents/lxd/v1/events?after=3", ""); strings.Count(text, "data:") != 1 {
		t.Errorf("after the third event: %s", text)
	}
	f.expect(t, "provision_cancel", "POST", "/projects/p1/agents/lxd/v1/cancel", "")
	f.expect(t, "provision_cancel_again", "POST", "/projects/p1/agents/lxd/v1/cancel", "")
}

func TestContainersAreNotMade(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.expect(t, "provision_bad", "POST", "/projects/p1/agents/lxd", `{"name":"Web","flavor":"huge"}`)
	f.machines.fault = "LXD could not create the container web-0001: no such image (404)"
	f.expect(t, "provision_failed", "POST", "/projects/p1/agents/lxd", `{"name":"Web","flavor":"tiny"}`, "Accept: application/json")
	if resp, text := f.call(t, "POST", "/projects/p1/agents/lxd", `{"name":"Web","flavor":"tiny"}`); resp.StatusCode != 200 || !strings.Contains(text, `"message":"LXD says no","phase":"install_agent","code":"upstream"}`) {
		t.Errorf("the stream of one that fails: %d %s", resp.StatusCode, text)
	}
	if n := len(f.actions.performed); n != 0 {
		t.Errorf("%d calls are noted of what failed", n)
	}
	f.machines.canceled = true
	f.expect(t, "provision_canceled", "POST", "/projects/p1/agents/lxd", `{"name":"Web","flavor":"tiny"}`, "Accept: application/json")
	f.machines.away = domain.Errorf(domain.CodeUnavailable, "LXD can't be used: it does not answer")
	f.expect(t, "provision_unavailable", "POST", "/projects/p1/agents/lxd", `{"name":"Web","flavor":"tiny"}`)
	f.expect(t, "flavors_unavailable", "GET", "/projects/p1/agents/flavors", "")
	if _, text := f.call(t, "GET", "/auth/config", ""); !strings.Contains(text, `"lxd":false`) {
		t.Errorf("without LXD: %s", text)
	}
	f.expect(t, "lxd_token_bad", "POST", "/admin/lxd/token", `{"trust_token":"bad"}`)
	f.expect(t, "lxd_token", "POST", "/admin/lxd/token", `{"trust_token":"good"}`)
	if _, text := f.call(t, "GET", "/auth/config", ""); !strings.Contains(text, `"lxd":true`) {
		t.Errorf("with LXD: %s", text)
	}
}

func TestContainersAreChanged(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, action := range []string{"start", "stop", "restart"} {
		f.expect(t, "agent_"+action, "POST", "/projects/p1/agents/a2/"+action, "")
	}
	f.expect(t, "agent_start_manual", "POST", "/projects/p1/agents/a1/start", "")
	f.expect(t, "agent_start_missing", "POST", "/projects/p1/agents/none/start", "")
	if diff := cmp.Diff([]string{"start a2", "stop a2", "restart a2"}, f.machines.changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	f.machines.refusal = lxdSays
	f.expect(t, "agent_delete_refused", "DELETE", "/projects/p1/agents/a2", "")
	if resp, _ := f.call(t, "GET", "/projects/p1/agents/a2", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("the agent is %d where its container could not be removed", resp.StatusCode)
	}
	if len(f.agents.forgot) != 0 {
		t.Errorf("the hub forgot %v", f.agents.forgot)
	}
}
