package main

import (
	"context"
	"slices"

	"github.com/harvest-engine/harvest/internal/library"
	"github.com/harvest-engine/harvest/tools"
)

// openLibrary puts the shelves of the library together, with the skills that come with the
// program.
func (a *assembly) openLibrary(ctx context.Context) error {
	a.skills, a.artifacts, a.memories = library.NewSkills(a.store), library.NewArtifacts(a.store), library.NewMemories(a.store)
	return a.skills.Seed(ctx)
}

// libraryTools are the tools by which models use the library, the secrets and the machines of
// projects.
func (a *assembly) libraryTools() []tools.Tool {
	return slices.Concat(tools.SkillTools(a.skills), tools.ArtifactTools(a.artifacts), tools.MemoryTools(a.memories), tools.SecretTools(a.secrets),
		tools.MachineTools(toolMachines{a}), a.containerTools(), tools.PortForwardTools(a.store, a.publicURL()), a.beside)
}

// renderFailed logs that PDFs wait: the next look tries again.
func (a *assembly) renderFailed(err error) { a.log.Warn().Err(err).Msg("rendering_postponed") }
