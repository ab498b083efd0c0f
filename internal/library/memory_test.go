package library_test

import (
	"context"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/library"
	"github.com/harvest-engine/harvest/tools"
)

func TestMemories(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, project := shelf(t)
	memories := library.NewMemories(store)
	m, err := memories.Create(ctx, domain.Memory{ProjectID: project, Title: " Window ", Content: "Sunday at six."}, domain.Author{UserID: "ada", TurnID: "t1", CallID: "c1"})
	if err != nil || m.Title != "Window" || m.CreatedBy != "ada" || m.TurnID != "t1" {
		t.Fatalf("made %+v, %v", m, err)
	}
	again, err := memories.Create(ctx, domain.Memory{ProjectID: project, Title: "Window", Content: "Sunday at six."}, domain.Author{UserID: "ada", TurnID: "t1", CallID: "c1"})
	if err != nil || again.ID != m.ID {
		t.Errorf("a repeated call made %+v, %v", again, err)
	}
	text := "Monday at six."
	if err := memories.Update(ctx, project, m.ID, domain.MemoryChange{Content: &text}); err != nil {
		t.Error(err)
	}
	if m, err := memories.Get(ctx, project, m.ID); err != nil || m.Content != text || m.Title != "Window" {
		t.Errorf("%+v, %v", m, err)
	}
	stale := memories.Update(ctx, project, m.ID, domain.MemoryChange{Content: &text, Version: 1})
	wantCode(t, "a change of an old version", stale, domain.CodeConflict)
	if got := domain.PublicMessage(stale); !strings.Contains(got, "has version 2 now") {
		t.Errorf("the refusal says %q", got)
	}
	if list, err := memories.List(ctx, project); err != nil || len(list) != 1 || list[0].Content != "" {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = memories.Get(ctx, "other", m.ID)
	wantCode(t, "of another project", err, domain.CodeNotFound)
	wantCode(t, "change it from there", memories.Update(ctx, "other", m.ID, domain.MemoryChange{Content: &text}), domain.CodeNotFound)
	wantCode(t, "delete it from there", memories.Delete(ctx, "other", m.ID), domain.CodeNotFound)
	long := strings.Repeat("x", domain.MaxMemoryContent+1)
	wantCode(t, "too long", memories.Update(ctx, project, m.ID, domain.MemoryChange{Content: &long}), domain.CodeInvalid)
	if err := memories.Delete(ctx, project, m.ID); err != nil {
		t.Error(err)
	}
	wantCode(t, "twice", memories.Delete(ctx, project, m.ID), domain.CodeNotFound)
}

// What fits a question comes, the best first; what does not, and what is another project's,
// stays away.
func TestRecall(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, project := shelf(t)
	memories := library.NewMemories(store)
	keep := func(project, title, content string) {
		t.Helper()
		if _, err := memories.Create(ctx, domain.Memory{ProjectID: project, Title: title, Content: content}, ada); err != nil {
			t.Fatal(err)
		}
	}
	keep(project, "Restarting payments", "The payment service must be drained before a restart: harvest-drain payments, then systemctl restart payments.")
	keep(project, "Payment provider", "Payments go through Acme. Their support answers on workdays.")
	keep(project, "Lunch", "The server room is closed on Sundays, and lunch is at noon.")
	keep(project, "Größe der Datenbank", "Die Datenbank darf höchstens 80 GB groß werden.")
	other, err := store.CreateProject(ctx, domain.Project{Name: "other", GroupID: "everyone", CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	keep(other.ID, "Restarting payments", "Never restart the payment service here.")

	for question, want := range map[string]string{
		"How do I restart the payment service on the server?": "Restarting payments, Payment provider",
		"Who is our provider of payments?":                    "Payment provider, Restarting payments",
		"Where is the server started?":                        "",
		"lunch":                                               "Lunch",
		"Wie groß darf die Datenbank werden?":                 "Größe der Datenbank",
		"the of and":                                          "",
		"' | & ! <-> :* \\ \" (":                              "",
		"":                                                    "",
	} {
		list, err := memories.Recall(ctx, project, question)
		var titles []string
		for _, m := range list {
			titles = append(titles, m.Title)
			if m.Content == "" {
				t.Errorf("%s comes without its content", m.Title)
			}
		}
		got := strings.Join(titles, ", ")
		first, _, _ := strings.Cut(want, ", ")
		if err != nil || (want == "") != (got == "") || !strings.HasPrefix(got, first) || strings.Contains(got, "Lunch") != strings.Contains(want, "Lunch") {
			t.Errorf("%q recalls %q, want %q (%v)", question, got, want, err)
		}
	}
	if none, err := memories.Recall(ctx, "", "restart payments"); err != nil || len(none) != 0 {
		t.Errorf("without a project: %+v, %v", none, err)
	}
}

func TestModelsRemember(t *testing.T) {
	t.Parallel()
	store, project := shelf(t)
	memories := library.NewMemories(store)
	d := &desk{T: t, registry: tools.NewRegistry(tools.MemoryTools(memories)...), scope: domain.Scope{ProjectID: project, UserID: "ada", TurnID: "t9"}}
	res := d.says("remember", `{"title":"Window","content":"Deploy on Sundays at six."}`, false, "Remembered")
	if strings.Contains(res.Preview, "Sundays") {
		t.Errorf("the preview tells the content: %s", res.Preview)
	}
	d.says("remember", `{"title":"window","content":"deploy on  Sundays at six."}`, false, "Remembered") // which is the same note
	d.says("remember", `{"title":"Window"}`, true, "content is required")
	d.says("remember", `{"title":"a\nb","content":"x"}`, true, "title must be one line")
	list, err := memories.List(t.Context(), project)
	if err != nil || len(list) != 1 || list[0].TurnID != "t9" || list[0].CreatedBy != "ada" {
		t.Errorf("%+v, %v", list, err)
	}
	d.scope.ProjectID = ""
	d.says("remember", `{"title":"Window","content":"x"}`, true, "no project")
}
