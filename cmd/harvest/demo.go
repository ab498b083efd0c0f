package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
)

// errOver ends a demo that is to run once.
var errOver = errors.New("the demo is over")

func (p *program) demoCommand() *cobra.Command {
	var o ports
	var once bool
	var question string
	c := &cobra.Command{
		Use:   "demo [PATH|URL]",
		Short: "Start everything, read a repository, and ask a question about it",
		Long: `Starts everything, reads a repository (default: the one of harvest itself), asks a question that
fits it, and shows the steps and the answer with its citations. It works without a model: then
the answer is put together by searching and reading the code. Ctrl-C stops all.`,
		Args: arguments(0, 1, "name one repository, by its path or its address, or none for harvest's own"),
		RunE: func(c *cobra.Command, args []string) error {
			d := demo{program: p, question: question, once: once}
			if len(args) == 1 {
				d.target = args[0]
			}
			return d.run(c.Context(), o)
		},
	}
	o.flags(c)
	c.Flags().BoolVar(&once, "once", false, "end with the answer; the exit code is the outcome")
	c.Flags().StringVar(&question, "question", "", "ask this instead")
	return c
}

type demo struct {
	*program
	target   string // path or address; "" for harvest's own source
	question string
	once     bool
	cfg      *config.Config
	screen   *terminal.Screen
	answered error // the outcome
}

func (d *demo) run(ctx context.Context, o ports) error {
	var err error
	if d.cfg, err = d.configure(); err != nil {
		return err
	}
	if d.target, err = d.repository(); err != nil {
		return err
	}
	log, err := openDemoLog(d.cfg)
	if err != nil {
		return err
	}
	defer log.Close()
	d.screen = d.program.screen(d.out)
	defer d.screen.Close()
	d.screen.Line("%s  %s", d.screen.Style(terminal.Bold, "Harvest demo"), d.screen.Style(terminal.Dim, "data and logs in "+d.cfg.Data.Dir))
	err = d.up(ctx, o, upOptions{service: "demo", screen: d.screen, log: log, ready: d.show})
	if errors.Is(err, errOver) {
		return d.answered
	}
	return err
}

// openDemoLog opens the file that the log goes to, so that the screen shows the demo alone.
func openDemoLog(cfg *config.Config) (*os.File, error) {
	path := filepath.Join(cfg.Data.Dir, "logs", "harvest.log")
	for _, dir := range []struct {
		path string
		mode os.FileMode
	}{{cfg.Data.Dir, 0o711}, {filepath.Dir(path), 0o700}} {
		if err := os.MkdirAll(dir.path, dir.mode); err != nil {
			return nil, fmt.Errorf("make the folder of logs: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return file, nil
}

// show reads the repository and asks the question. Without --once a failure is told, and
// everything stays up to look at.
func (d *demo) show(ctx context.Context, running instance) error {
	token, err := readToken(d.cfg.Data.Dir)
	if err != nil {
		return err
	}
	api := client.New(running.API, token, client.DefaultPatience)
	defer api.Close()
	d.answered = d.readAndAsk(ctx, api)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if d.answered != nil && !d.once {
		d.screen.Line("\n%s", d.screen.Style(terminal.Red, "harvest: "+d.answered.Error()))
	}
	if !d.once {
		tellAddresses(d.screen, running, token, d.askLine())
		return nil
	}
	d.screen.Line("\n  API          %s", running.API)
	if running.TemporalUI != "" {
		d.screen.Line("  Temporal UI  %s", running.TemporalUI)
	}
	return errOver
}

func (d *demo) readAndAsk(ctx context.Context, api *client.Client) error {
	name, err := showIngest(ctx, api, d.screen, client.Source{URL: d.target})
	if err != nil {
		return err
	}
	d.screen.Line("")
	question := d.question
	if question == "" {
		if question, err = fittingQuestion(ctx, api, name); err != nil {
			return err
		}
	}
	return showTurn(ctx, api, d.screen, client.Query{Query: question, Repositories: []string{name}})
}

// repository gives the repository to read.
func (d *demo) repository() (string, error) {
	if d.target != "" {
		if _, err := os.Stat(d.target); err != nil && isPath(d.target) {
			return "", noFolder(d.target)
		}
		return addressOf(d.target)
	}
	if wd, err := os.Getwd(); err == nil {
		for dir := wd; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if isOwnSource(dir) {
				return dir, nil
			}
		}
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		if dir := filepath.Join(filepath.Dir(file), "..", ".."); isOwnSource(dir) {
			return filepath.Clean(dir), nil
		}
	}
	return "", usageError{errors.New("harvest's own source is not on this machine: name a repository, such as: harvest demo https://github.com/spf13/cobra")}
}

var ownModule = regexp.MustCompile(`(?m)^module github\.com/harvest-engine/harvest$`)

// isOwnSource reports whether harvest's source lies in the folder.
func isOwnSource(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && ownModule.Match(text)
}

// fittingQuestion finds a question about a repository: for harvest's own about its heart,
// for others about the function that is called most.
func fittingQuestion(ctx context.Context, api *client.Client, name string) (string, error) {
	repositories, err := api.Repositories(ctx)
	if err != nil {
		return "", err
	}
	for _, r := range repositories {
		if r.Name != name || len(r.Versions) == 0 {
			continue
		}
		if isOwnSource(r.URL) {
			return ownQuestion, nil
		}
		picture, err := api.Graph(ctx, name, r.Versions[0].Tag)
		if err != nil {
			return "", err
		}
		if most := picture.MostCalled(); most != "" {
			return fmt.Sprintf("How does %s work, and who calls it?", most), nil
		}
		return "What is in this repository?", nil
	}
	return "", domain.NotFound("the repository %q was read, but it is not listed", name)
}

// ownQuestion is about harvest itself.
const ownQuestion = "How does StartTurn make sure that a turn that is stored will run?"
