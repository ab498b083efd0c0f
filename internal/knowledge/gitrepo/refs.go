package gitrepo

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Ref is a name at a commit.
type Ref struct {
	Name   string // as people say it: "main", "v1.2.0"; "HEAD" for a detached head
	Full   string // "refs/heads/main"; "" for a bare commit
	Commit string // hex
}

// Wanted names the refs to read. The zero value is the default branch.
type Wanted struct {
	Refs    []string // branches, tags, full ref names or commit ids
	AllTags bool
	IfThere bool // leave out those of Refs that are not there any more
}

// head says where HEAD points: a full ref name or, detached, a commit. Both are "" for an
// empty repository.
type head struct{ ref, commit string }

// pick chooses the wanted refs among all; a name that is both is the tag, as in git. Tags
// of anything but commits are left out of AllTags.
func (w Wanted) pick(all map[string]string, at head) ([]Ref, error) {
	var picked []Ref
	if len(w.Refs) == 0 && !w.AllTags {
		ref, err := defaultRef(all, at)
		if err != nil {
			return nil, err
		}
		picked = append(picked, ref)
	}
	for _, name := range w.Refs {
		ref, err := findRef(all, at, name)
		if w.IfThere && domain.CodeOf(err) == domain.CodeNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		picked = append(picked, ref)
	}
	if w.AllTags {
		picked = append(picked, allTags(all)...)
	}
	return dedupe(picked), nil
}

func defaultRef(all map[string]string, at head) (Ref, error) {
	if commit := all[at.ref]; commit != "" {
		return Ref{Name: nameAmong(all, at.ref), Full: at.ref, Commit: commit}, nil
	}
	if at.commit != "" {
		return Ref{Name: "HEAD", Commit: at.commit}, nil
	}
	// HEAD names a branch that does not exist: take the usual one where it does.
	for _, full := range []string{"refs/heads/main", "refs/heads/master"} {
		if commit := all[full]; commit != "" {
			return Ref{Name: nameAmong(all, full), Full: full, Commit: commit}, nil
		}
	}
	return Ref{}, domain.Errorf(domain.CodeUnprocessable, "the repository has no commits on its default branch")
}

func findRef(all map[string]string, at head, name string) (Ref, error) {
	if err := domain.CheckRef("refs", name); err != nil {
		return Ref{}, err
	}
	if commit := cmp.Or(all[at.ref], at.commit); name == "HEAD" && commit != "" {
		return Ref{Name: name, Full: at.ref, Commit: commit}, nil
	}
	if strings.HasPrefix(name, "refs/") {
		if commit := all[name]; commit != "" {
			return Ref{Name: nameAmong(all, name), Full: name, Commit: commit}, nil
		}
	}
	for _, prefix := range precedence {
		if commit := all[prefix+name]; commit != "" {
			return Ref{Name: name, Full: prefix + name, Commit: commit}, nil
		}
	}
	if commit := all["refs/"+name]; commit != "" { // "heads/NAME", as nameAmong gives it
		return Ref{Name: name, Full: "refs/" + name, Commit: commit}, nil
	}
	if fullCommit.MatchString(name) {
		return Ref{Name: name, Commit: name}, nil
	}
	return Ref{}, domain.NotFound("there is no branch, tag or full commit id %q", name)
}

func allTags(all map[string]string) []Ref {
	var tags []Ref
	for full, commit := range all {
		if name, ok := strings.CutPrefix(full, "refs/tags/"); ok {
			tags = append(tags, Ref{Name: name, Full: full, Commit: commit})
		}
	}
	slices.SortFunc(tags, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	return tags
}

func dedupe(refs []Ref) []Ref {
	seen := map[string]bool{}
	return slices.DeleteFunc(refs, func(r Ref) bool {
		again := seen[r.Name]
		seen[r.Name] = true
		return again
	})
}

// precedence is where a bare name is looked for, as git does.
var precedence = []string{"refs/tags/", "refs/heads/", "refs/remotes/origin/"}

// nameAmong gives the shortest name that stands for the ref and for no other: that of a
// branch is "heads/NAME" where there is a tag NAME.
func nameAmong(all map[string]string, full string) string {
	short := shortName(full)
	for _, prefix := range precedence {
		if prefix+short == full {
			return short
		}
		if all[prefix+short] != "" {
			break
		}
	}
	return strings.TrimPrefix(full, "refs/")
}

func shortName(full string) string {
	for _, prefix := range []string{"refs/heads/", "refs/tags/", "refs/remotes/origin/", "refs/"} {
		if name, ok := strings.CutPrefix(full, prefix); ok {
			return name
		}
	}
	return full
}

// Refs finds the wanted refs of a local repository.
func (r *Repo) Refs(ctx context.Context, want Wanted) ([]Ref, error) {
	out, err := r.output(ctx, "for-each-ref", "--format=%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)", "refs/heads", "refs/tags", "refs/remotes/origin")
	if err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	all := map[string]string{}
	for line := range bytes.Lines(out) {
		f := strings.Split(string(trimLine(line)), "\x00")
		switch {
		case len(f) != 5:
		case f[1] == "commit":
			all[f[0]] = f[2]
		case f[3] == "commit":
			all[f[0]] = f[4]
		}
	}
	var at head
	if out, err := r.output(ctx, "symbolic-ref", "--quiet", "HEAD"); err == nil {
		at.ref = string(trimLine(out))
	} else if out, err := r.output(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		at.commit = string(trimLine(out))
	}
	return want.pick(all, at)
}
