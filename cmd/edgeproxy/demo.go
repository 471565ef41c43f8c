package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"edgeproxy/config"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/edge"
	"edgeproxy/internal/lab/demo"
)

func demoCommand() *cobra.Command {
	var shown demoOptions
	cmd := &cobra.Command{
		Use:   "demo [--seconds N]",
		Short: "Show what admission saves: proxy, origin and clients in one process",
		Long: "Run an origin, a proxy that stores on the second sighting, one that always\n" +
			"stores, and clients that send both the same requests; show what both write to\n" +
			"their disks, and what is saved. Nothing else is needed. Ctrl-C ends it with a summary. A second Ctrl-C ends it\n" +
			"at once, unless it comes within 0.1 s of the first: a terminal and a script may\n" +
			"both deliver the first one.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case shown.seconds < 0:
				return &usageError{errors.New("--seconds " + strconv.Itoa(shown.seconds) + ": must be 0 (until interrupted) or more")}
			case shown.warmUp < 0:
				return &usageError{errors.New("--warm-up " + shown.warmUp.String() + ": must be 0s (the numbers begin with empty caches) or more")}
			}
			return runDemo(cmd.Context(), shown, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().IntVar(&shown.seconds, "seconds", 0, "end after this many seconds of numbers; 0: on Ctrl-C")
	cmd.Flags().DurationVar(&shown.warmUp, "warm-up", 20*time.Second, "fill the caches before the first number, for at most this time; 0s: begin with empty caches")
	return cmd
}

// demoOptions is the command line of the demo.
type demoOptions struct {
	seconds int
	warmUp  time.Duration
}

// runDemo runs the demo until it ends by itself or by a signal. A second signal
// ends it without waiting.
func runDemo(ctx context.Context, shown demoOptions, stdout, stderr io.Writer) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	folder, err := os.MkdirTemp("", "edgeproxy-demo-")
	if err != nil {
		return fmt.Errorf("demo: make a folder for the disks: %w", err)
	}
	err = runInterruptible(ctx, signals, func(ctx context.Context) error {
		return showDemo(ctx, folder, shown, stdout, stderr)
	}, func() { _ = os.RemoveAll(folder) })
	removeWithin(folder, signals) // what a second signal has left
	return err
}

// removeTimeout bounds the removal of the disks after a second signal.
const removeTimeout = time.Second

// removeWithin removes folder. It gives up after removeTimeout, or on another signal that comes later than doubledWithin.
func removeWithin(folder string, signals <-chan os.Signal) {
	removed := make(chan struct{})
	go func() {
		defer close(removed)
		_ = os.RemoveAll(folder) // what stays is in the folder for temporary files
	}()
	timer := time.NewTimer(removeTimeout)
	defer timer.Stop()
	wish := stopWish{asked: time.Now()}
	for {
		select {
		case <-removed:
			return
		case <-timer.C:
			return
		case <-signals:
			if _, again := wish.note(); again {
				return
			}
		}
	}
}

// runInterruptible calls show, then remove. The first signal cancels the context of show, a second one ends the wait for
// both: remove takes longer than the rest of a stop.
func runInterruptible(ctx context.Context, signals <-chan os.Signal, show func(context.Context) error, remove func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		err := show(ctx)
		remove()
		done <- err
	}()
	return waitOrInterrupt(done, signals, cancel)
}

// waitOrInterrupt waits for done. The first signal calls stop. A second one ends
// the wait, if it comes later than doubledWithin.
func waitOrInterrupt(done <-chan error, signals <-chan os.Signal, stop func()) error {
	var wish stopWish
	for {
		select {
		case err := <-done:
			return err
		case s := <-signals:
			first, again := wish.note()
			if again {
				return fmt.Errorf("second %s while stopping: stopped at once", s)
			}
			if first {
				stop()
			}
		}
	}
}

// demoLog is what the proxies of the demo log: what goes wrong, between the lines of values.
var demoLog = config.Log{Level: slog.LevelWarn, Format: config.FormatText}

// showDemo starts everything with disks below folder, runs the demo, and stops everything, outermost first.
func showDemo(ctx context.Context, folder string, shown demoOptions, stdout, stderr io.Writer) error {
	origin, err := demo.StartOrigin()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	log := newLog(demoLog, stderr)
	defer func() {
		if err := origin.Close(); err != nil {
			log.Warn("a connection to the origin was left behind", "error", err)
		}
	}()
	secondHit, notes, err := startDemoEdge(origin.Address(), folder, policy.SecondHit, defaultAddresses(), log)
	if err != nil {
		return fmt.Errorf("demo: start the proxy: %w", err)
	}
	defer secondHit.Stop(context.Background())
	always, _, err := startDemoEdge(origin.Address(), folder, policy.Always, freeAddresses(), log)
	if err != nil {
		return fmt.Errorf("demo: start the proxy that always stores: %w", err)
	}
	defer always.Stop(context.Background())
	defer edge.LimitMemory(log, secondHit.Edge, always.Edge)()

	d := demo.New(demo.Options{
		SecondHit: secondHit, Always: always, Origin: origin.Address(), Out: stdout, Notes: notes, Seconds: shown.seconds,
		WarmUp: shown.warmUp, Redraws: isTerminal(stdout),
	})
	if err := runWatched(ctx, d, secondHit.Failed(), always.Failed()); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	// After both stops the counts are final, with every write in them.
	secondHit.Stop(context.Background())
	always.Stop(context.Background())
	if err := d.Summarise(); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return nil
}

// isTerminal reports whether out is a terminal, where lines may be drawn anew.
func isTerminal(out io.Writer) bool {
	if o, ok := out.(*stickyErrorWriter); ok {
		out = o.Writer
	}
	file, ok := out.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// runWatched runs d until it ends or one of the proxies' listeners fails.
func runWatched(ctx context.Context, d interface{ Run(context.Context) error }, one, other <-chan error) error {
	ctx, stop := context.WithCancel(ctx)
	var failure error
	var watching sync.WaitGroup
	watching.Go(func() {
		defer stop()
		select {
		case failure = <-one:
		case failure = <-other:
		case <-ctx.Done():
		}
	})
	err := d.Run(ctx)
	stop()
	watching.Wait()
	return errors.Join(failure, err)
}
