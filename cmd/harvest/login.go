package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// setupVariable holds what the first to sign up to a server must give, where it asks for it.
const setupVariable = "HARVEST_SETUP_TOKEN"

// loginOptions are how somebody logs in.
type loginOptions struct {
	email    string
	name     string
	key      bool // an API key is given, not a password
	browser  bool // somebody grants the key in a browser
	register bool // the account is to be made
	days     int
}

func (p *program) loginCommand() *cobra.Command {
	var o loginOptions
	c := &cobra.Command{
		Use:   "login URL",
		Short: "Use a server of others with ask, ingest and the like",
		Long: `Makes an API key on a server and keeps it in the configuration folder of the user, for the
user's eyes alone. From then on the commands that talk to a Harvest use that server where
HARVEST_URL names no other and none runs on the data folder.

Who you are is proved by e-mail and password, or, with --browser and where the server has no
passwords, in a browser: open the page that is printed, on any machine, sign in there, and
grant the key. A key that was made elsewhere is given with --key. Password and key are asked
for, or read from the standard input.

With --register the account is made first. The first to sign up is the admin; where the server
asks them for its setup token, put that into HARVEST_SETUP_TOKEN.`,
		Args: arguments(1, 1, "name the server, such as https://harvest.example.com"),
		RunE: func(c *cobra.Command, args []string) error { return p.login(c.Context(), args[0], o) },
	}
	c.Flags().StringVar(&o.email, "email", "", "the account's e-mail address")
	c.Flags().BoolVar(&o.register, "register", false, "make an account with e-mail and password first")
	c.Flags().StringVar(&o.name, "name", "", "with --register: what others see you called")
	c.Flags().BoolVar(&o.browser, "browser", false, "sign in in a browser, by a provider")
	c.Flags().BoolVar(&o.key, "key", false, "give an API key instead of a password")
	c.Flags().IntVar(&o.days, "days", 90, "how long the key is good; 0 for ever")
	exclusive(c, "email", "browser", "key")
	exclusive(c, "register", "browser", "key")
	return c
}

func (p *program) login(ctx context.Context, address string, o loginOptions) error {
	base, err := serverAddress(address)
	if err != nil {
		return err
	}
	file, err := p.loginFile()
	if err != nil {
		return err
	}
	kept, err := readLogins(file)
	if err != nil {
		return err
	}
	entry, err := p.obtainKey(ctx, base, o)
	if err != nil {
		return err
	}
	api := client.New(base, entry.Key, client.DefaultPatience)
	defer api.Close()
	me, err := api.Me(ctx)
	if err != nil {
		return err
	}
	kept.Current, kept.Servers[base] = base, entry
	if err := kept.write(file); err != nil {
		return err
	}
	fmt.Fprintf(p.errs, "logged in to %s as %s; the key is in %s\n", base, me.Name, file)
	return p.tellWhatWins(base)
}

// tellWhatWins says of a login where commands go on to use something else from here: who has just
// said who they are would not think so.
func (p *program) tellWhatWins(base string) error {
	used, token, err := p.find()
	_, kept, _ := p.keptKey(base)
	switch {
	case err != nil || token == kept:
		return nil
	case p.fromEnvironment():
		return p.did("the environment, %s and %s, wins over it: commands go on to use %s", urlVariable, tokenVariable, used)
	}
	return p.did("a Harvest runs on the data folder here: commands go on to use that, %s, as its owner; to use the login, set %s=%s", used, urlVariable, base)
}

// fromEnvironment reports whether the environment names the server that commands use.
func (p *program) fromEnvironment() bool {
	base, _ := p.env(urlVariable)
	return base != ""
}

// obtainKey takes a key that is given, or makes one.
func (p *program) obtainKey(ctx context.Context, base string, o loginOptions) (login, error) {
	in := bufio.NewReader(p.in)
	if o.key {
		key, err := p.secret(in, "API key: ")
		return login{Key: strings.TrimSpace(key)}, err
	}
	api := client.New(base, "", client.DefaultPatience)
	defer api.Close()
	if o.email == "" && !o.browser && !o.register {
		local, err := api.LocalLogin(ctx)
		if err != nil {
			return login{}, err
		}
		o.browser = !local
	}
	wanted := client.NewKey{Name: "harvest login on " + hostName(), Scopes: domain.KeyScopes(), ExpiresInDays: o.days}
	if o.browser {
		return p.keyByBrowser(ctx, api, base, wanted)
	}
	return p.keyByPassword(ctx, api, in, o, wanted)
}

func hostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "a machine without a name"
	}
	return host
}

// keyByBrowser makes a key that the user grants on a page of the server.
func (p *program) keyByBrowser(ctx context.Context, api *client.Client, base string, wanted client.NewKey) (login, error) {
	device, err := api.BeginDevice(ctx, wanted)
	if err != nil {
		return login{}, err
	}
	fmt.Fprintf(p.errs, "open  %s%s\nsign in there, and grant the key where the page shows the code %s\nwaiting for that, at most %d minutes …\n",
		base, device.Page, device.UserCode, device.Life/60)
	made, err := api.KeyOfDevice(ctx, device)
	if domain.CodeOf(err) == domain.CodeNotFound {
		err = domain.Errorf(domain.CodeTimeout, "nobody granted the key in time; start again with harvest login")
	}
	return login{Key: made.Key, ID: made.ID}, err
}

