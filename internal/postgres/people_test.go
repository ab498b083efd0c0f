package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
)

func person(name string) domain.NewUser {
	return domain.NewUser{Email: name + "@example.com", Name: name, Provider: "local", Password: "hash of " + name}
}

// signUp gives somebody who has signed up.
func signUp(t *testing.T, s *postgres.Store, name string) domain.User {
	t.Helper()
	u, err := s.CreateUser(t.Context(), person(name))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Of many who sign up at once exactly one is the first.
func TestTheFirstPersonIsTheAdmin(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := s.CreateUser(ctx, person(fmt.Sprint("p", i))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	users, err := s.Users(ctx)
	if err != nil || len(users) != 8 {
		t.Fatalf("%d users, %v", len(users), err)
	}
	admins := 0
	for _, u := range users {
		if u.Role == domain.UserAdmin {
			admins++
		}
		if !cmp.Equal(u.GroupIDs, []string{"everyone"}) {
			t.Errorf("%s is in %v", u.Name, u.GroupIDs)
		}
	}
	if admins != 1 {
		t.Errorf("%d of them are admins", admins)
	}
	_, err = s.CreateUser(ctx, domain.NewUser{Email: "P1@Example.com", Name: "again", Provider: "local"})
	wantCode(t, "a taken address", err, domain.CodeConflict)
	u, hash, err := s.UserByEmail(ctx, " P1@EXAMPLE.COM ")
	if err != nil || u.Name != "p1" || hash != "hash of p1" {
		t.Errorf("by e-mail: %+v %q, %v", u, hash, err)
	}
}

// Of two admins who step down at once one stays.
func TestTheLastAdminStays(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ids := [2]string{}
	for i := range ids {
		u, err := s.CreateUser(ctx, person(fmt.Sprint("p", i)))
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = u.ID
	}
	if err := s.SetRole(ctx, ids[1], domain.UserAdmin); err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	codes := [2]domain.Code{}
	for i, id := range ids {
		both.Go(func() { codes[i] = domain.CodeOf(s.SetRole(ctx, id, domain.UserRegular)) })
	}
	both.Wait()
	if codes != [2]domain.Code{"", domain.CodeConflict} && codes != [2]domain.Code{domain.CodeConflict, ""} {
		t.Errorf("two admins stepping down: %q", codes)
	}
	wantCode(t, "the owner", s.SetRole(ctx, domain.OwnerID, domain.UserRegular), domain.CodeConflict)
	wantCode(t, "the owner's groups", s.SetGroups(ctx, domain.OwnerID, []string{"everyone"}), domain.CodeConflict)
	wantCode(t, "a role that there is not", s.SetRole(ctx, ids[0], "king"), domain.CodeInvalid)
	wantCode(t, "nobody", s.SetRole(ctx, "nobody", domain.UserAdmin), domain.CodeNotFound)
}

func TestGroupsShareProjects(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	admin := signUp(t, s, "ada")
	grace := signUp(t, s, "grace")
	red, err := s.CreateGroup(ctx, "red", "the red ones")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.CreateGroup(ctx, "red", "")
	wantCode(t, "a taken name", err, domain.CodeConflict)
	project, err := s.CreateProject(ctx, domain.Project{Name: "engine", GroupID: red.ID, CreatedBy: admin.ID})
	if err != nil || project.GroupName != "red" {
		t.Fatalf("project: %+v, %v", project, err)
	}
	_, err = s.CreateProject(ctx, domain.Project{Name: "lost", GroupID: "nope", CreatedBy: admin.ID})
	wantCode(t, "no such group", err, domain.CodeNotFound)

	sees := func(id string) int {
		t.Helper()
		who, err := s.Actor(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		seen, err := s.Projects(ctx, who)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := s.Project(ctx, project.ID); err != nil || p.VisibleTo(who) != (len(seen) == 1) {
			t.Errorf("%s lists %d projects, but visible is %v, %v", who.Name, len(seen), p.VisibleTo(who), err)
		}
		return len(seen)
	}
	if a, g := sees(admin.ID), sees(grace.ID); a != 1 || g != 0 {
		t.Errorf("the admin sees %d, another person %d", a, g)
	}
	if err := s.SetGroups(ctx, grace.ID, []string{red.ID, red.ID}); err != nil || sees(grace.ID) != 1 {
		t.Errorf("a member: %v", err)
	}
	wantCode(t, "no such group", s.SetGroups(ctx, grace.ID, []string{"nope"}), domain.CodeInvalid)
	if groups, err := s.Groups(ctx, grace.ID); err != nil || len(groups) != 1 || groups[0].ID != red.ID {
		t.Errorf("her groups: %+v, %v", groups, err)
	}
	name := "motor"
	if err := s.UpdateProject(ctx, project.ID, &name, nil); err != nil {
		t.Error(err)
	}
	if err := s.DeleteGroup(ctx, red.ID); err != nil || sees(grace.ID) != 0 || sees(admin.ID) != 1 {
		t.Errorf("without the group: %v", err)
	}
	if p, err := s.Project(ctx, project.ID); err != nil || p.Name != "motor" || p.GroupID != "" {
		t.Errorf("the project is left as %+v, %v", p, err)
	}
	wantCode(t, "a move to a group that is gone", s.MoveProject(ctx, project.ID, red.ID), domain.CodeInvalid)
	wantCode(t, "a move of no project", s.MoveProject(ctx, "none", "everyone"), domain.CodeNotFound)
	if err := s.SetGroups(ctx, grace.ID, []string{"everyone"}); err != nil {
		t.Fatal(err)
	}
	told := make(chan struct{}, 1)
	go s.FollowAccess(t.Context(), func() {
		select {
		case told <- struct{}{}:
		default:
		}
	})
	deadline := time.Now().Add(time.Minute)
	for len(told) == 0 { // it may begin to follow after the first move
		if err := s.MoveProject(ctx, project.ID, "everyone"); err != nil || time.Now().After(deadline) {
			t.Fatalf("nobody hears of the move: %v", err)
		}
	}
	if sees(grace.ID) != 1 {
		t.Error("the project did not move")
	}
	wantCode(t, "a group that is gone", s.SetDefaultGroup(ctx, red.ID, true), domain.CodeNotFound)
}

func TestPeopleChangeThemselves(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	u := signUp(t, s, "ada")
	name, project := "Ada Lovelace", "p1"
	if err := s.UpdateUser(ctx, u.ID, postgres.UserChange{Name: &name, ProjectID: &project}); err != nil {
		t.Fatal(err)
	}
	model := "m"
	if err := s.UpdateUser(ctx, u.ID, postgres.UserChange{LLMModel: &model}); err != nil {
		t.Fatal(err)
	}
	if u, err := s.User(ctx, u.ID); err != nil || u.Name != name || u.Last != (domain.LastUsed{ProjectID: project, LLMModel: model}) {
		t.Errorf("%+v, %v", u, err)
	}
	wantCode(t, "nobody", s.UpdateUser(ctx, "nobody", postgres.UserChange{Name: &name}), domain.CodeNotFound)
}
