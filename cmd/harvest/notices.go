package main

import (
	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/config"
)

// The notices of a configuration are remarks that stop nothing: above all that a section is
// of a part that is not there yet. Whoever wrote the section must learn that it does nothing.

func logNotices(log zerolog.Logger, cfg *config.Config) {
	for _, n := range cfg.Notices {
		log.Warn().Str("file", n.File).Int("line", n.Line).Str("key", n.Key).Str("notice", n.Text).Msg("configuration_notice")
	}
}

// showNotices is for commands whose log goes to a file.
func showNotices(screen *terminal.Screen, cfg *config.Config) {
	for _, n := range cfg.Notices {
		screen.Line("%s", screen.Style(terminal.Yellow, n.String()))
	}
}
