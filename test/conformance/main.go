package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"edgeproxy/internal/lab/command"
)

func main() { command.Main(run) }

// options are what the command line says.
type options struct {
	root     string // the checkout's folder
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
	return command.Run("conformance", args, stderr, func(f *flag.FlagSet) func() error {
		o := options{strict: os.Getenv("EDGEPROXY_TEST_ALL") == "1"}
		only := o.define(f)
		return func() error {
			if *only != "" {
				o.only = strings.Split(*only, ",")
			}
			if err := o.validate(); err != nil {
				return &command.UsageError{Err: err}
			}
			err := o.work(ctx, stdout, stderr)
			if errors.Is(err, errNoSuite) && !o.strict {
				fmt.Fprintf(stdout, "conformance: left out: %v\n", err)
				return nil
			}
			return err
		}
	})
}

// define makes the flags.
func (o *options) define(f *flag.FlagSet) (only *string) {
	f.StringVar(&o.root, "root", ".", "`folder` of the checkout")
	f.StringVar(&o.suite, "suite", "", "`folder` of an installed copy of the suite; the npm release if not given")
	f.StringVar(&o.cache, "cache", ".cache", "`folder` for the npm release, the built program and logs")
	f.StringVar(&o.edge, "edgeproxy", "", "`program` to test; built from the source if not given")
	only = f.String("only", "", "play these `tests` (a,b) and what they depend on, and compare nothing")
	f.IntVar(&o.parallel, "parallel", 25, "tests played at a time")
	f.DurationVar(&o.limit, "limit", 5*time.Minute, "longest time for the suite, in whole seconds")
	f.BoolVar(&o.failing, "failing", false, "list what does not hold, with the suite's words")
	f.BoolVar(&o.trace, "trace", false, "print requests and responses of the tests in -only, under the first policy")
	f.BoolVar(&o.update, "update", false, "make the outcomes the expected ones and write the documents")
	f.BoolVar(&o.docs, "docs", false, "only write the documents, from the expected outcomes")
	return only
}

func (o *options) validate() error {
	switch {
	case o.parallel < 1:
		return fmt.Errorf("-parallel %d: must be at least 1", o.parallel)
	case o.limit < time.Second:
		return fmt.Errorf("-limit %v: must be at least 1s", o.limit)
	case o.trace && o.only == nil:
		return errors.New("-trace: must be with -only, for the whole suite says too much")
	case o.update && o.only != nil:
		return errors.New("-update: must be without -only, for it writes every outcome")
	}
	return nil
}
