package postgres_test

import (
	"context"
	"slices"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Of the machines of all projects each person is told of those that they may see, by any mix of
// what they ask for.
func TestAgentsSeen(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := newGuest(t) // tools/web, of the group of eve, which is connected
	theirs, err := g.store.CreateProject(ctx, domain.Project{Name: "apps", GroupID: g.other.ID, CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	away, box := g.join(theirs, "m2", whole...), g.join(theirs, "m3", whole...)
	g.exec(`delete from agent_connections where agent_id = $1`, away.ID)
	g.exec(`update agents set hostname = 'box', provider = 'lxd', instance = 'box' where id = $1`, box.ID)
	g.exec(`insert into processes (id, kind, host, pid, active_key, keys) values ('p', 'serve', 'h', 1, '', '{}')`)
	eve := domain.Actor{UserID: g.eve.ID, Role: domain.UserRegular, Groups: []string{g.group.ID}}
	both := domain.Actor{UserID: g.eve.ID, Role: domain.UserRegular, Groups: []string{g.group.ID, g.other.ID}}
	boss := domain.Actor{UserID: "boss", Role: domain.UserAdmin}
	yes, no := true, false
	for name, c := range map[string]struct {
		who    domain.Actor
		filter domain.AgentFilter
		want   []string
	}{
		"a member":           {eve, domain.AgentFilter{}, []string{g.ID}},
		"of two groups":      {both, domain.AgentFilter{}, []string{away.ID, box.ID, g.ID}}, // apps before tools
		"an admin":           {boss, domain.AgentFilter{}, []string{away.ID, box.ID, g.ID}},
		"of no group":        {domain.Actor{UserID: "x"}, domain.AgentFilter{}, nil},
		"by name":            {boss, domain.AgentFilter{Hostname: "web"}, []string{away.ID, g.ID}},
		"by name, not shown": {eve, domain.AgentFilter{Hostname: "box"}, nil},
		"containers":         {boss, domain.AgentFilter{Provider: "lxd"}, []string{box.ID}},
		"by hand":            {boss, domain.AgentFilter{Provider: "manual"}, []string{away.ID, g.ID}},
		"connected":          {boss, domain.AgentFilter{Online: &yes}, []string{box.ID, g.ID}},
		"away":               {boss, domain.AgentFilter{Online: &no}, []string{away.ID}},
		"all of it":          {boss, domain.AgentFilter{Hostname: "box", Provider: "lxd", Online: &yes}, []string{box.ID}},
	} {
		list, err := g.store.AgentsSeen(ctx, c.who, c.filter)
		var got []string
		for _, a := range list {
			got = append(got, a.ID)
			if want := map[string]string{g.ProjectID: "tools", theirs.ID: "apps"}[a.ProjectID]; a.ProjectName != want || want == "" {
				t.Errorf("%s: %s is in %q", name, a.ID, a.ProjectName)
			}
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v (%v)", name, got, c.want, err)
		}
	}
}
