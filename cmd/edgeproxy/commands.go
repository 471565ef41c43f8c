package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"edgeproxy/config"
	"edgeproxy/internal/edge"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // failed while running, or could not bind an address
	exitUsage  = 2 // bad usage or bad configuration
)

// finalMessageTimeout bounds the write of a command's last message.
const finalMessageTimeout = time.Second

// usageError is a mistake in the command line: exit code 2.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// commandTree returns the program with all its commands but those that cobra adds, such as help.
func commandTree() *cobra.Command {
	root := &cobra.Command{
		Use:           "edgeproxy",
		Short:         "A caching reverse proxy that stores on the second request",
		Example:       "  edgeproxy demo\n  edgeproxy config init > edge.yaml\n  edgeproxy serve -c edge.yaml\n  source <(edgeproxy completion bash)    # or zsh, fish",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionName(), // makes cobra add --version

		DisableSuggestions: true, // ours are better: see mistyped.go
	}
	root.SetVersionTemplate(versionLine() + "\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		serveCommand(), demoCommand(), simulateCommand(), sizeCommand(), purgeCommand(), cacheCommand(), originCommand(), reloadCommand(), lookupCommand(), logCommand(), stateCommand(), statusCommand(),
		topCommand(), healthCommand(), manCommand(), checkCommand(), configCommand(), versionCommand(),
	)
	return root
}

// run is the program: arguments in, exit code out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := commandTree()
	out := &stickyErrorWriter{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	root.SetArgs(args)
	rejectUnknownShells(root) // whose commands print to the output of now
	rejectUnknownTopics(root)
	// An error before a command starts is bad usage, unless it says otherwise.
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && cmd == root && !started {
		err = cmp.Or(unknownCommand(root, args), err)
	}
	if out.failed != nil && (err == nil || errors.Is(err, out.failed)) {
		err, started = out.failed, true
	}
	if cmd.Name() == "help" {
		cmd = root // whose help lists the commands
	}
	return report(stderr, cmd.CommandPath(), err, started)
}

// report prints err, one problem a line, and returns the exit code. command is
// the one whose help the message names.
func report(stderr io.Writer, command string, err error, started bool) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errNotStored):
		return exitFailed
	}
	var usage *usageError
	var faults config.Errors
	switch {
	case errors.As(err, &faults):
		printWithin(stderr, faults.Error()+"\n", finalMessageTimeout)
		return exitUsage
	case errors.As(err, &usage) || !started:
		printWithin(stderr, fmt.Sprintf("edgeproxy: %v\nSee '%s --help'.\n", err, command), finalMessageTimeout)
		return exitUsage
	}
	printWithin(stderr, fmt.Sprintf("edgeproxy: %v\n", err), finalMessageTimeout)
	if _, refused := errors.AsType[*refusedError](err); refused {
		return exitUsage
	}
	return exitFailed
}

// noArguments rejects positional arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && cmd.HasAvailableSubCommands():
		return notACommand(cmd, args[0])
	case len(args) > 0 && cmd.Flags().Lookup("config") != nil:
		return &usageError{fmt.Errorf("unexpected argument %q: needs -c before a file", args[0])}
	case len(args) > 0:
		return &usageError{fmt.Errorf("unexpected argument %q", args[0])}
	}
	return nil
}

func checkCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "check [-c] FILE",
		Short: "Validate a configuration file and report every problem",
		Long: "Validate a configuration file, with those that it includes, and report every problem. The files and\n" +
			"folders that serve would open are checked too, and its addresses. Nothing is changed. Run check as the user of serve.",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && file == "":
				file = args[0]
			case len(args) > 0:
				return &usageError{fmt.Errorf("unexpected argument %q: %w", args[len(args)-1], errSecondFile)}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return &usageError{errors.New("check needs a FILE")}
			}
			c, err := config.Check(file, edge.Faults)
			if err != nil {
				return asConfigError(err)
			}
			for _, w := range slices.Concat(edge.Warnings(c), edge.ResolvedWarnings(cmd.Context(), c), edge.OpenWarnings(c), edge.AddressWarnings(cmd.Context(), c)) {
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", w)
			}
			for _, i := range c.Included() {
				_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s: includes %s (routes: %d, origins: %d)\n", file, i.File, i.Routes, i.Origins)
			}
			for _, l := range c.Lifted() {
				_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s: route %s turns off access settings of the top or of the route around it: %s\n", file, l.Route, strings.Join(l.Keys, ", "))
			}
			_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s: ok\n", file)
			return nil
		},
	}
	cmd.Flags().VarP(configTo(&file), "config", "c", "configuration file")
	return cmd
}

// asConfigError makes an unreadable file a usage error. A config.Errors stays as it is.
func asConfigError(err error) error {
	if _, ok := errors.AsType[config.Errors](err); ok {
		return err
	}
	return &usageError{err}
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		Run: func(cmd *cobra.Command, _ []string) {
			_, _ = fmt.Fprintln(cmd.OutOrStdout(), versionLine())
		},
	}
}
