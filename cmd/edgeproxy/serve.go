package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"edgeproxy/config"
)

func serveCommand() *cobra.Command {
	var file string
	var flags config.Flags
	cmd := &cobra.Command{
		Use:   "serve [-c FILE] [--origin URL]",
		Short: "Run the proxy",
		Long: "Run the proxy, from a file or from flags; flags override the file.\n" +
			"edgeproxy serve --origin http://127.0.0.1:9000 needs no file.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadConfig(file, flags)
			if err != nil {
				return asConfigError(err)
			}
			if err := fits(c); err != nil {
				return err
			}
			return serve(cmd.Context(), c, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "config", "c", "", "configuration file")
	f.StringVar(&flags.Origin, "origin", "", "origin server, http[s]://HOST[:PORT]; only where the file has no origins")
	f.StringVar(&flags.Listen, "listen", "", "address to serve clients on (default 127.0.0.1:8080)")
	f.StringVar(&flags.Admin, "admin", "", "address of the admin listener (default 127.0.0.1:9980)")
	f.StringVar(&flags.Policy, "policy", "", "admission: always, second-hit, counting or never (default second-hit)")
	return cmd
}

func loadConfig(file string, flags config.Flags) (*config.Config, error) {
	if file != "" {
		return config.LoadWith(file, flags)
	}
	if flags.Origin == "" {
		return nil, errors.New("serve needs -c FILE or --origin URL")
	}
	return config.FromFlags(flags)
}

// serve runs the proxy until a signal or a failure. The first SIGTERM or SIGINT
// drains; a second one ends the process at once.
func serve(ctx context.Context, c *config.Config, stderr io.Writer) error {
	log := newLog(c.Log, stderr)
	for _, w := range c.Warnings() {
		log.Warn("configuration", "warning", w.String())
	}
	e, err := newEdge(c, log)
	if err != nil {
		return err
	}
	limitMemory(log, e)
	if err := e.listen(); err != nil {
		e.stop(context.Background())
		return err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1)
	defer signal.Stop(signals)
	e.start()
	log.Info("serving", "version", versionName(), "addresses", e.addresses(), "admin", e.adminAddress(), "policy", string(c.Admission.Policy))
	for {
		select {
		case err := <-e.failed:
			e.stop(context.Background())
			return fmt.Errorf("serve: %w", err)
		case <-ctx.Done():
			return e.drain(log, signals)
		case s := <-signals:
			switch s {
			case syscall.SIGHUP:
				log.Warn("SIGHUP: reloading the configuration is not there yet; the running one stays in force")
			case syscall.SIGUSR1:
				e.reopenLogs(log)
			default:
				log.Info("draining", "signal", s.String())
				return e.drain(log, signals)
			}
		}
	}
}

// drain stops in order, and gives way to a second signal.
func (e *edge) drain(log *slog.Logger, signals <-chan os.Signal) error {
	done := make(chan struct{})
	go func() {
		e.stop(context.Background())
		close(done)
	}()
	for {
		select {
		case <-done:
			log.Info("stopped")
			return nil
		case s := <-signals:
			if s == syscall.SIGTERM || s == syscall.SIGINT {
				return fmt.Errorf("second %s while draining: stopped at once", s)
			}
		}
	}
}

func newLog(o config.Log, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: o.Level}
	if o.Format == config.FormatText {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
