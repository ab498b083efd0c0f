// Package prompts holds the texts given to models. Each is a Markdown template beside this
// file; its rendering is held against a golden.
package prompts

import (
	"embed"
	"strings"
	"text/template"
)

//go:embed *.md
var files embed.FS

// A template that can't be parsed is a mistake of the program, which any test shows.
var templates = template.Must(template.New("").Option("missingkey=error").ParseFS(files, "*.md"))

// SystemData fills the system prompt.
type SystemData struct {
	Repositories []string // the query is limited to these; empty: all
	Versions     []string // likewise
	Cypher       bool     // run_cypher is offered
	Skills       bool     // list_skills and load_skill are offered
	Notes        []Note   // of the project, which fit the question
	Tools        bool     // false for a conversational turn, which has ask_user only
}

// Note is what somebody wrote down in the project.
type Note struct{ Title, Content string }

// System renders the system prompt of a query turn.
func System(data SystemData) string { return render("system.md", data) }

// Intent is the instruction for the call that classifies a message; its answer is one of
// the words conversational, research, action, hybrid.
func Intent() string { return render("intent.md", nil) }

// Compact is the instruction for the call that sums the older part of a conversation up.
func Compact() string { return render("compact.md", nil) }

// Synthesis is the last message to a model whose rounds are used up: it must answer from
// what it has gathered.
func Synthesis() string { return render("synthesis.md", nil) }

// Afterword is the instruction for the call that titles a conversation and suggests what to
// ask next.
func Afterword() string { return render("afterword.md", nil) }

func render(name string, data any) string {
	var out strings.Builder
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		panic("prompt " + name + ": " + err.Error()) // the data types above fit their templates
	}
	return strings.TrimSpace(out.String())
}
