package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // a test is lost, or nothing could be said
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are what the command line says.
type options struct {
	root     string // of the checkout
	suite    string // folder of an installed copy; "" is the npm release
	cache    string // folder for what can be had again
	edge     string // edgeproxy; "" builds it
	only     []string
	parallel int
	limit    time.Duration
	failing  bool
	trace    bool
	update   bool
	docs     bool
	strict   bool // nothing may be left out
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
	err = o.work(ctx, stdout, stderr)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errNoSuite) && !o.strict:
		fmt.Fprintf(stdout, "conformance: left out: %v\n", err)
		return exitDone
	}
	fmt.Fprintf(stderr, "conformance: %v\n", err)
	return exitFailed
}

// parse reads the command line; what is wrong with it is on stderr then.
func parse(args []string, stderr io.Writer) (options, error) {
	o := options{strict: os.Getenv("EDGEPROXY_TEST_ALL") == "1"}
	f := flag.NewFlagSet("conformance", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.root, "root", ".", "`folder` of the checkout")
	f.StringVar(&o.suite, "suite", "", "`folder` of an installed copy of the suite; the npm release if not given")
	f.StringVar(&o.cache, "cache", ".cache", "`folder` for the npm release, the built program and logs")
	f.StringVar(&o.edge, "edgeproxy", "", "`program` to test; built from the source if not given")
	only := f.String("only", "", "play these `tests` (a,b) and what they depend on, and compare nothing")
	f.IntVar(&o.parallel, "parallel", 25, "tests played at a time")
	f.DurationVar(&o.limit, "limit", 5*time.Minute, "longest time for the suite, in whole seconds")
	f.BoolVar(&o.failing, "failing", false, "list what does not hold, with the suite's words")
	f.BoolVar(&o.trace, "trace", false, "print requests and responses of the tests in -only, under the first policy")
	f.BoolVar(&o.update, "update", false, "make the outcomes the expected ones and write the documents")
	f.BoolVar(&o.docs, "docs", false, "only write the documents, from the expected outcomes")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	err := o.validate(f.Args())
	if err != nil {
		fmt.Fprintf(stderr, "conformance: %v\n", err)
	}
	return o, err
}

func (o *options) validate(operands []string) error {
	switch {
	case len(operands) > 0:
		return fmt.Errorf("unexpected argument %q", operands[0])
	case o.parallel < 1:
		return fmt.Errorf("-parallel %d: want at least 1", o.parallel)
	case o.limit < time.Second:
		return fmt.Errorf("-limit %v: want at least 1s", o.limit)
	case o.trace && o.only == nil:
		return errors.New("-trace: want -only with it, for the whole suite says too much")
	case o.update && o.only != nil:
		return errors.New("-update: want it without -only, for it writes every outcome")
	}
	return nil
}
