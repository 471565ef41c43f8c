package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/simulate"
	"edgeproxy/internal/trace"
)

// simulation is the command line of simulate.
type simulation struct {
	logs   []string
	format string
	grid   simulate.Grid
	json   bool
	html   string // a file, "" for none
}

func simulateCommand() *cobra.Command {
	var s simulation
	cmd := &cobra.Command{
		Use:   "simulate [flags] LOG...",
		Short: "Replay an access log over policies and settings, without a network",
		Long: "Replay the requests of LOG... over a grid of settings, print what each would have\n" +
			"saved, and recommend one for each capacity, as lines of a configuration file.\n" +
			"Recommended is " + simulate.Rule + ".\n\n" +
			"LOG is an access log (combined, our own JSON, TSV or CSV with a header) or lines of\n" +
			"`seq id size`, plain, gzip or zstd; - is standard input; zipf:KEY=V,... and\n" +
			"popularity:FILE,... make requests up. The flags of the grid take a list, by commas or\n" +
			"by repetition; the grid is every combination that makes sense, at most 500. Policy\n" +
			"always is run at every capacity, for the others are compared with it.\n\n" +
			"C is the number of objects of mean size that the capacity holds; periods are\n" +
			"raised to 100 requests or keys. Each --rotate-... value is a rule of its own.",
		Example: "  edgeproxy simulate access.log\n" +
			"  zcat access.log.*.gz | edgeproxy simulate --capacity 1%,5%,20% --html report.html -",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{errors.New("simulate needs a LOG: a file, - for standard input, or zipf:KEY=VALUE")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s.logs = args
			if err := s.check(); err != nil {
				return &usageError{err}
			}
			return s.runWatched(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	s.define(cmd)
	return cmd
}

// check refuses what is known to fail before the log is read.
func (s *simulation) check() error {
	inputs := 0
	for _, log := range s.logs {
		if log == "-" {
			inputs++
		}
	}
	if inputs > 1 {
		return errors.New("LOG - stands twice: standard input can be read once")
	}
	if s.html == "" {
		return nil
	}
	if dir, err := os.Stat(filepath.Dir(s.html)); err != nil || !dir.IsDir() {
		return fmt.Errorf("--html %s: there is no such folder", s.html)
	}
	if file, err := os.Stat(s.html); err == nil && file.IsDir() {
		return fmt.Errorf("--html %s: want a file, this is a folder", s.html)
	}
	return nil
}

// runWatched runs the simulation until it ends by itself or by a signal; a
// second signal does not wait for the rest.
func (s *simulation) runWatched(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.run(ctx, stdin, stdout, stderr) }()
	err := interruptible(done, signals, cancel)
	if errors.Is(err, context.Canceled) {
		return errors.New("simulate: interrupted, there is no report")
	}
	return err
}

// run reads, replays and reports.
func (s *simulation) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	report, err := s.compute(ctx, stdin, stderr)
	if err != nil {
		return err
	}
	name := s.name()
	if s.json {
		err = report.WriteJSON(stdout)
	} else {
		err = report.WriteText(stdout, name)
	}
	if err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	if s.html == "" {
		return nil
	}
	if err := writePage(s.html, report.Page(name)); err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	return nil
}

// compute replays the logs, with a bar on stderr if that is a terminal.
func (s *simulation) compute(ctx context.Context, stdin io.Reader, stderr io.Writer) (*simulate.Report, error) {
	meter := simulate.NewMeter(stderr)
	defer meter.Close()
	requests, err := trace.Read(ctx, s.logs, trace.Options{Format: s.format, Input: stdin, Progress: meter.Reading})
	if err != nil {
		return nil, asReadError(err)
	}
	defer func() { _ = requests.Close() }() // a temporary file without a name, which nobody needs any more
	report, err := simulate.Run(ctx, requests, s.grid, simulate.Options{
		Workers: runtime.GOMAXPROCS(0), Clock: time.Now, Progress: meter.Replaying,
	})
	if err != nil {
		return nil, asRunError(err)
	}
	return report, nil
}

// asRunError makes settings that cannot work, alone or with this log, bad usage.
func asRunError(err error) error {
	_, grid := errors.AsType[*simulate.GridError](err)
	_, option := errors.AsType[*bloom.OptionError](err)
	if grid || option {
		return &usageError{err}
	}
	return fmt.Errorf("simulate: %w", err)
}

// asReadError makes a log that is not there bad usage.
func asReadError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &usageError{err}
	}
	return fmt.Errorf("simulate: %w", err)
}

// name is what the report calls the logs.
func (s *simulation) name() string {
	names := make([]string, len(s.logs))
	for i, log := range s.logs {
		names[i] = trace.Name(log)
	}
	return strings.Join(names, ", ")
}
