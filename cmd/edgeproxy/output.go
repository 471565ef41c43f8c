package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// stickyErrorWriter is the standard output of a command. It keeps the first error. So a command that could not print its
// result fails, even if it ignores what a write returns.
type stickyErrorWriter struct {
	io.Writer
	failed error
}

// Write implements io.Writer.
func (o *stickyErrorWriter) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err //nolint:wrapcheck // it is the writer's
}

// rejectUnknownShells makes an unknown shell a usage error of cobra's completion command. cobra prints the help instead,
// and scripts would take that for a completion.
func rejectUnknownShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil || completion == root {
		return
	}
	completion.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return &usageError{fmt.Errorf("unexpected argument %q: completion knows bash, zsh, fish and powershell", args[0])}
		}
		return &usageError{errors.New("completion needs one of bash, zsh, fish and powershell")}
	}
	completion.Args = cobra.ArbitraryArgs
}
