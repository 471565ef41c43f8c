package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"edgeproxy/config"
	"edgeproxy/internal/edge"
)

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config init|schema|print",
		Short: "Print a starter file, the JSON Schema, or the effective configuration",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			return &usageError{errors.New("config needs one of init, schema and print")}
		},
	}
	prints := func(use, short string, text func() string) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: noArguments, RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), text())
			return err
		}}
	}
	cmd.AddCommand(
		prints("init", "Print a short configuration file to start from", config.Starter),
		prints("schema", "Print the JSON Schema of files, for editors", func() string { return string(config.Schema()) }),
		printCommand(),
	)
	return cmd
}

func printCommand() *cobra.Command {
	var source settings
	cmd := &cobra.Command{
		Use:   "print -c FILE",
		Short: "Print the effective configuration: defaults filled in, secrets as stars",
		Long: "Print the effective configuration of a file and flags. The output is a configuration\n" +
			"file with the same meaning. Defaults are filled in, secrets are printed as stars.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := source.load("config print")
			if err != nil {
				return asConfigError(err)
			}
			text, err := c.Effective()
			if err == nil {
				_, err = fmt.Fprint(cmd.OutOrStdout(), text)
			}
			return err
		},
	}
	source.bind(cmd)
	return cmd
}

// settings is the source of a command's configuration: a file, and flags that override it.
type settings struct{ edge.Source }

// bind adds the flags.
func (s *settings) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.VarP(configTo(&s.File), "config", "c", "configuration file")
	for _, flag := range s.Flags.List() {
		f.StringVar(flag.Value, flag.Name, "", flag.Help)
	}
}

// load loads the configuration for a command.
func (s *settings) load(command string) (*config.Config, error) {
	if s.File == "" && s.Flags.Origin == "" {
		return nil, fmt.Errorf("%s needs -c FILE or --origin URL", command)
	}
	return s.Load()
}
