package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
)

// logFormats are the forms of a line of the access log that are measured.
func logFormats() []string { return []string{"json", "combined"} }

// logWorks are what a log is measured by.
func logWorks() (out []comparison) {
	for _, format := range logFormats() {
		for _, size := range sizes() {
			out = append(out, comparison{size: size, log: format})
		}
	}
	return out
}

// measureLog compares edgeproxy that writes a line of its access log for each hit with one that writes none, prints the table,
// and names the works whose median ratio is above the limit. In the pairs edge is the one with the log.
func (o options) measureLog(ctx context.Context, stdout io.Writer) (err error) {
	origin, err := startOrigin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, origin.Close()) }()
	all := slices.DeleteFunc(logWorks(), func(c comparison) bool { return !o.only.MatchString(c.name()) })
	if len(all) == 0 {
		return fmt.Errorf("--only %s: no work of logs is called so", o.only)
	}
	for i := range o.rounds {
		if err := o.logOnce(ctx, origin, i%2 == 1, all); err != nil {
			return fmt.Errorf("pair %d: %w", i+1, err)
		}
	}
	if err := o.printLog(stdout, all); err != nil {
		return err
	}
	return o.judgePairs(all)
}

// logOnce starts edgeproxy without a log and once for each format, and measures each of those beside the one without.
func (o options) logOnce(ctx context.Context, origin *originServer, turned bool, all []comparison) (err error) {
	dir, err := os.MkdirTemp("", "edgeproxy-log-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	formats := append([]string{""}, logFormats()...)
	servers := map[string]*process{}
	var pids []int
	for i := range formats {
		format := formats[i]
		if turned {
			format = formats[len(formats)-1-i]
		}
		p, err := startLogging(o.program, origin.address, dir, format)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		servers[format] = p
		pids = append(pids, p.pid())
	}
	unpin, err := pinServers(pids)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unpin()) }()
	for i := range all {
		p, err := o.alternate(ctx, [2]*process{servers[""], servers[all[i].log]}, all[i], turned)
		if err != nil {
			return err
		}
		all[i].pairs = append(all[i].pairs, p)
	}
	return nil
}

// startLogging starts edgeproxy with its defaults and an access log in this format in dir; "" is without one.
func startLogging(program, origin, dir, format string) (*process, error) {
	file := fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [\"http://%s\"]}}\n", origin)
	if format != "" {
		file += fmt.Sprintf("access_log: {path: %q, format: %s}\n", filepath.Join(dir, format+".log"), format)
	}
	path := filepath.Join(dir, "log"+format+".yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		return nil, fmt.Errorf("write edgeproxy's file: %w", err)
	}
	return start("edgeproxy", edgeAddress, program, "serve", "-c", path)
}

// printLog writes the table.
func (o options) printLog(w io.Writer, all []comparison) error {
	_, err := fmt.Fprintf(w, "Over loopback: CPU time per request with an access log and without, %d pairs of %v each, in turn,\n"+
		"both started anew for each pair, %d connections of HTTP/1.1, GOMAXPROCS=1.\n\n", o.rounds, o.roundTime, o.connections)
	if err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "work\twithout\twith\tmedian ratio\t95 % interval\tleast\tmost\t")
	return printRows(t, all)
}
