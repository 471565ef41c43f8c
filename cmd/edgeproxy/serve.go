package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"edgeproxy/config"
	"edgeproxy/internal/edge"
)

func serveCommand() *cobra.Command {
	var source settings
	cmd := &cobra.Command{
		Use:   "serve [-c FILE] [--origin URL]",
		Short: "Run the proxy",
		Long: "Run the proxy, from a file or from flags; flags override the file.\n" +
			"edgeproxy serve --origin http://127.0.0.1:9000 needs no file.\n" +
			"SIGTERM, SIGINT or SIGQUIT drains and stops it. A second one ends it at once.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := source.load("serve")
			if err != nil {
				return asConfigError(err)
			}
			if err := edge.Validate(c); err != nil {
				return err
			}
			return serve(cmd.Context(), c, &source.Source, cmd.ErrOrStderr())
		},
	}
	source.bind(cmd)
	return cmd
}

// serve runs the proxy until a signal or a failure. c was loaded from the source from. The first SIGTERM or SIGINT
// drains; a second one ends the process at once.
func serve(ctx context.Context, c *config.Config, from *edge.Source, stderr io.Writer) error {
	received := notifySignals(stderr)
	defer received.end()
	var level slog.LevelVar
	level.Set(c.Log.Level)
	log, out, err := openLog(c.Log, &level, stderr)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // an error has no log left to go to
	for _, w := range edge.Warnings(c) {
		log.Warn("configuration", "warning", w.String())
	}
	e, err := edge.New(c, log, edge.Options{Version: versionName(), Commit: commitName(), Source: from, Level: &level, Dropped: out.Dropped, Supervised: true})
	if err != nil {
		return err
	}
	defer edge.LimitMemory(log, e)()
	if err := e.Listen(); err != nil {
		e.Stop(context.Background())
		return err
	}
	e.Start()
	go received.handle(e)
	log.Info("serving", "version", versionName(), "addresses", e.Addresses(), "admin", e.AdminAddress(), "policy", c.Admission.Policy.String())
	e.NotifyReady()
	select {
	case err := <-e.Failed():
		e.Stop(context.Background())
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	case s := <-received.stop:
		log.Info("draining", "signal", s.String())
	}
	e.Stop(context.Background())
	log.Info("stopped")
	return nil
}
