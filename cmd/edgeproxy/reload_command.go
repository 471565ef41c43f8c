package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"edgeproxy/config"
	"edgeproxy/internal/admin"
	"edgeproxy/internal/edge"
)

// reloadTimeout bounds a reload, including the answer. A busy machine may need half a minute for a file with thousands of routes.
// An operator who gets no answer does not know whether the file is in force.
const reloadTimeout = 3 * time.Minute

func reloadCommand() *cobra.Command {
	var address, tokenFile string
	cmd := &cobra.Command{
		Use:   "reload [--admin ADDRESS] [--token-file FILE]",
		Short: "Make a running proxy reload its configuration file",
		Long: "Make a running proxy reload its configuration file. Print which settings have changed\n" +
			"and which need a restart. A file with a mistake changes nothing: each problem is\n" +
			"printed, and the exit code is 2.",
		Example: "  edgeproxy reload\n  edgeproxy reload --admin unix:/run/edgeproxy/admin.sock",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !admin.IsAddress(address) {
				return &usageError{fmt.Errorf("reload: --admin %s: want HOST:PORT or unix:PATH", address)}
			}
			token, err := tokenFor(tokenFile)
			if err != nil {
				return &usageError{fmt.Errorf("reload: %w", err)}
			}
			done, err := askReload(cmd.Context(), address, token)
			if err != nil {
				return err
			}
			return reportReload(cmd.OutOrStdout(), done)
		},
	}
	cmd.Flags().StringVar(&address, "admin", config.Default().Admin.Address, "`ADDRESS` of the proxy's admin listener")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "`FILE` with the admin listener's token (default: the environment variable "+tokenVariable+")")
	return cmd
}

func askReload(ctx context.Context, address, token string) (*edge.Reloaded, error) {
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	status, text, err := post(ctx, address, "/reload", token, nil)
	if err != nil {
		return nil, fmt.Errorf("reload: %w", err)
	}
	if status != http.StatusOK {
		why := refusalOf(address, "/reload", status, text)
		err := errors.New("reload: " + strings.Join(append([]string{why.Error}, why.Problems...), "\n"))
		if status == http.StatusUnprocessableEntity {
			return nil, &refusedError{err}
		}
		return nil, err
	}
	var a edge.Reloaded
	if err := json.Unmarshal(text, &a); err != nil || a.File == "" {
		return nil, fmt.Errorf("reload: %s: %s", address, notOurs)
	}
	return &a, nil
}

// refusedError says that the running proxy refused its file: exit code 2, without a pointer to the command's help.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

// reportReload prints the result, one line for each setting.
func reportReload(w io.Writer, a *edge.Reloaded) error {
	var b strings.Builder
	fmt.Fprintf(&b, "reloaded: %s\n", a.File)
	for _, c := range a.Changed {
		fmt.Fprintf(&b, "changed: %s\n", changeText(c))
	}
	for _, c := range a.Restart {
		fmt.Fprintf(&b, "needs a restart: %s\n", changeText(c))
	}
	if len(a.Changed) == 0 {
		b.WriteString("no setting has changed; the files that settings name were read again\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("reload: done, but the result could not be printed: %w", err)
	}
	return nil
}

// changeText returns the setting's path with its old and new value.
func changeText(c edge.Change) string {
	switch {
	case c.Old == "":
		return c.Path + ": now " + c.New
	case c.New == "":
		return c.Path + ": no longer " + c.Old
	}
	return c.Path + ": " + c.Old + " -> " + c.New
}
