package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/lab/trace"
)

func main() { command.Main(run) }

// run is the program. It returns the exit code when everything that it started has
// ended.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseFlags(args, stderr)
	if err == nil {
		err = o.execute(ctx, stdout, stderr)
	}
	return command.Code("loadtest", err, stderr)
}

// execute loads the requests, runs the policies and writes the report.
func (o *options) execute(ctx context.Context, stdout, stderr io.Writer) (err error) {
	t, err := o.load(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	p, err := newPlan(o, t)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not done within --timeout %s", o.timeout))
	defer cancel()
	doc, err := runAll(ctx, p, stderr)
	if err != nil {
		return err
	}
	for _, name := range t.Notes().Cut {
		doc.Warnings = append(doc.Warnings, name+" is cut: its compressed data ends too early, and what it has was used")
	}
	found := o.thresholds.check(doc)
	for _, b := range found {
		doc.Bars = append(doc.Bars, b.String())
	}
	for _, w := range doc.Warnings {
		fmt.Fprintln(stderr, "warning:", w)
	}
	if err := o.write(doc, stdout); err != nil {
		return err
	}
	return errors.Join(o.verdict(doc), missedThresholds(found))
}

// load reads the requests. A trace that cannot be used is a command.UsageError.
func (o *options) load(ctx context.Context) (*replay, error) {
	t, err := trace.Read(ctx, []string{o.trace}, trace.Options{Format: o.format, Limit: int64(o.limit), Keys: true, Seed: o.seed})
	if err != nil && ctx.Err() == nil {
		err = &command.UsageError{Err: err}
	}
	if err != nil {
		return nil, err
	}
	return newReplay(trace.Name(o.trace), t), nil
}

func (o *options) write(doc *document, stdout io.Writer) error {
	if o.jsonFile != "" {
		if err := writeFile(o.jsonFile, doc.writeJSON); err != nil {
			return err
		}
	}
	if o.html != "" {
		if err := writeFile(o.html, doc.page().Write); err != nil {
			return err
		}
	}
	if o.json {
		return doc.writeJSON(stdout)
	}
	return doc.writeTable(stdout)
}

// verdict returns an error if a response failed, or if the saving is below
// --min-saved.
func (o *options) verdict(doc *document) error {
	for i := range doc.Results {
		if r := &doc.Results[i]; r.Errors > 0 {
			return fmt.Errorf("%s: %d of %d requests failed", r.Policy, r.Errors, doc.Trace.Requests)
		}
	}
	if o.minSaved == 0 {
		return nil
	}
	if got := doc.saved(policySecondHit); got < o.minSaved {
		return fmt.Errorf("second-hit saved %.1f%% of the writes of always; --min-saved: must be at least %.1f%%", 100*got, 100*o.minSaved)
	}
	return nil
}
