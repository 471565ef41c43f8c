package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"edgeproxy/internal/admission/size"
)

// sizeFlags are the flags of size as text; "" is not given.
type sizeFlags struct {
	keys, rate, bits, memory string
	hashes, generations      int
	layouts                  []string
	plot                     string
	json                     bool
}

func sizeCommand() *cobra.Command {
	var f sizeFlags
	cmd := &cobra.Command{
		Use:   "size --keys N --false-positive-rate P",
		Short: "Compute a Bloom filter's keys, false positive rate or memory from the other two",
		Long: "Give two of the keys (--keys), the false positive rate (--false-positive-rate)\n" +
			"and the memory (--memory for all of it, or --bits for one filter) of a Bloom\n" +
			"filter. size computes the third, for one filter and for the sliding window of\n" +
			"several generations, in textbook layouts and in the proxy's own.",
		Example: "  edgeproxy size --keys 1M --false-positive-rate 1%\n" +
			"  edgeproxy size --keys 1M --memory 4MiB --generations 3\n" +
			"  edgeproxy size --false-positive-rate 0.001 --bits 12M --layout split-block --plot size.html",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			request, err := f.request()
			if err == nil {
				err = checkPage("--plot", f.plot)
			}
			if err != nil {
				return &usageError{err}
			}
			return runSize(request, f.plot, f.json, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.keys, "keys", "", "distinct keys of one filter or generation: 1000000, 1e6 or 1M")
	flags.StringVar(&f.rate, "false-positive-rate", "", "false positive rate of the filter, and of the window when it is full: 0.01 or 1%; up to 0.5")
	flags.StringVar(&f.bits, "bits", "", "bits m of one filter or generation: 12000000, 12M, or a size such as 12MiB")
	flags.StringVar(&f.memory, "memory", "", "memory of the filter, or of all generations together: 12MiB")
	flags.IntVar(&f.hashes, "hashes", 0, "number of hashes k (textbook layouts only; default: the best)")
	flags.IntVar(&f.generations, "generations", 2, "generations of the window, 2 to 4")
	flags.StringSliceVar(&f.layouts, "layout", nil, "layouts: "+size.LayoutNames()+" (default: all that fit)")
	flags.StringVar(&f.plot, "plot", "", "write a page with the curves of the rate to this `FILE` (HTML)")
	flags.BoolVar(&f.json, "json", false, "print one JSON document")
	return cmd
}

// sizeAnswer is an answer that can be written.
type sizeAnswer struct{ *size.Answer }

// runSize computes and writes the answer. If plot is not "" it also writes a page
// to that file.
func runSize(request size.Request, plot string, asJSON bool, stdout, stderr io.Writer) error {
	worked, err := request.Answer()
	if err != nil {
		return &usageError{err}
	}
	answer := sizeAnswer{worked}
	write := answer.writeText
	if asJSON {
		write = answer.writeJSON
	}
	if err := write(stdout); err != nil {
		return fmt.Errorf("size: %w", err)
	}
	if plot == "" {
		return nil
	}
	if err := writePage(plot, answer.page()); err != nil {
		return fmt.Errorf("size: %w", err)
	}
	_, _ = fmt.Fprintf(stderr, "the curves are in %s\n", plot)
	return nil
}
