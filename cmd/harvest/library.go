package main

import (
	"context"

	"github.com/harvest-engine/harvest/internal/library"
	"github.com/harvest-engine/harvest/tools"
)

// openLibrary puts the shelves of the library together, with the skills that come with the
// program.
func (a *assembly) openLibrary(ctx context.Context) error {
	a.skills = library.NewSkills(a.store)
	return a.skills.Seed(ctx)
}

// libraryTools are the tools by which models use the library.
func (a *assembly) libraryTools() []tools.Tool {
	return tools.SkillTools(a.skills)
}
