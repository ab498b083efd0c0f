package library_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/library"
)

var ada = domain.Author{UserID: "ada"}

func TestArtifactsHaveVersions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, project := shelf(t)
	artifacts := library.NewArtifacts(store)
	a, err := artifacts.Create(ctx, domain.Artifact{ProjectID: project, Title: " Guide ", Kind: domain.ArtifactMarkdown, Content: "one\ntwo\n"}, ada)
	if err != nil || a.Title != "Guide" || a.Version != 1 || a.CreatedBy != "ada" {
		t.Fatalf("made %+v, %v", a, err)
	}
	text := "one\n2\n"
	b, err := artifacts.Update(ctx, a.ID, domain.ArtifactChange{Content: &text, Version: 1, Author: domain.Author{UserID: "grace", TurnID: "t1", CallID: "c1"}})
	if err != nil || b.Version != 2 {
		t.Fatalf("changed %+v, %v", b, err)
	}
	if b, err = artifacts.Update(ctx, a.ID, domain.ArtifactChange{Content: &text, Author: ada}); err != nil || b.Version != 2 {
		t.Errorf("a change of nothing: %+v, %v", b, err)
	}
	_, err = artifacts.Update(ctx, a.ID, domain.ArtifactChange{Title: &text, Version: 2, Author: ada})
	wantCode(t, "a title of two lines", err, domain.CodeInvalid)
	other := "three\n"
	_, err = artifacts.Update(ctx, a.ID, domain.ArtifactChange{Content: &other, Version: 1, Author: ada})
	wantCode(t, "a change of an old version", err, domain.CodeConflict)
	if d, err := artifacts.Diff(ctx, a.ID, 1, 2); err != nil || !strings.Contains(d.Diff, " one\n-two\n+2\n") {
		t.Errorf("diff %+v, %v", d, err)
	}
	if b, err = artifacts.Restore(ctx, a.ID, 1, ada); err != nil || b.Version != 3 || b.Content != a.Content {
		t.Errorf("restored %+v, %v", b, err)
	}
	versions, err := artifacts.Versions(ctx, a.ID)
	if err != nil || len(versions) != 3 || versions[0].RestoredFrom != 1 || versions[1].Author != "grace" || versions[1].TurnID != "t1" {
		t.Errorf("versions %+v, %v", versions, err)
	}
	if file, err := artifacts.Download(ctx, a.ID, 2); err != nil || file.Name != "guide.md" || string(file.Body) != text {
		t.Errorf("file %+v, %v", file, err)
	}
	_, err = artifacts.Delete(ctx, a.ID, 2)
	wantCode(t, "the deletion of an old version", err, domain.CodeConflict)
	if version, err := artifacts.Delete(ctx, a.ID, 3); err != nil || version != 3 {
		t.Errorf("deleted at version %d, %v", version, err)
	}
	_, err = artifacts.Delete(ctx, a.ID, 3)
	wantCode(t, "the second deletion", err, domain.CodeNotFound)
	_, err = artifacts.Get(ctx, a.ID)
	wantCode(t, "after the deletion", err, domain.CodeNotFound)
}

