package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"edgeproxy/internal/lab/command"
)

func main() { command.Main(run) }

// options are what the command line says.
type options struct {
	minRatio  float64 // 0 judges nothing
	rounds    int
	sightings int   // in one round
	sizes     []int // keys of a generation
	workers   []int // goroutines
}

// run is the program: arguments in, exit code out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Run("filterbench", args, stderr, func(f *flag.FlagSet) func() error {
		o := options{workers: []int{1, 2}}
		f.Float64Var(&o.minRatio, "min-ratio", 0, "fail if a filter is not this `ratio` as fast as the textbook's; 0 judges nothing")
		f.IntVar(&o.rounds, "rounds", 7, "rounds of each filter, size and number of goroutines")
		f.IntVar(&o.sightings, "sightings", 1<<19, "sightings of one round")
		sizes := f.String("keys", "1000000,10000000", "keys of a generation, a `list`")
		return func() (err error) {
			if o.sizes, err = numbers(*sizes); err == nil {
				err = o.validate()
			}
			if err != nil {
				return &command.UsageError{Err: err}
			}
			return o.measure(ctx, stdout)
		}
	})
}

// numbers reads a list such as 1000,20000.
func numbers(list string) ([]int, error) {
	var out []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < batchKeys {
			return nil, fmt.Errorf("--keys %s: %q: must be numbers of at least %d", list, text, batchKeys)
		}
		out = append(out, n)
	}
	return out, nil
}

func (o *options) validate() error {
	switch {
	case o.minRatio < 0:
		return fmt.Errorf("--min-ratio %v: must be a ratio above 0, such as 2, or 0", o.minRatio)
	case o.rounds < 1:
		return fmt.Errorf("--rounds %d: must be at least 1", o.rounds)
	case o.sightings < 2*batchKeys:
		return fmt.Errorf("--sightings %d: must be at least %d", o.sightings, 2*batchKeys)
	}
	return nil
}
