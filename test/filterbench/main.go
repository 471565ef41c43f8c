package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // too slow, or not measured
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are what the command line says.
type options struct {
	minRatio  float64 // 0 judges nothing
	rounds    int
	sightings int   // of one round
	sizes     []int // keys of a generation
	workers   []int // goroutines
}

// run is the program: arguments in, exit code out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		return exitUsage
	}
	if err := o.measure(ctx, stdout); err != nil {
		fmt.Fprintf(stderr, "filterbench: %v\n", err)
		return exitFailed
	}
	return exitDone
}

// parse reads the command line; what is wrong with it is on stderr then.
func parse(args []string, stderr io.Writer) (options, error) {
	o := options{workers: []int{1, 2}}
	sizes := ""
	f := flag.NewFlagSet("filterbench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Float64Var(&o.minRatio, "min-ratio", 0, "fail if a filter is not this `ratio` as fast as the textbook's; 0 judges nothing")
	f.IntVar(&o.rounds, "rounds", 7, "rounds of each filter, size and number of goroutines")
	f.IntVar(&o.sightings, "sightings", 1<<19, "sightings of one round")
	f.StringVar(&sizes, "keys", "1000000,10000000", "keys of a generation, a `list`")
	err := f.Parse(args)
	if err != nil {
		return o, err
	}
	if o.sizes, err = numbers(sizes); err == nil {
		err = o.validate(f.Args())
	}
	if err != nil {
		fmt.Fprintf(stderr, "filterbench: %v\n", err)
	}
	return o, err
}

// numbers reads a list such as 1000,20000.
func numbers(list string) ([]int, error) {
	var out []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < batchKeys {
			return nil, fmt.Errorf("--keys %s: %q: want numbers of at least %d", list, text, batchKeys)
		}
		out = append(out, n)
	}
	return out, nil
}

func (o *options) validate(operands []string) error {
	switch {
	case len(operands) > 0:
		return fmt.Errorf("unexpected argument %q", operands[0])
	case o.minRatio < 0:
		return fmt.Errorf("--min-ratio %v: want a ratio above 0, such as 2, or 0", o.minRatio)
	case o.rounds < 1:
		return fmt.Errorf("--rounds %d: want at least 1", o.rounds)
	case o.sightings < 2*batchKeys:
		return fmt.Errorf("--sightings %d: want at least %d", o.sightings, 2*batchKeys)
	}
	return nil
}
