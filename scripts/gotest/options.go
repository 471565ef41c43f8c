package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
)

// options are what the command line says.
type options struct {
	again  int      // how often a failed test is run again, alone
	only   string   // "plain" or "alone": the tests that runs before have left to this one
	least  int      // how many tests have to pass at least
	says   string   // what is printed first
	goTest []string // the arguments of go test
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("gotest", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.again, "again", 0, "run a failed test `N` more times, alone; if all pass it is shaky")
	f.StringVar(&o.only, "only", "", "run what the runs before, as GOTEST_TALLY has them, have left to this one: plain or alone")
	f.IntVar(&o.least, "least", 0, "fail if fewer than `N` tests pass")
	f.StringVar(&o.says, "says", "", "print this `text` first")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.goTest = f.Args()
	if o.only != "" && !slices.Contains([]string{leftPlain, leftAlone}, left+o.only) {
		return o, fmt.Errorf("-only %s: must be plain or alone", o.only)
	}
	if len(o.goTest) == 0 {
		return o, errors.New("no arguments for go test behind --")
	}
	return o, nil
}
