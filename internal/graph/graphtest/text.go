package graphtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// search runs a text query over the test's repository.
func (w *world) search(q graph.TextQuery) graph.TextPage {
	w.Helper()
	if q.Versions == nil {
		q.Versions = w.in("")
	}
	return must(w.sources.SearchText(w.ctx, q))(w)
}

func lines(page graph.TextPage) []string {
	out := []string{}
	for _, m := range page.Matches {
		out = append(out, fmt.Sprintf("%s:%s:%d", m.Version, m.Path, m.Line))
	}
	return out
}

func testSearchWords(w *world) {
	w.load("v1",
		file{path: "docs/retry.md", text: "# Retry\n\nHow a failed request is retried.\n\nThe Retry-After header is honoured.\n"},
		file{path: "retry.go", text: "package x\n\n// retryAfter reads the header\nfunc retryAfter(h Header) {\n\treturn h.Get(\"Retry-After\")\n}\n"},
		file{path: "far.go", text: "retry\n" + strings.Repeat("\n", 20) + "header\n"},
		file{path: "retry_test.go", text: "// Retry-After header\n"},
		file{path: "logo.png", text: "retry header", skipped: "binary"})
	page := w.search(graph.TextQuery{Pattern: "header RETRY"})
	got := lines(page)
	if len(got) < 3 || page.Truncated {
		w.Fatalf("found %q, truncated %v", got, page.Truncated)
	}
	for _, line := range got {
		if strings.Contains(line, "far.go") || strings.Contains(line, "png") {
			w.Errorf("found %s, where the words are far apart or the text is not kept", line)
		}
	}
	if got[0] != "v1:retry.go:3" && got[0] != "v1:docs/retry.md:5" {
		w.Errorf("the best line is %s", got[0])
	}
	for i := 1; i < len(page.Matches); i++ {
		if page.Matches[i].Score > page.Matches[i-1].Score {
			w.Errorf("match %d is better than the one before it", i)
		}
	}
	w.same("words near each other", lines(w.search(graph.TextQuery{Pattern: "func get", PathGlob: "*.go"})), "v1:retry.go:4")
	w.same("a phrase", lines(w.search(graph.TextQuery{Pattern: `"failed request" retried`})), "v1:docs/retry.md:3")
	w.same("no match", lines(w.search(graph.TextQuery{Pattern: "header absent-word"})))
}

func testSearchExpression(w *world) {
	w.load("v1",
		file{path: "a.go", text: "func Alpha() {}\nfunc beta() {}\n\nfunc Gamma() {\n}\n"},
		file{path: "sub/b.go", text: "x\ny\nfunc Delta() {}\nz"},
		file{path: "sub/c.md", text: "func Alpha() in a text, größer\n"})
	page := w.search(graph.TextQuery{Pattern: `^func [A-Z]\w+`, Regexp: true, PathGlob: "**/*.go", Context: 1})
	w.same("matches", lines(page), "v1:a.go:1", "v1:a.go:4", "v1:sub/b.go:3")
	last := page.Matches[2]
	if last.Text != "func Delta() {}" || strings.Join(last.Before, "|") != "y" || strings.Join(last.After, "|") != "z" {
		w.Errorf("the last match with its surroundings is %+v", last)
	}
	w.same("two on a line are one", lines(w.search(graph.TextQuery{Pattern: "[a-z]", Regexp: true, PathGlob: "sub/c.md"})), "v1:sub/c.md:1")
	w.same("letters of any script", lines(w.search(graph.TextQuery{Pattern: `gr..er$`, Regexp: true})), "v1:sub/c.md:1")
	w.same("case", lines(w.search(graph.TextQuery{Pattern: `(?i)FUNC DELTA`, Regexp: true})), "v1:sub/b.go:3")
	w.same("line ends", lines(w.search(graph.TextQuery{Pattern: `^}$`, Regexp: true})), "v1:a.go:5")
	if page := w.search(graph.TextQuery{Pattern: "^nowhere$", Regexp: true}); page.Files != 3 {
		w.Errorf("%d files were looked through, want 3", page.Files)
	}
	_, err := w.sources.SearchText(w.ctx, graph.TextQuery{Pattern: "a(", Regexp: true})
	w.fails(err, domain.CodeInvalid, "expression")
	_, err = w.sources.SearchText(w.ctx, graph.TextQuery{Pattern: " "})
	w.fails(err, domain.CodeInvalid)
}

