package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// visible lists the repositories and versions in scope; repositories without one are left out.
func (c Code) visible(ctx context.Context, scope domain.Scope) ([]domain.Repository, error) {
	all, err := c.Sources.Repositories(ctx)
	if err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	var seen []domain.Repository
	for _, r := range all {
		if !scope.AllowsRepository(r.Name) {
			continue
		}
		r.Versions = slices.DeleteFunc(slices.Clone(r.Versions), func(v domain.VersionDetail) bool { return !scope.AllowsVersion(v.Tag) })
		if len(r.Versions) > 0 {
			seen = append(seen, r)
		}
	}
	return seen, nil
}

// target settles which version of which repository a call means: what it names where that
// is in scope, else the only repository and its newest version.
func (c Code) target(ctx context.Context, scope domain.Scope, repo, version string) (domain.VersionDetail, error) {
	repos, err := c.visible(ctx, scope)
	if err != nil {
		return domain.VersionDetail{}, err
	}
	found, err := pickRepository(repos, repo)
	if err != nil {
		return domain.VersionDetail{}, err
	}
	if version == "" {
		v := newest(found.Versions)
		v.Repo = found.Name
		return v, nil
	}
	for _, v := range found.Versions {
		if v.Tag == version {
			v.Repo = found.Name
			return v, nil
		}
	}
	return domain.VersionDetail{}, domain.NotFound("%s has no version %q in scope; there is: %s", found.Name, version, some(tags(found.Versions)))
}

func pickRepository(repos []domain.Repository, name string) (domain.Repository, error) {
	if len(repos) == 0 {
		return domain.Repository{}, errEmptyScope
	}
	if name == "" && len(repos) == 1 {
		return repos[0], nil
	}
	names := make([]string, len(repos))
	for i, r := range repos {
		if r.Name == name {
			return r, nil
		}
		names[i] = r.Name
	}
	if name == "" {
		return domain.Repository{}, domain.Invalid("repo", "is required, since there are several: %s", some(names))
	}
	return domain.Repository{}, domain.NotFound("no repository %q is in scope; there is: %s", name, some(names))
}

// newest gives the version that was committed last, and among equals the one read last.
func newest(versions []domain.VersionDetail) domain.VersionDetail {
	return slices.MaxFunc(versions, func(a, b domain.VersionDetail) int {
		if d := when(a).Compare(when(b)); d != 0 {
			return d
		}
		return a.IngestedAt.Compare(b.IngestedAt)
	})
}

func when(v domain.VersionDetail) time.Time {
	if v.CommittedAt != nil {
		return *v.CommittedAt
	}
	return v.IngestedAt
}

func tags(versions []domain.VersionDetail) []string {
	names := make([]string, len(versions))
	for i, v := range versions {
		names[i] = v.Tag
	}
	return names
}

// place is the part of an input that names a version of a repository.
type place struct{ Repo, Version string }

func (p place) version() (repo, version string) { return p.Repo, p.Version }

// locate decodes an input and settles which version it means.
func locate[T interface {
	version() (repo, version string)
}](ctx context.Context, c Code, scope domain.Scope, input json.RawMessage) (T, domain.VersionDetail, error) {
	in, err := decode[T](input)
	if err != nil {
		return in, domain.VersionDetail{}, err
	}
	repo, version := in.version()
	v, err := c.target(ctx, scope, repo, version)
	return in, v, err
}

// narrow gives the versions that a search may look at: the one that the call names, or of a
// version that it names alone that of each repository. Where it names none, those are the
// scope's; and in a scope without versions the newest of each repository: the many versions of
// one symbol would crowd everything else out.
func (c Code) narrow(ctx context.Context, scope domain.Scope, repo, version string) ([]graph.VersionRef, error) {
	if repo != "" {
		v, err := c.target(ctx, scope, repo, version)
		return []graph.VersionRef{{Repo: v.Repo, Version: v.Tag}}, err
	}
	seen, err := c.visible(ctx, scope)
	if err != nil {
		return nil, err
	}
	if len(seen) == 0 {
		return nil, errEmptyScope
	}
	var versions []graph.VersionRef
	var all []string
	for _, r := range seen {
		if version == "" && len(scope.Versions) == 0 {
			r.Versions = []domain.VersionDetail{newest(r.Versions)}
		}
		for _, v := range r.Versions {
			if version == "" || v.Tag == version {
				versions = append(versions, graph.VersionRef{Repo: r.Name, Version: v.Tag})
			}
			all = append(all, r.Name+" "+v.Tag)
		}
	}
	if len(versions) == 0 {
		return nil, domain.NotFound("no version %q is in scope; there is: %s", version, some(all))
	}
	return versions, nil
}

// graphed parts versions into those that are in the graph in use, and the names of those that
// were read into the other one.
func (c Code) graphed(ctx context.Context, scope domain.Scope, versions []graph.VersionRef) (there []graph.VersionRef, elsewhere []string, err error) {
	seen, err := c.visible(ctx, scope)
	if err != nil {
		return nil, nil, err
	}
	other := map[graph.VersionRef]bool{}
	for _, r := range seen {
		for _, v := range r.Versions {
			other[graph.VersionRef{Repo: r.Name, Version: v.Tag}] = v.OtherGraph != c.OtherGraph
		}
	}
	for _, v := range versions {
		if other[v] {
			elsewhere = append(elsewhere, v.Repo+" "+v.Version)
		} else {
			there = append(there, v)
		}
	}
	return there, elsewhere, nil
}

// errEmptyScope says that there is nothing to look at.
var errEmptyScope = domain.NotFound("no repository is in scope; one must be ingested first")

// maxNames bounds the names that an error lists.
const maxNames = 30

// some joins names, the first of many.
func some(names []string) string {
	if len(names) > maxNames {
		return strings.Join(names[:maxNames], ", ") + fmt.Sprintf(" and %d more", len(names)-maxNames)
	}
	return strings.Join(names, ", ")
}
