package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/lab/process"
)

// These commands make this program a server to compare with.
const (
	bareCommand      = "bare"
	bareProxyCommand = "bareproxy" // and the address of its origin
)

func main() { command.Main(run) }

// options are what the command line says.
type options struct {
	program     string // edgeproxy; "" builds it
	base        string // another edgeproxy to compare with; "": the bare handler
	maxRatio    float64
	rounds      int
	roundTime   time.Duration
	connections int
	peers       bool           // compare with the peers that are installed
	only        *regexp.Regexp // which works of theirs
	log         bool           // compare with and without an access log
	many        int            // objects of a cache of many; 0: not that
	profileTo   string         // where to write a profile of edgeproxy's works; "": not that
	realTime    bool           // run their servers in real time in the open loop
}

// run is the program: arguments in, exit code out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == bareCommand {
		return command.Code("bench", serveBare(os.Stdin, stdout), stderr)
	}
	if len(args) == 2 && args[0] == bareProxyCommand {
		return command.Code("bench", serveBareProxy(args[1], os.Stdin, stdout), stderr)
	}
	return command.Run("bench", args, stderr, func(f *flag.FlagSet) func() error {
		var o options
		only := o.define(f)
		return func() error {
			if err := errors.Join(o.validate(), o.choose(*only)); err != nil {
				return &command.UsageError{Err: err}
			}
			return process.WithEdge(ctx, ".", o.program, func(program string) error {
				o.program = program
				return o.measure(ctx, stdout)
			})
		}
	})
}

// measure does what the options ask for.
func (o options) measure(ctx context.Context, stdout io.Writer) error {
	switch {
	case o.base != "":
		return o.measurePairs(ctx, stdout)
	case o.log:
		return o.measureLog(ctx, stdout)
	}
	return o.withScene(func(s *scene) error {
		switch {
		case o.profileTo != "":
			return s.profile(ctx, o.profileTo)
		case o.many > 0:
			return s.measureMany(ctx, stdout)
		case o.peers:
			return s.measurePeers(ctx, stdout)
		}
		return s.measureHits(ctx, stdout)
	})
}

// define makes the flags.
func (o *options) define(f *flag.FlagSet) (only *string) {
	f.StringVar(&o.program, "edgeproxy", "", "`program` to measure; built from the source if not given")
	f.StringVar(&o.base, "base", "", "another edgeproxy, a `program` to compare with in pairs instead of the bare handler")
	f.BoolVar(&o.peers, "peers", false, "compare with nginx, HAProxy, Varnish and Traffic Server, as far as they are installed, and with bare programs; no ratio fails")
	f.BoolVar(&o.log, "log", false, "compare edgeproxy that writes an access log with one that does not, in pairs")
	f.BoolVar(&o.realTime, "real-time", false, "with --peers or --many, as root: in the open loop the servers go before all other programs on their processor")
	f.IntVar(&o.many, "many", 0, "measure hits, the collector and memory with this many `objects` of 200 bytes in the cache, and with 10,000")
	f.StringVar(&o.profileTo, "profile", "", "write a profile of edgeproxy's CPU time at hits and misses to this `file`, for the compiler")
	only = f.String("only", "", "with --peers, --base or --log: only the works whose names match this `expression`")
	f.Float64Var(&o.maxRatio, "max-ratio", 1.25, "fail if a hit costs more than this `ratio` to the bare handler, or to the base")
	f.IntVar(&o.rounds, "rounds", 41, "rounds of each server and size, or pairs; without a base twice as many where the ratio is above the limit")
	f.DurationVar(&o.roundTime, "round-time", 150*time.Millisecond, "length of one round")
	f.IntVar(&o.connections, "connections", 16, "client connections")
	return only
}

// choose takes the expression of --only, and looks at what goes only with some ways to measure.
func (o *options) choose(only string) (err error) {
	if o.only, err = regexp.Compile(only); err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	if only != "" && !o.peers && !o.log && o.base == "" {
		return errors.New("--only: must be with --peers, --base or --log")
	}
	if o.realTime && !o.peers && o.many == 0 {
		return errors.New("--real-time: must be with --peers or --many")
	}
	return nil
}

func (o *options) validate() error {
	switch {
	case o.peers && o.base != "", o.log && (o.peers || o.base != ""):
		return errors.New("--peers, --base and --log: must be one of them")
	case o.maxRatio <= 0:
		return fmt.Errorf("--max-ratio %v: must be a ratio above 0, such as 1.25", o.maxRatio)
	case o.rounds < 1:
		return fmt.Errorf("--rounds %d: must be at least 1", o.rounds)
	case o.roundTime <= 0:
		return fmt.Errorf("--round-time %v: must be a time above 0, such as 500ms", o.roundTime)
	case o.connections < 1:
		return fmt.Errorf("--connections %d: must be at least 1", o.connections)
	}
	return nil
}
