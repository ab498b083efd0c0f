package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
)

// checkLimit bounds one check of the doctor.
const checkLimit = 15 * time.Second

func (p *program) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that harvest depends on, and say what to do about faults",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return p.doctor(c.Context()) },
	}
}

// finding is what a check saw.
type finding struct {
	name   string
	detail string
	remedy string // what to do; "" where nothing is to be done
	fault  bool   // harvest can't work so; otherwise a remedy is advice
	notice bool   // worth knowing, and nothing is to be done
}

// examination is a check of one dependency.
type examination func(ctx context.Context, cfg *config.Config) []finding

func (p *program) doctor(ctx context.Context) error {
	screen := p.screen(p.out)
	defer screen.Close()
	cfg, err := p.configure()
	if err != nil {
		tell(screen, finding{name: "configuration", detail: err.Error(), remedy: "correct the configuration; the lines above say what is wrong", fault: true})
		return domain.Errorf(domain.CodeInvalid, "the configuration can't be read; nothing else was checked")
	}
	faults := 0
	for _, examine := range []examination{
		p.examineConfiguration, p.examineFolder, examineDisk, examineGit, examineGo, p.examinePostgres, examineGraph, p.examineTemporal, examineKeys, examineModels, examineMachines,
	} {
		limited, cancel := context.WithTimeout(ctx, checkLimit)
		for _, f := range examine(limited, cfg) {
			tell(screen, f)
			if f.fault {
				faults++
			}
		}
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if faults > 0 {
		return domain.Errorf(domain.CodeUnavailable, "%d of the checks found a fault; the lines with an arrow say what to do", faults)
	}
	screen.Line("\n%s", screen.Style(terminal.Green, "Everything is well."))
	return nil
}

func tell(screen *terminal.Screen, f finding) {
	style, fancy, plain := terminal.Green, "✓", "+"
	switch {
	case f.fault:
		style, fancy, plain = terminal.Red, "✗", "!"
	case f.remedy != "" || f.notice:
		style, fancy, plain = terminal.Yellow, "●", "~"
	}
	sign := plain
	if screen.Fancy() {
		sign = screen.Style(style, fancy)
	}
	screen.Line("%s %s  %s", sign, screen.Style(terminal.Bold, fmt.Sprintf("%-14s", f.name)), f.detail)
	if f.remedy != "" {
		screen.Line("    %s %s", screen.Style(style, "→"), f.remedy)
	}
}

// fail makes a finding of an error that a dependency gave.
func fail(name string, err error, remedy string) []finding {
	return []finding{{name: name, detail: err.Error(), remedy: remedy, fault: true}}
}
