package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // a claim does not hold, or could not be looked at
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program: arguments in, exit code out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	if err != nil {
		return exitUsage
	}
	if err := s.prove(ctx, stdout); err != nil {
		fmt.Fprintf(stderr, "proofs: %v\n", err)
		return exitFailed
	}
	return exitDone
}

// parse reads the flags; the program is "" where it is to be built.
func parse(args []string, stderr io.Writer) (s simulator, err error) {
	f := flag.NewFlagSet("proofs", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.program, "edgeproxy", "", "the built program; built from here if not given")
	f.StringVar(&s.traces, "traces", "", "the `folder` with the traces")
	f.IntVar(&s.objects, "objects", usualObjects, "`number` of objects in the popularity model; what is claimed is claimed of the default")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 || s.traces == "" || s.objects < 1 {
		err = errors.New("want --traces, at least 1 object, and no arguments")
		fmt.Fprintf(stderr, "proofs: %v\n", err)
	}
	return s, err
}

// prove prints every proof; the error says how many claims do not hold.
func (s simulator) prove(ctx context.Context, w io.Writer) error {
	if s.program == "" {
		dir, err := os.MkdirTemp("", "proofs-")
		if err != nil {
			return fmt.Errorf("make room for edgeproxy: %w", err)
		}
		defer func() { _ = os.RemoveAll(dir) }() // the system's to clear if it does not go
		if s.program, err = buildEdge(ctx, dir); err != nil {
			return err
		}
	}
	claims, failed := 0, 0
	for _, prove := range proofs() {
		p, err := prove(ctx, s)
		if err != nil {
			return err
		}
		if err := p.write(w); err != nil {
			return err
		}
		claims += len(p.claims)
		failed += p.failures()
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d claims do not hold", failed, claims)
	}
	return nil
}

// proofs lists what is claimed, in the order of the tables.
func proofs() []func(context.Context, simulator) (*proof, error) {
	return []func(context.Context, simulator) (*proof, error){proveReference, proveStage, provePopularity, proveShipped}
}

// buildEdge compiles edgeproxy into dir and returns the program's path.
func buildEdge(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "edgeproxy")
	out, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "edgeproxy/cmd/edgeproxy").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build edgeproxy (run from inside the repository, or give --edgeproxy): %w\n%s", err, out)
	}
	return path, nil
}
