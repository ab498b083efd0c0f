package library_test

import (
	"context"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/library"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// shelf is a store with a project.
func shelf(t *testing.T) (store *postgres.Store, project string) {
	t.Helper()
	store = postgres.NewStore(testkit.Postgres(t))
	p, err := store.CreateProject(t.Context(), domain.Project{Name: "engine", GroupID: "everyone", CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	return store, p.ID
}

func wantCode(t *testing.T, doing string, err error, want domain.Code) {
	t.Helper()
	if domain.CodeOf(err) != want {
		t.Errorf("%s: error %v (code %q), want code %q", doing, err, domain.CodeOf(err), want)
	}
}

// The skills that come with the program say all that a playbook must, in its order.
func TestSeedsAreWhole(t *testing.T) {
	t.Parallel()
	seeds, err := library.Seeds()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range seeds {
		names = append(names, s.Name)
		if n := strings.Count(s.Content, "\n"); n < 120 {
			t.Errorf("%s has %d lines", s.Name, n)
		}
		if !strings.HasPrefix(s.Content, "---\nname: "+s.Name+"\ndescription: "+s.Description+"\n---\n") {
			t.Errorf("%s does not begin with its name and description", s.Name)
		}
		rest := s.Content
		for _, part := range []string{"When to use", "First look, changes nothing", "Checks", "Signs of failure", "Rollback", "Never without a person's approval"} {
			_, after, found := strings.Cut(rest, "\n## "+part+"\n")
			if !found {
				t.Errorf("%s has no part %q, or not in its place", s.Name, part)
				continue
			}
			rest = after
			if text, _, _ := strings.Cut(after, "\n## "); strings.Count(text, "\n") < 5 {
				t.Errorf("%s says little under %q", s.Name, part)
			}
		}
		if use, _, _ := strings.Cut(s.Content, "## First look"); !strings.Contains(use, "\nNot for ") && !strings.Contains(use, "\nDo not use it ") {
			t.Errorf("%s does not say what it is not for", s.Name)
		}
		if strings.Count(s.Content, "```")%2 != 0 || strings.Count(s.Content, "`")%2 != 0 {
			t.Errorf("%s has code that does not end", s.Name)
		}
	}
	if got := strings.Join(names, " "); got != "canonical-k8s ceph juju landscape lxd openstack" {
		t.Errorf("the skills are %s", got)
	}
}

// Neither a deletion nor a change is undone by another start or by a program with other texts.
func TestSeedsStayAway(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, _ := shelf(t)
	skills := library.NewSkills(store)
	if err := skills.Seed(ctx); err != nil {
		t.Fatal(err)
	}
	all := globals(t, skills)
	if len(all) != 6 || all["juju"].Scope != domain.SkillGlobal || all["juju"].Content != "" {
		t.Fatalf("seeded %+v", all)
	}
	name, text := "ceph-storage", "Ask Ada first."
	if err := skills.Delete(ctx, "", all["juju"].ID); err != nil {
		t.Fatal(err)
	}
	if err := skills.Update(ctx, "", all["ceph"].ID, domain.SkillChange{Name: &name}, "ada"); err != nil {
		t.Fatal(err)
	}
	if err := skills.Update(ctx, "", all["lxd"].ID, domain.SkillChange{Content: &text}, "ada"); err != nil {
		t.Fatal(err)
	}
	for _, start := range []struct {
		doing string
		seed  func() error
	}{
		{"another start", func() error { return skills.Seed(ctx) }},
		{"another program", func() error { return store.SeedSkills(ctx, texts("Better.", "juju", "ceph", "lxd")) }},
		{"an older program", func() error { return skills.Seed(ctx) }},
		{"a still newer one", func() error { return store.SeedSkills(ctx, texts("Best.", "lxd")) }},
	} {
		if err := start.seed(); err != nil {
			t.Fatal(err)
		}
		again := globals(t, skills)
		_, back := again["juju"]
		if back || len(again) != 5 || again[name].Version != 2 || again["lxd"].Version != 2 {
			t.Errorf("after %s: %+v", start.doing, again)
		}
	}
}

// A skill as it was seeded takes each later text once, as a version; an older program that
// starts again beside the newer one doesn't bring its text back.
func TestSeedsGetTheirNewText(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, _ := shelf(t)
	skills := library.NewSkills(store)
	for i, text := range []string{"One.", "One.", "Two.", "One.", "Two.", "Three."} {
		if err := store.SeedSkills(ctx, texts(text, "juju")); err != nil {
			t.Fatal(err)
		}
		if got, want := globals(t, skills)["juju"].Version, []int{1, 1, 2, 2, 2, 3}[i]; got != want {
			t.Errorf("after text %d, %s: version %d, want %d", i, text, got, want)
		}
	}
	s, err := skills.Named(ctx, "", "juju")
	if err != nil || s.Content != "Three." || s.Description != "Says: Three." {
		t.Errorf("the newest is %+v, %v", s, err)
	}
	if err := skills.Restore(ctx, "", s.ID, 2, "ada"); err != nil {
		t.Fatal(err)
	}
	if err := store.SeedSkills(ctx, texts("Four.", "juju")); err != nil {
		t.Fatal(err)
	}
	if s, err = skills.Named(ctx, "", "juju"); err != nil || s.Version != 4 {
		t.Errorf("a version that a person restored was replaced: %+v, %v", s, err)
	}
}

// Programs that start at once seed as one would.
func TestSeedsTogether(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, _ := shelf(t)
	for _, text := range []string{"One.", "Two."} {
		errs := make(chan error)
		for range 4 {
			go func() { errs <- store.SeedSkills(ctx, texts(text, "ceph", "juju", "lxd")) }()
		}
		for range 4 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	}
	for name, s := range globals(t, library.NewSkills(store)) {
		if s.Version != 2 {
			t.Errorf("%s has version %d", name, s.Version)
		}
	}
}

// globals lists the global skills by name.
func globals(t *testing.T, skills *library.Skills) map[string]domain.Skill {
	t.Helper()
	list, err := skills.List(t.Context(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]domain.Skill{}
	for _, s := range list {
		byName[s.Name] = s
	}
	return byName
}

// texts makes seeds with one text.
func texts(text string, names ...string) (seeds []domain.Skill) {
	for _, name := range names {
		seeds = append(seeds, domain.Skill{Name: name, Description: "Says: " + text, Content: text})
	}
	return seeds
}

func TestASkillOfAProjectShadows(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, project := shelf(t)
	skills := library.NewSkills(store)
	if err := skills.Seed(ctx); err != nil {
		t.Fatal(err)
	}
	own, err := skills.Create(ctx, domain.Skill{ProjectID: project, Name: "lxd", Description: "Ours.", Content: "Ask Ada first.", CreatedBy: "ada"})
	if err != nil || own.Scope != domain.SkillProject || own.Version != 1 || own.Content != "---\nname: lxd\ndescription: Ours.\n---\nAsk Ada first." {
		t.Fatalf("made %+v, %v", own, err)
	}
	if only, err := skills.List(ctx, project, false); err != nil || len(only) != 1 {
		t.Errorf("the project's alone: %+v, %v", only, err)
	}
	all, err := skills.List(ctx, project, true)
	if err != nil || len(all) != 6 {
		t.Fatalf("with the global ones: %+v, %v", all, err)
	}
	for _, s := range all {
		if s.Name == "lxd" && s.ID != own.ID {
			t.Error("the global skill shows")
		}
	}
	if s, err := skills.Named(ctx, project, " LXD"); err != nil || s.ID != own.ID {
		t.Errorf("by name: %+v, %v", s, err)
	}
	if s, err := skills.Named(ctx, "", "lxd"); err != nil || s.Scope != domain.SkillGlobal {
		t.Errorf("outside: %+v, %v", s, err)
	}
	_, err = skills.Get(ctx, "", own.ID)
	wantCode(t, "a project's skill as a global one", err, domain.CodeNotFound)
	wantCode(t, "delete it from elsewhere", skills.Delete(ctx, "other", own.ID), domain.CodeNotFound)
	_, err = skills.Create(ctx, domain.Skill{ProjectID: project, Name: "lxd", Description: "Again.", Content: "x"})
	wantCode(t, "a taken name", err, domain.CodeConflict)
}

func TestSkillsHaveVersions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, project := shelf(t)
	skills := library.NewSkills(store)
	s, err := skills.Create(ctx, domain.Skill{ProjectID: project, Content: "---\nname: restart\ndescription: How to restart.\nowner: ops\n---\nStop it.\nStart it.\n", CreatedBy: "ada"})
	if err != nil || s.Name != "restart" || s.Description != "How to restart." {
		t.Fatalf("made %+v, %v", s, err)
	}
	text := "Stop it.\nWait.\nStart it.\n"
	if err := skills.Update(ctx, project, s.ID, domain.SkillChange{Content: &text}, "grace"); err != nil {
		t.Fatal(err)
	}
	if err := skills.Update(ctx, project, s.ID, domain.SkillChange{Name: &s.Name}, "grace"); err != nil { // changes nothing
		t.Fatal(err)
	}
	diff, err := skills.Diff(ctx, project, s.ID, 1, 2)
	if err != nil || !strings.Contains(diff.Diff, " Stop it.\n+Wait.\n Start it.\n") {
		t.Errorf("diff %+v, %v", diff, err)
	}
	if err := skills.Restore(ctx, project, s.ID, 1, "ada"); err != nil {
		t.Fatal(err)
	}
	now, err := skills.Get(ctx, project, s.ID)
	if err != nil || now.Version != 3 || now.Content != s.Content {
		t.Errorf("restored %+v, %v", now, err)
	}
	versions, err := skills.Versions(ctx, project, s.ID)
	if err != nil || len(versions) != 3 || versions[0].RestoredFrom != 1 || versions[1].Author != "grace" || versions[2].Content != "" {
		t.Errorf("versions %+v, %v", versions, err)
	}
	now.Version = 1
	wantCode(t, "a change of an old version", store.ReviseSkill(ctx, now, "ada", 0), domain.CodeConflict)
}

func TestFrontMatterIsJudged(t *testing.T) {
	t.Parallel()
	store, project := shelf(t)
	skills := library.NewSkills(store)
	for name, c := range map[string]struct {
		skill domain.Skill
		says  string
	}{
		"open":            {domain.Skill{Content: "---\nname: a\ndescription: b\n"}, "no line --- ends"},
		"not YAML":        {domain.Skill{Content: "---\nname: [a\n---\nx"}, "not YAML"},
		"a list":          {domain.Skill{Content: "---\n- name\n---\nx"}, "not a list of keys"},
		"a key twice":     {domain.Skill{Content: "---\nname: a\nname: b\n---\nx"}, "the key"},
		"a number":        {domain.Skill{Content: "---\nname: 7\ndescription: b\n---\nx"}, "not a text"},
		"two names":       {domain.Skill{Name: "b", Content: "---\nname: a\ndescription: b\n---\nx"}, "another one"},
		"no name":         {domain.Skill{Description: "b", Content: "x"}, "small letters"},
		"a bad name":      {domain.Skill{Name: "Big Name", Description: "b", Content: "x"}, "small letters"},
		"no description":  {domain.Skill{Name: "a", Content: "x"}, "one line"},
		"nothing to read": {domain.Skill{Content: "---\nname: a\ndescription: b\n---\n \n"}, "a text under"},
		"too long":        {domain.Skill{Name: "a", Description: "b", Content: strings.Repeat("x", 65<<10)}, "65536 bytes"},
	} {
		c.skill.ProjectID = project
		if _, err := skills.Create(t.Context(), c.skill); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	s, err := skills.Create(t.Context(), domain.Skill{ProjectID: project, Content: "---\r\nname: a\r\ndescription: \"b: c\"\r\n---\r\nx"})
	if err != nil || s.Description != "b: c" {
		t.Errorf("other ends of lines: %+v, %v", s, err)
	}
}
