package main

import (
	"context"
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
	"edgeproxy/internal/ops/top"
)

// maxTopAnswer bounds what is read of an answer: eight lists of a hundred names, and the JSON around them. Escaping makes
// a name up to four times as long.
const maxTopAnswer = 2 << 20

// topOptions are the flags of the command top.
type topOptions struct {
	address, tokenFile, by string
	rows                   int
	watch, json, requests  bool
}

func topCommand() *cobra.Command {
	var o topOptions
	cmd := &cobra.Command{
		Use:   "top [--by MEASURE | --requests] [--watch] [--json] [-n ROWS] [--admin ADDRESS] [--token-file FILE]",
		Short: "Show the hosts and URLs with the most traffic, or the requests in progress",
		Long: "Ask the admin listener of a running proxy which hosts and URLs have the most requests, bytes,\n" +
			"misses or responses held back, and print them as text. The proxy counts them if\n" +
			"metrics.top.entries is above 0. Its counters take a fixed amount of memory, so some counts are\n" +
			"ranges: at least this many, to at most that many.\n\n" +
			"With --requests it shows the requests in progress, the oldest first, and what they wait for.\n" +
			"With --watch it prints a new screen each second, until Ctrl-C.",
		Example: "  edgeproxy top\n  edgeproxy top --by bytes --watch\n  edgeproxy top --requests --admin unix:/run/edgeproxy/admin.sock\n  edgeproxy top --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkAdmin("top", o.address); err != nil {
				return err
			}
			if err := o.check(cmd.Flags().Changed("by")); err != nil {
				return &usageError{fmt.Errorf("top: %w", err)}
			}
			token, err := tokenFor(o.tokenFile)
			if err != nil {
				return &usageError{fmt.Errorf("top: %w", err)}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return o.show(ctx, token, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&o.address, "admin", config.Default().Admin.Address, "`ADDRESS` or URL of the proxy's admin listener")
	cmd.Flags().StringVar(&o.tokenFile, "token-file", "", "`FILE` with the admin listener's token (default: the environment variable "+tokenVariable+")")
	cmd.Flags().StringVar(&o.by, "by", "requests", "`MEASURE` of hosts and URLs: requests, bytes, misses or held_back")
	cmd.Flags().BoolVar(&o.requests, "requests", false, "show the requests in progress")
	cmd.Flags().IntVarP(&o.rows, "rows", "n", 20, "number of `ROWS` to show, 1 to 100")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "print a new screen each second, until Ctrl-C")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the JSON document of GET /top or, with --requests, of GET /requests")
	return cmd
}

// isMeasure reports whether by is a value of --by.
func isMeasure(by string) bool {
	for m := range top.Measures {
		if by == m.String() {
			return true
		}
	}
	return false
}

func (o *topOptions) check(byGiven bool) error {
	switch {
	case o.watch && o.json:
		return errors.New("--json prints one document; leave --watch out")
	case o.requests && byGiven:
		return errors.New("--by is for hosts and URLs; leave it or --requests out")
	case !isMeasure(o.by):
		return fmt.Errorf("--by %s: must be requests, bytes, misses or held_back", o.by)
	case o.rows < 1 || o.rows > 100:
		return fmt.Errorf("--rows %d: must be 1 to 100", o.rows)
	}
	return nil
}

// show prints to w: once, or with --watch until ctx ends.
func (o *topOptions) show(ctx context.Context, token string, w io.Writer) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for again := false; ; again = true {
		text, err := o.ask(ctx, token)
		switch {
		case err != nil && again && ctx.Err() != nil:
			return nil // Ctrl-C cancelled the request
		case err != nil:
			return err
		case o.json:
			_, err = w.Write(text)
			return err
		}
		shown, err := o.screen(text)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, onScreen(w, shown, o.watch, again)); err != nil || !o.watch {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// ask returns the document of GET /top or GET /requests.
func (o *topOptions) ask(ctx context.Context, token string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	path := "/top"
	if o.requests {
		path = "/requests"
	}
	res, err := ask(ctx, o.address, http.MethodGet, fmt.Sprint(path, "?n=", o.rows), token, nil)
	if err != nil {
		return nil, fmt.Errorf("top: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxTopAnswer))
	switch {
	case err != nil:
		return nil, fmt.Errorf("top: %s: read the answer: %w", o.address, err)
	case res.StatusCode != http.StatusOK:
		return nil, errors.New("top: " + refusalOf(o.address, path, res.StatusCode, text).Error)
	}
	return text, nil
}
