package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/lab/simulate"
	"edgeproxy/internal/lab/trace"
)

// simulation is the command line of simulate.
type simulation struct {
	logs   []string
	format string
	fields trace.Fields
	grid   simulate.Grid
	goal   simulate.Goal
	window string // "": the grid's rotations decide
	json   bool
	html   string // a file, "" for none
	gets   bool   // leave HEAD requests out
	edges  edges

	ignoreTimes bool
}

func simulateCommand() *cobra.Command {
	var s simulation
	cmd := &cobra.Command{
		Use:   "simulate [flags] LOG...",
		Short: "Replay an access log over policies and settings, without a network",
		Long: "Replay the requests of LOG... over a grid of settings, print what each would have\n" +
			"saved, and recommend one for each capacity, as lines of a configuration file.\n" +
			"With --goal balanced that is " + simulate.Balanced.Rule() + ";\n" +
			"with most_hits " + simulate.MostHits.Rule() + ";\n" +
			"with fewest_writes " + simulate.FewestWrites.Rule() + ".\n" +
			"It takes " + simulate.Evidence + ".\n\n" +
			"LOG is an access log of a server, a proxy or a cloud (--format lists them), or lines of `seq\n" +
			"id size`, plain, gzip or zstd; - is standard input; zipf:KEY=V,... and popularity:FILE,...\n" +
			"generate requests. --fields reads JSON, and TSV or CSV with a header or by numbers of columns,\n" +
			"whatever the names. Give logs oldest first, in a pipe too. A line counts if it is a GET or\n" +
			"HEAD that was answered with 200 or 304. As in the proxy, a HEAD is a sighting, is answered\n" +
			"from what a GET has stored, and stores nothing.\n\n" +
			"The flags of the grid take a list, by commas or by repetition; the grid is every\n" +
			"combination that makes sense, at most 500. Policy always is run at every capacity,\n" +
			"because the others are compared with it. c is the number of objects of the log's mean\n" +
			"size that fit into the capacity; window auto uses the mean size of admitted objects\n" +
			"instead. Periods are raised to 100 requests or keys. Each --rotate-... value is a\n" +
			"rule of its own.\n\n" +
			"With --nodes the requests go to several edges, and every figure is that of all together.\n" +
			"Capacity, stage, filter and window are those of each edge.",
		Example: "  edgeproxy simulate access.log\n" +
			"  edgeproxy simulate --nodes 4 --share placement access.log\n" +
			"  edgeproxy simulate --fields target=http.path,host=http.host,bytes=http.length requests.json\n" +
			"  zcat $(ls -tr access.log.*.gz) | edgeproxy simulate --capacity 1%,5%,20% --html report.html -",
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
	s.defineFlags(cmd)
	return cmd
}

// check refuses settings that cannot work, before the log is read.
func (s *simulation) check() error {
	inputs := 0
	for _, log := range s.logs {
		if log == "-" {
			inputs++
		}
	}
	if inputs > 1 {
		return errors.New("LOG - is given twice: standard input can be read only once")
	}
	if err := checkPage("--html", s.html); err != nil {
		return err
	}
	if err := s.checkReading(); err != nil {
		return err
	}
	if err := s.applyWindow(); err != nil {
		return err
	}
	if err := s.applyEdges(); err != nil {
		return err
	}
	err := s.grid.Check()
	if flagErr := asFlagError(err); flagErr != nil {
		return flagErr
	}
	return err
}

// runWatched runs the simulation until it ends by itself or by a signal. A
// second signal ends it without waiting.
func (s *simulation) runWatched(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.run(ctx, stdin, stdout, stderr) }()
	err := waitOrInterrupt(done, signals, cancel)
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
		warn(stderr, report.Warnings)
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

// compute replays the logs. It shows a progress bar on stderr if that is a terminal.
func (s *simulation) compute(ctx context.Context, stdin io.Reader, stderr io.Writer) (*simulate.Report, error) {
	meter := simulate.NewMeter(stderr)
	defer meter.Close()
	requests, err := trace.Read(ctx, s.logs, trace.Options{
		Format: s.format, Fields: s.fields, IgnoreTimes: s.ignoreTimes, Heads: !s.gets, Input: stdin, Progress: meter.Reading,
	})
	if err != nil {
		return nil, asReadError(err)
	}
	defer func() { _ = requests.Close() }() // an unnamed temporary file
	report, err := simulate.Run(ctx, requests, s.grid, simulate.Options{
		Goal: s.goal, Workers: runtime.GOMAXPROCS(0), Clock: time.Now, Progress: meter.Replaying,
	})
	if err != nil {
		return nil, asRunError(err)
	}
	return report, nil
}

// warn prints the warnings to stderr: the text report has them, the JSON document has not.
func warn(stderr io.Writer, warnings []string) {
	for _, w := range warnings {
		_, _ = fmt.Fprintf(stderr, "edgeproxy: warning: %s\n", w)
	}
}

// asRunError makes settings that cannot work with this log a usage error.
func asRunError(err error) error {
	if flagErr := asFlagError(err); flagErr != nil {
		return &usageError{flagErr}
	}
	return fmt.Errorf("simulate: %w", err)
}

// asFlagError rewrites the error of a setting to name its flag; nil if err is of
// another kind.
func asFlagError(err error) error {
	if option, ok := errors.AsType[*bloom.OptionError](err); ok {
		return fmt.Errorf("--%s %v: must be %s", strings.ReplaceAll(option.Option, "_", "-"), option.Value, option.Want)
	}
	grid, ok := errors.AsType[*simulate.GridError](err)
	switch {
	case !ok:
		return nil
	case grid.IsFlag():
		return fmt.Errorf("--%w", grid)
	default:
		return grid
	}
}

// asReadError makes a missing log, or a bad description of a synthetic one, a
// usage error.
func asReadError(err error) error {
	if _, ok := errors.AsType[*trace.SourceError](err); ok {
		return &usageError{err}
	}
	if errors.Is(err, trace.ErrOrder) {
		return fmt.Errorf("simulate: %w; with --ignore-times the order of the lines counts, as after a clock was set back", err)
	}
	return fmt.Errorf("simulate: %w", err)
}

// name returns the name of the logs in the report.
func (s *simulation) name() string {
	names := make([]string, len(s.logs))
	for i, log := range s.logs {
		names[i] = trace.Name(log)
	}
	return strings.Join(names, ", ")
}
