package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgeproxy/config"
)

// This file is about names of commands and flags that do not exist. Each error says which name was probably meant.

// didYouMean returns the end of an error about a name: the closest of the words with prefix before it, or "" if none is close. A
// beginning that only one word has is close to that.
func didYouMean(name, prefix string, words []string) string {
	near := config.Closest(name, words)
	if near == "" {
		near = onlyOneWith(name, words)
	}
	if near == "" {
		return ""
	}
	return ", did you mean " + prefix + near + "?"
}

// onlyOneWith returns the only word that begins with name, "" if there is none or several.
func onlyOneWith(name string, words []string) (only string) {
	if len(name) < 2 {
		return ""
	}
	for _, w := range words {
		switch {
		case !strings.HasPrefix(w, name):
		case only != "":
			return ""
		default:
			only = w
		}
	}
	return only
}

// namesOf returns the commands directly below this one.
func namesOf(of *cobra.Command) (names []string) {
	for _, c := range of.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	return names
}

// notACommand is the error for a name below a command that has others there.
func notACommand(below *cobra.Command, name string) error {
	end := didYouMean(name, "", namesOf(below))
	if end == "" && below.HasParent() { // the program has too many to list
		end = ": must be one of " + strings.Join(namesOf(below), ", ")
	}
	return &usageError{fmt.Errorf("unknown command %q for %q%s", name, below.CommandPath(), end)}
}

// unknownCommand returns the error if args begin with no command of the program. The program's own flags take no values.
func unknownCommand(root *cobra.Command, args []string) error {
	if _, _, err := root.Find(args); err == nil {
		return nil
	}
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return notACommand(root, arg)
		}
	}
	return nil
}

// flagError is the error for flags that cobra could not take.
func flagError(cmd *cobra.Command, err error) error {
	const long, short = "unknown flag: --", "unknown shorthand flag: "
	text := err.Error()
	if name, ok := strings.CutPrefix(text, long); ok {
		if now := renamedFlags[name]; now != "" && cmd.Flags().Lookup(now) != nil {
			return &usageError{fmt.Errorf("%s: it is called --%s now", text, now)}
		}
		return &usageError{errors.New(text + didYouMean(name, "--", flagsOf(cmd)))}
	}
	if strings.HasPrefix(text, short) { // such as 'a' in -admin
		_, name, _ := strings.Cut(text, " in -")
		name, _, _ = strings.Cut(name, "=")
		return &usageError{errors.New(text + didYouMean(name, "--", flagsOf(cmd)))}
	}
	return &usageError{err}
}

// renamedFlags are former names of flags, with the new ones.
var renamedFlags = map[string]string{"fpr": "false-positive-rate"}

// flagsOf returns the names of the flags that a command takes.
func flagsOf(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// rejectUnknownTopics makes a name that is no command a usage error of cobra's help command. cobra prints the help of the program
// instead, and ends with 0.
func rejectUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		return
	}
	help.Run = nil
	help.RunE = func(_ *cobra.Command, args []string) error {
		about, rest, err := root.Find(args)
		switch {
		case err != nil:
			return notACommand(root, args[0])
		case len(rest) > 0 && about.HasAvailableSubCommands():
			return notACommand(about, rest[0])
		case len(rest) > 0:
			return &usageError{fmt.Errorf("unexpected argument %q: %s has no commands below it", rest[0], about.CommandPath())}
		}
		about.InitDefaultHelpFlag()
		about.InitDefaultVersionFlag()
		return about.Help()
	}
}
