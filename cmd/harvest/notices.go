package main

import (
	"fmt"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/config"
)

// The notices of a configuration are remarks that stop nothing: above all that a section is
// of a part that is not there yet. Whoever wrote the section must learn that it does nothing.

func noticeText(n config.Notice) string {
	if n.Line == 0 {
		return fmt.Sprintf("%s %s", n.Key, n.Text)
	}
	return fmt.Sprintf("line %d, %s: %s", n.Line, n.Key, n.Text)
}

func logNotices(log zerolog.Logger, cfg *config.Config) {
	for _, n := range cfg.Notices {
		log.Warn().Str("key", n.Key).Int("line", n.Line).Msg("configuration: " + n.Key + " " + n.Text)
	}
}

// showNotices is for commands whose log goes to a file.
func showNotices(screen *terminal.Screen, cfg *config.Config) {
	for _, n := range cfg.Notices {
		screen.Line("%s", screen.Style(terminal.Yellow, "configuration, "+noticeText(n)))
	}
}
