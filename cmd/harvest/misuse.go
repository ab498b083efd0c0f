package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// guard makes commands that only have others under them say so of a name that none of those
// has. Without this the help would be shown, and a script go on as if all were well.
func guard(c *cobra.Command) {
	c.SuggestionsMinimumDistance = 2
	switch {
	case c.Name() == "help":
		c.Args = func(c *cobra.Command, args []string) error {
			about, rest, _ := c.Root().Find(args) // what it finds no command for is left
			return knownCommand(about, rest)
		}
	case c.HasSubCommands():
		c.DisableFlagsInUseLine = true
		c.Args = knownCommand
		if c.RunE == nil {
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
	for _, under := range c.Commands() {
		guard(under)
	}
}

// knownCommand is the check of commands that have others under them: what is left of their
// arguments is the name of none.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("there is no command %q", c.CommandPath()+" "+args[0])
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + c.CommandPath() + " " + strings.Join(near, " or "+c.CommandPath()+" ") + "?"
	}
	return usageError{errors.New(text)}
}

// noArguments is the check of commands that take flags alone.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("%s takes flags alone, and no %q", c.CommandPath(), args[0])
	if c.Flags().Lookup("project") != nil {
		text += "; a project is named by --project " + args[0]
	}
	return usageError{errors.New(text)}
}

// requiredFlags makes sure that the flags are given without which a command can do nothing,
// and says what they are for.
func requiredFlags(c *cobra.Command) error {
	var missing []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if must := f.Annotations[cobra.BashCompOneRequiredFlag]; len(must) > 0 && must[0] == "true" && !f.Changed {
			missing = append(missing, fmt.Sprintf("--%s is missing: %s", f.Name, f.Usage))
		}
	})
	if len(missing) > 0 {
		return usageError{errors.New(strings.Join(missing, "; "))}
	}
	return nil
}

// flagFault says of a flag that can't be read what could be.
func flagFault(_ *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	switch {
	case errors.As(err, &value) && errors.Is(err, errPlace):
		err = fmt.Errorf("--%s stands amid the command: flags of harvest run stand in front of it, and those of the command itself behind --: harvest run MACHINE -- COMMAND", value.GetFlag().Name)
	case errors.As(err, &value) && value.GetFlag().Value.Type() == "duration":
		err = fmt.Errorf("--%s %s: give a time with its unit, such as 30s, 5m or 24h", value.GetFlag().Name, value.GetValue())
	case errors.As(err, &value) && value.GetFlag().Value.Type() == "int":
		err = fmt.Errorf("--%s %s: give a whole number", value.GetFlag().Name, value.GetValue())
	}
	return usageError{err}
}

// errPlace is why a flag is refused that stands behind the words of a command for a machine.
var errPlace = errors.New("is out of place")

// placed is a flag of harvest run. Behind the machine and a word of the command it is refused:
// it would be taken away from a command that may mean it for itself.
type placed struct {
	pflag.Value
	of *cobra.Command
}

// Set implements pflag.Value.
func (v placed) Set(text string) error {
	if v.of.Flags().NArg() > 1 && v.of.Flags().ArgsLenAtDash() < 0 {
		return errPlace
	}
	return v.Value.Set(text)
}

// flagsFirst has all flags of a command stand in front of its second argument, --help too.
func flagsFirst(c *cobra.Command) {
	c.InitDefaultHelpFlag()
	c.InheritedFlags() // has them among the command's own
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if none := f.DefValue; none == "0s" || none == "[]" {
			f.DefValue = "" // the help tells that these are none by the type of the value, which is another one now
		}
		f.Value = placed{f.Value, c}
	})
}
