package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/lab/process"
)

func main() { command.Main(run) }

// run is the program: arguments in, exit code out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Run("proofs", args, stderr, func(f *flag.FlagSet) func() error {
		var s simulator
		f.StringVar(&s.program, "edgeproxy", "", "the built program; built from here if not given")
		f.StringVar(&s.traces, "traces", "", "the `folder` with the traces")
		f.IntVar(&s.objects, "objects", usualObjects, "`number` of objects in the popularity model; what is claimed is claimed of the default")
		return func() error {
			if s.traces == "" || s.objects < 1 {
				return command.Usagef("--traces must be given, and --objects be at least 1")
			}
			return process.WithEdge(ctx, ".", s.program, func(program string) error {
				s.program = program
				return s.prove(ctx, stdout)
			})
		}
	})
}

// prove prints every proof; the error says how many claims do not hold.
func (s simulator) prove(ctx context.Context, w io.Writer) error {
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
	return []func(context.Context, simulator) (*proof, error){proveReference, proveStage, provePopularity, proveShipped, proveFleet}
}