// Of many who change the same version at once one wins, and a repeated call writes once.
func TestArtifactsAreWrittenOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, project := shelf(t)
	artifacts := library.NewArtifacts(store)
	call := domain.Author{UserID: "ada", TurnID: "t", CallID: "c"}
	var ids sync.Map
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			a, err := artifacts.Create(ctx, domain.Artifact{ProjectID: project, Title: "Once", Kind: domain.ArtifactContext, Content: "x"}, call)
			if err != nil {
				t.Error(err)
			}
			ids.Store(a.ID, true)
		})
	}
	all.Wait()
	list, err := artifacts.List(ctx, project)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d artifacts, %v", len(list), err)
	}
	if _, known := ids.Load(list[0].ID); !known {
		t.Error("the repeated calls gave another artifact")
	}
	var won sync.Map
	for i := range 6 {
		all.Go(func() {
			text := strings.Repeat("y", i+1)
			if _, err := artifacts.Update(ctx, list[0].ID, domain.ArtifactChange{Content: &text, Version: 1, Author: ada}); err == nil {
				won.Store(i, true)
			} else if domain.CodeOf(err) != domain.CodeConflict {
				t.Error(err)
			}
		})
	}
	all.Wait()
	winners := 0
	won.Range(func(any, any) bool { winners++; return true })
	if winners != 1 {
		t.Errorf("%d changes of one version won", winners)
	}
	// The call of another attempt finds what the first has written, though versions went on.
	text, again := "changed", domain.Author{UserID: "ada", TurnID: "t", CallID: "d"}
	for range 2 {
		if _, err := artifacts.Update(ctx, list[0].ID, domain.ArtifactChange{Content: &text, Version: 2, Author: again}); err != nil {
			t.Error(err)
		}
	}
	if a, err := artifacts.Get(ctx, list[0].ID); err != nil || a.Version != 3 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestBundlesAreKeptInOneForm(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, project := shelf(t)
	artifacts := library.NewArtifacts(store)
	a, err := artifacts.Create(ctx, domain.Artifact{ProjectID: project, Title: "Net", Kind: domain.ArtifactTerraform, Content: `{"z.tf":"z\n","main.tf":"a\nb\n"}`}, ada)
	if err != nil || a.Content != "{\n  \"main.tf\": \"a\\nb\\n\",\n  \"z.tf\": \"z\\n\"\n}" {
		t.Fatalf("made %+v, %v", a, err)
	}
	text := `{"main.tf":"a\nc\n","new.tf":"n\n"}`
	if _, err := artifacts.Update(ctx, a.ID, domain.ArtifactChange{Content: &text, Author: ada}); err != nil {
		t.Fatal(err)
	}
	d, err := artifacts.Diff(ctx, a.ID, 1, 2)
	for _, part := range []string{"--- main.tf", "-b\n+c\n", "+++ new.tf", "+n\n", "--- z.tf", "-z\n"} {
		if !strings.Contains(d.Diff, part) {
			t.Errorf("the diff lacks %q: %s (%v)", part, d.Diff, err)
		}
	}
	if file, err := artifacts.Download(ctx, a.ID, 0); err != nil || file.Type != "application/json" || file.Name != "net.json" {
		t.Errorf("file %+v, %v", file, err)
	}
	bad := `{"../main.tf":"a"}`
	_, err = artifacts.Update(ctx, a.ID, domain.ArtifactChange{Content: &bad, Author: ada})
	wantCode(t, "a path that leads out", err, domain.CodeInvalid)
	for kind, content := range map[domain.ArtifactKind]string{"zip": "x", "markdown": " ", "context": strings.Repeat("x", domain.MaxArtifactBytes+1)} {
		if _, err := artifacts.Create(ctx, domain.Artifact{ProjectID: project, Title: "x", Kind: kind, Content: content}, ada); err == nil {
			t.Errorf("%s was kept", kind)
		}
	}
}

// A PDF is rendered beside the request, by whichever process renders, and each version anew.
func TestPDFsAreRendered(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	store, project := shelf(t)
	artifacts := library.NewArtifacts(store)
	a, err := artifacts.Create(ctx, domain.Artifact{ProjectID: project, Title: "Über uns", Kind: domain.ArtifactPDF, Content: "# Title\n\nText."}, ada)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := store.Rendering(ctx, a.ID, 1); err != nil || out.Body != nil {
		t.Fatalf("it is rendered already: %v", err)
	}
	var renderers sync.WaitGroup
	for range 2 {
		renderers.Go(func() { library.NewArtifacts(store).Render(ctx, func(err error) { t.Error(err) }) })
	}
	defer renderers.Wait()
	defer cancel()
	text := "# Another\n"
	if _, err := artifacts.Update(ctx, a.ID, domain.ArtifactChange{Content: &text, Author: ada}); err != nil {
		t.Fatal(err)
	}
	var files [][]byte
	for _, version := range []int{1, 2} {
		file, err := artifacts.Download(ctx, a.ID, version)
		if err != nil || file.Name != "über-uns.pdf" || !bytes.HasPrefix(file.Body, []byte("%PDF-")) {
			t.Fatalf("version %d: %q, %v", version, file.Name, err)
		}
		files = append(files, file.Body)
	}
	if bytes.Equal(files[0], files[1]) {
		t.Error("both versions are one file")
	}
}

// Who asks for a PDF that can't be is told what they can do; other faults are ours.
func TestNoPDF(t *testing.T) {
	t.Parallel()
	store, project := shelf(t)
	artifacts := library.NewArtifacts(store)
	for fault, code := range map[string]domain.Code{"it took longer than 30s": domain.CodeUnprocessable, "panic: index out of range": domain.CodeInternal} {
		a, err := artifacts.Create(t.Context(), domain.Artifact{ProjectID: project, Title: "Plan", Kind: domain.ArtifactPDF, Content: "text"}, ada)
		if err == nil {
			err = store.SaveRendering(t.Context(), a.ID, 1, domain.Rendered{Fault: fault})
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := artifacts.Download(t.Context(), a.ID, 1); domain.CodeOf(err) != code || err == nil {
			t.Errorf("%s: %v, want code %q", fault, err, code)
		}
	}
}
