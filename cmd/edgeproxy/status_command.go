package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"edgeproxy/config"
	"edgeproxy/internal/edge"
)

const (
	// statusTimeout bounds one request to the admin listener.
	statusTimeout = 10 * time.Second
	// watchEvery is the interval between two screens of --watch.
	watchEvery = time.Second
)

// statusOptions are the flags of the command status.
type statusOptions struct {
	address, tokenFile string
	watch, json        bool
}

func statusCommand() *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status [--watch] [--json] [--admin ADDRESS] [--token-file FILE]",
		Short: "Show the state of a running proxy on one screen",
		Long: "Ask the admin listener of a running proxy for its status, and print it as text: what is wrong\n" +
			"first, requests by result and status, rates of the last minute, writes avoided and their cost\n" +
			"at the origin, tiers, the window, origins and their response times, limits reached,\n" +
			"certificates, and why responses were not stored.\n\n" +
			"With --watch it prints a new screen each second, with the changes of that second, until Ctrl-C.",
		Example: "  edgeproxy status\n  edgeproxy status --watch --admin unix:/run/edgeproxy/admin.sock\n  edgeproxy status --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkAdmin("status", o.address); err != nil {
				return err
			}
			if o.watch && o.json {
				return &usageError{errors.New("status: --json prints one document; leave --watch out (GET /events has one each second)")}
			}
			token, err := tokenFor(o.tokenFile)
			if err != nil {
				return &usageError{fmt.Errorf("status: %w", err)}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return showStatus(ctx, o, token, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&o.address, "admin", config.Default().Admin.Address, "`ADDRESS` or URL of the proxy's admin listener")
	cmd.Flags().StringVar(&o.tokenFile, "token-file", "", "`FILE` with the admin listener's token (default: the environment variable "+tokenVariable+")")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "print a new screen each second, until Ctrl-C")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the JSON document of GET /status")
	return cmd
}

// showStatus prints the status to w: once, or with --watch until ctx ends.
func showStatus(ctx context.Context, o statusOptions, token string, w io.Writer) error {
	text, err := askStatus(ctx, "status", o.address, token)
	if err != nil || o.json {
		_, _ = w.Write(text)
		return err
	}
	var before *edge.Status
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		now := &edge.Status{}
		if err := json.Unmarshal(text, now); err != nil || now.Go == "" {
			return fmt.Errorf("status: %s: %s", o.address, notOurs)
		}
		if _, err := io.WriteString(w, onScreen(w, screen(now, before), o.watch, before != nil)); err != nil || !o.watch {
			return err
		}
		before = now
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if text, err = askStatus(ctx, "status", o.address, token); err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // Ctrl-C cancelled the request
			}
			return err
		}
	}
}

// askStatus returns the document of GET /status. Errors begin with the name of the command.
func askStatus(ctx context.Context, command, address, token string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	code, text, err := call(ctx, address, http.MethodGet, "/status", token, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	if code != http.StatusOK {
		return nil, errors.New(command + ": " + refusalOf(address, "/status", code, text).Error)
	}
	return text, nil
}
