package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"edgeproxy/config"
)

// healthTimeout is the default of --timeout.
const healthTimeout = 3 * time.Second

func healthCommand() *cobra.Command {
	var address string
	var live bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health [--live] [--admin ADDRESS]",
		Short: "Ask a running proxy whether it is ready, for scripts and containers",
		Long: "Ask the admin listener of a running proxy whether it takes requests, and print its answer.\n" +
			"The exit code is 0 if it does. A proxy that drains is not ready; with --live it is asked\n" +
			"only whether it answers. No token is needed.",
		Example: "  edgeproxy health\n  edgeproxy health --live --admin unix:/run/edgeproxy/admin.sock",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkAdmin("health", address); err != nil {
				return err
			}
			if timeout <= 0 {
				return &usageError{fmt.Errorf("health: --timeout %v: must be more than 0s", timeout)}
			}
			path := "/readyz"
			if live {
				path = "/livez"
			}
			return askHealth(cmd, address, path, timeout)
		},
	}
	cmd.Flags().StringVar(&address, "admin", config.Default().Admin.Address, "`ADDRESS` or URL of the proxy's admin listener, or of metrics.address")
	cmd.Flags().BoolVar(&live, "live", false, "ask whether it answers, not whether it is ready")
	timeout = healthTimeout
	cmd.Flags().Var((*durationFlag)(&timeout), "timeout", "longest `DURATION` to wait for the answer")
	return cmd
}

// durationFlag is a flag with a duration. Its error lists the units.
type durationFlag time.Duration

func (d *durationFlag) String() string { return time.Duration(*d).String() }
func (d *durationFlag) Type() string   { return "duration" }

func (d *durationFlag) Set(text string) error {
	read, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("must be a duration with a unit (ms, s, m or h), such as 3s")
	}
	*d = durationFlag(read)
	return nil
}

func askHealth(cmd *cobra.Command, address, path string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
	defer cancel()
	status, text, err := call(ctx, address, http.MethodGet, path, "", nil)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	said := strings.TrimSpace(string(text))
	if status != http.StatusOK {
		return errors.New("health: " + said)
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), said)
	return err
}
