package main

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// What is written wrongly ends with the code of a wrong use, and is told with what to write.
func TestMisuse(t *testing.T) {
	t.Parallel()
	h := home{dir: t.TempDir()}
	for args, says := range map[string]string{
		"agnts":                                "did you mean harvest agents?",
		"help agnts":                           "did you mean harvest agents?",
		"help agents lst":                      "did you mean harvest agents list?",
		"agents lst":                           "did you mean harvest agents list?",
		"agents forwards lst web1":             "did you mean harvest agents forwards list?",
		"actions aprove x":                     "did you mean harvest actions approve?",
		"completion fsh":                       " or harvest completion fish",
		"projects zebra":                       `there is no command "harvest projects zebra"`,
		"agents install engine":                "a project is named by --project engine",
		"version please":                       `takes flags alone, and no "please"`,
		"agents show":                          "name one machine",
		"agents start a b":                     "name one machine",
		"agents create":                        "name the machine that is to be made",
		"agents create x --project p":          "harvest agents flavors",
		"agents flavors":                       "--project",
		"agents logs":                          "harvest agents commands MACHINE",
		"agents commands web1 --limit many":    "--limit many: give a whole number",
		"agents forwards add web1 3000":        "--name is missing: name of the port",
		"agents install --project p --uses 0":  "leave it out for any number",
		"agents install -h=maybe":              "maybe",
		"actions show":                         "harvest actions list",
		"run":                                  "harvest run MACHINE -- COMMAND",
		"run web1":                             "harvest run MACHINE -- COMMAND",
		"run web1 --":                          "harvest run MACHINE -- COMMAND",
		"run web1 df -h":                       "those of the command itself behind --",
		"run web1 df --help":                   "those of the command itself behind --",
		"run web1 make --plain":                "those of the command itself behind --",
		"run web1 app --config x":              "those of the command itself behind --",
		"run web1 app --json":                  "those of the command itself behind --",
		"run web1 ls -la":                      "flags of the command itself stand behind --",
		"run web1 --timeout 5 -- ls":           "--timeout 5: give a time with its unit",
		"run web1 --timeout 10m -- ls":         "--timeout 10m: give a time of more than nothing and at most 5m",
		"run web1 --wait 25h -- ls":            "at most 24h",
		"run web1 --env X -- ls":               "NAME=VALUE",
		"run web1 --detach --json -- ls":       "can't be given together",
		"projects settings":                    "name a project",
		"projects settings p --confirm-expiry": "confirm-expiry",
	} {
		out, errs, code := h.run(t, strings.Fields(args)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, says) || !strings.Contains(errs, "\nSee: harvest") {
			t.Errorf("harvest %s ends with %d, and says: %s%s", args, code, out, errs)
		}
	}
	for _, args := range []string{"run --help", "run web1 -h", "help run", "help agents forwards add", "agents", "help"} {
		if out, errs, code := h.run(t, strings.Fields(args)...); code != exitOK || !strings.Contains(out, "Usage:") || errs != "" {
			t.Errorf("harvest %s ends with %d, and says: %s", args, code, errs)
		}
	}
}

// Each flag tells its default once, and none that is nothing.
func TestDefaultsAreToldOnce(t *testing.T) {
	t.Parallel()
	p := &program{in: os.Stdin, out: os.Stdout, errs: os.Stderr, env: os.LookupEnv}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.Lines(c.UsageString()) {
			if strings.Count(line, "(default") > 1 || strings.Contains(line, "(default [])") || strings.Contains(line, "(default 0s)") {
				t.Errorf("the help of %s: %s", c.CommandPath(), line)
			}
		}
		for _, under := range c.Commands() {
			walk(under)
		}
	}
	walk(p.command())
}

// Examples of the help can be typed as they stand.
func TestExamplesAreCommands(t *testing.T) {
	t.Parallel()
	p := &program{in: os.Stdin, out: os.Stdout, errs: os.Stderr, env: os.LookupEnv}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		of := c.CommandPath() + " "
		if c.Example == "" && (strings.HasPrefix(of, "harvest agents ") || strings.HasPrefix(of, "harvest run ") || strings.HasPrefix(of, "harvest actions ")) {
			t.Errorf("%s has no example", of)
		}
		for line := range strings.Lines(c.Example) {
			if err := p.understands(t, strings.TrimSpace(line)); err != nil {
				t.Errorf("an example of %s: %q: %v", of, line, err)
			}
		}
		for _, under := range c.Commands() {
			walk(under)
		}
	}
	walk(p.command())
}

// understands reads a command line as a shell and the program do, and runs nothing.
func (p *program) understands(t *testing.T, line string) error {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return err
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		call, is := node.(*syntax.CallExpr)
		if !is || err != nil || len(call.Args) == 0 || call.Args[0].Lit() != "harvest" {
			return err == nil
		}
		var words []string
		if words, err = expand.Fields(nil, call.Args...); err != nil {
			return false
		}
		root := p.command() // flags that were set stay
		var c *cobra.Command
		if c, words, err = root.Find(words[1:]); err == nil {
			err = c.ParseFlags(words)
		}
		if err == nil {
			err = c.ValidateArgs(c.Flags().Args())
		}
		if err == nil && !c.HasSubCommands() {
			err = requiredFlags(c)
		}
		return err == nil
	})
	return err
}