// testSearchLongTexts: an expression is matched window by window, and costs what it must.
func testSearchLongTexts(w *world) {
	var text strings.Builder
	for n := 1; text.Len() < 400_000; n++ {
		fmt.Fprintf(&text, "line %d\n", n)
		if n%1000 == 0 {
			text.WriteString("\nmark\n")
		}
	}
	w.load("v1",
		file{path: "long.txt", text: text.String()},
		file{path: "wide.txt", text: strings.Repeat("x", 200_000) + "\nend\n"},
		file{path: "app/[id]/page.txt", text: "needle\n"})
	w.same("lines far down", lines(w.search(graph.TextQuery{Pattern: `^line 23456$`, Regexp: true})), "v1:long.txt:23502")
	empty := w.search(graph.TextQuery{Pattern: `^$`, Regexp: true, Limit: 200, PathGlob: "long.txt"})
	for i, m := range empty.Matches {
		if m.Line != 1002*i+1001 || m.Text != "" {
			w.Errorf("an empty line is found at %d: %q", m.Line, m.Text)
		}
	}
	w.same("after a wide line", lines(w.search(graph.TextQuery{Pattern: `^end`, Regexp: true})), "v1:wide.txt:2")
	started := time.Now()
	for _, pattern := range []string{`(?s).*`, `(?s)l.*zzz|l`, `(x+x+)+y`, `(.*)(.*)(.*)(.*)(.*)[^x]{200}q`} {
		if page := w.search(graph.TextQuery{Pattern: pattern, Regexp: true}); page.TimedOut {
			w.Errorf("%s does not end in time", pattern)
		}
	}
	if took := time.Since(started); took > time.Minute {
		w.Errorf("expressions that are hard to match took %s", took)
	}
	w.same("a path with brackets is a pattern for itself", lines(w.search(graph.TextQuery{Pattern: "needle", PathGlob: "app/[id]/page.txt"})), "v1:app/[id]/page.txt:1")
	w.same("and so is its folder", lines(w.search(graph.TextQuery{Pattern: "needle", PathGlob: "app/[id]"})), "v1:app/[id]/page.txt:1")
}

func testSearchTextBounds(w *world) {
	long := strings.Repeat("é", 300) + " needle"
	w.load("v1",
		file{path: "many.txt", text: strings.Repeat("a needle\n", 500)},
		file{path: "wide.txt", text: "needle " + long + "\n"})
	page := w.search(graph.TextQuery{Pattern: "needle", Regexp: true, Limit: 7})
	if len(page.Matches) != 7 || !page.Truncated {
		w.Errorf("%d matches, truncated %v", len(page.Matches), page.Truncated)
	}
	page = w.search(graph.TextQuery{Pattern: "needle", Limit: 10_000})
	if len(page.Matches) != 200 || !page.Truncated {
		w.Errorf("%d matches, truncated %v; the most is 200", len(page.Matches), page.Truncated)
	}
	wide := w.search(graph.TextQuery{Pattern: "needle", PathGlob: "wide.txt"})
	if len(wide.Matches) != 1 || len(wide.Matches[0].Text) > 400 || strings.ContainsRune(wide.Matches[0].Text, '\uFFFD') {
		w.Errorf("a wide line came as %+v", wide.Matches)
	}
	w.load("v2", file{path: "wide.txt", text: "needle " + long + "\n"}, file{path: "new.txt", text: "needle\n"})
	w.same("the same line of two versions", lines(w.search(graph.TextQuery{Pattern: "needle", Regexp: true, PathGlob: "{wide,new}.txt"})), "v2:new.txt:1", "v2:wide.txt:1")
	w.same("a chosen version", lines(w.search(graph.TextQuery{Pattern: "needle", Regexp: true, PathGlob: "wide.txt", Versions: w.in("v1")})), "v1:wide.txt:1")
	_, err := w.sources.SearchText(w.ctx, graph.TextQuery{Pattern: "needle", Versions: w.in("v7")})
	w.fails(err, domain.CodeNotFound, "v7", "v1", "v2")
	first := w.repo
	w.repo += "/second"
	w.load("v1", file{path: "own.txt", text: "needle\n"})
	w.load("v2", file{path: "later.txt", text: "needle\n"})
	pairs := []graph.VersionRef{{Repo: first, Version: "v2"}, {Repo: w.repo, Version: "v1"}}
	w.same("a version of each", lines(w.search(graph.TextQuery{Pattern: "^needle$", Regexp: true, Versions: pairs})), "v1:own.txt:1", "v2:new.txt:1")
}
