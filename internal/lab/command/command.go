// Package command answers one question: how does a program of the laboratory read its command line, and say how it ended?
//
// Main runs the program until it is done or a signal comes, Run reads its flags and gives out its exit code. The law: what is wrong with
// the command line is said on stderr and is exit code Usage; what went wrong later is Failed.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	Done   = 0
	Failed = 1 // what was measured is not good enough, or nothing was measured
	Usage  = 2 // the command line is wrong
)

// UsageError is a mistake in the command line.
type UsageError struct{ Err error }

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Main calls run with the command line and exits with its code. A first signal ends ctx, a second one the program.
func Main(run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run has define make the flags of the program called name, reads args, which may have nothing but flags, calls what define returned, and
// returns the exit code.
func Run(name string, args []string, stderr io.Writer, define func(f *flag.FlagSet) (do func() error)) int {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(stderr)
	do := define(f)
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		return Usage // the flags have said what is wrong
	case f.NArg() > 0:
		err = Usagef("unexpected argument %q", f.Arg(0))
	default:
		err = do()
	}
	return Code(name, err, stderr)
}

// Code says on stderr what went wrong and returns the exit code. That help was asked for is nothing wrong.
func Code(name string, err error, stderr io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return Done
	}
	_, _ = fmt.Fprintf(stderr, "%s: %v\n", name, err)
	if _, ok := errors.AsType[*UsageError](err); ok {
		return Usage
	}
	return Failed
}