// keyByPassword makes a key by e-mail and password, asking for what is not given; with
// o.register the account too.
func (p *program) keyByPassword(ctx context.Context, api *client.Client, in *bufio.Reader, o loginOptions, wanted client.NewKey) (login, error) {
	for _, field := range []struct {
		value  *string
		prompt string
		asked  bool
	}{{&o.email, "E-mail: ", true}, {&o.name, "Name: ", o.register}} {
		if *field.value != "" || !field.asked {
			continue
		}
		var err error
		if *field.value, err = p.line(in, field.prompt); err != nil {
			return login{}, err
		}
	}
	if !o.register {
		password, err := p.secret(in, "Password: ")
		if err != nil {
			return login{}, err
		}
		made, err := api.KeyByPassword(ctx, o.email, password, wanted)
		return login{Key: made.Key, ID: made.ID}, err
	}
	password, err := p.newSecret(in, "Password")
	if err != nil {
		return login{}, err
	}
	setup, _ := p.env(setupVariable)
	made, err := api.Register(ctx, client.Registration{Email: o.email, Name: o.name, Password: password, SetupToken: setup}, wanted)
	return login{Key: made.Key, ID: made.ID}, err
}

// line asks for a line of text.
func (p *program) line(in *bufio.Reader, prompt string) (string, error) {
	if term.IsTerminal(int(p.in.Fd())) {
		fmt.Fprint(p.errs, prompt)
	}
	text, err := in.ReadString('\n')
	if text = strings.TrimRight(text, "\r\n"); text == "" {
		return "", domain.Wrap(domain.CodeInvalid, err, "%s nothing was given", prompt)
	}
	return text, nil
}

// secret asks for a line that does not show on a terminal.
func (p *program) secret(in *bufio.Reader, prompt string) (string, error) {
	if !term.IsTerminal(int(p.in.Fd())) {
		return p.line(in, prompt)
	}
	ask := func() { fmt.Fprint(p.errs, prompt) }
	tty, err := borrow(p.in, ask)
	if err != nil {
		return "", err
	}
	defer tty.giveBack()
	ask()
	typed := make(chan struct{})
	var text []byte
	var fault error
	go func() {
		defer close(typed)
		text, fault = term.ReadPassword(int(p.in.Fd()))
	}()
	select {
	case <-tty.ended: // and with the program who still reads
		fmt.Fprintln(p.errs)
		return "", exitError{exitStopped, errors.New("stopped")}
	case <-typed:
	}
	fmt.Fprintln(p.errs)
	if err := fault; err != nil {
		return "", fmt.Errorf("read the %s: %w", strings.TrimSuffix(prompt, ": "), err)
	}
	return string(text), nil
}

// newSecret asks for a line that does not show on a terminal, and there twice: nobody sees a
// slip of the fingers.
func (p *program) newSecret(in *bufio.Reader, what string) (string, error) {
	text, err := p.secret(in, what+": ")
	if err != nil || !term.IsTerminal(int(p.in.Fd())) {
		return text, err
	}
	again, err := p.secret(in, what+" again: ")
	if err == nil && again != text {
		err = domain.Errorf(domain.CodeInvalid, "what was typed first and then differ; nothing was changed, try again")
	}
	return text, err
}

func (p *program) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "logout [URL]",
		Short: "End the key of a login, and forget it",
		Args:  arguments(0, 1, "name one server, or none for the one in use"),
		RunE: func(c *cobra.Command, args []string) error {
			address := ""
			if len(args) > 0 {
				address = args[0]
			}
			return p.logout(c.Context(), address)
		},
	}
}

func (p *program) logout(ctx context.Context, address string) error {
	file, err := p.loginFile()
	if err != nil {
		return err
	}
	kept, err := readLogins(file)
	if err != nil {
		return err
	}
	base := kept.Current
	if address != "" {
		if base, err = serverAddress(address); err != nil {
			return err
		}
	}
	entry, known := kept.Servers[base]
	if !known {
		return domain.Errorf(domain.CodeNotFound, "there is no login to end; harvest login makes one")
	}
	if entry.ID != "" { // one that was given is not ours to end
		api := client.New(base, entry.Key, client.DefaultPatience)
		defer api.Close()
		if err := api.DeleteKey(ctx, entry.ID); err != nil && domain.CodeOf(err) != domain.CodeUnauthorized {
			return err
		}
	}
	delete(kept.Servers, base)
	if kept.Current == base {
		kept.Current = ""
	}
	if err := kept.write(file); err != nil {
		return err
	}
	return p.did("logged out of %s", base)
}

// serverAddress checks and trims the address of a server.
func serverAddress(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return "", domain.Errorf(domain.CodeInvalid, "%q is not the address of a server, such as https://harvest.example.com", text)
	}
	return strings.TrimRight(u.Scheme+"://"+u.Host+u.Path, "/"), nil
}
