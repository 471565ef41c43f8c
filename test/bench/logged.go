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

// The names of the programs whose logs are measured.
const (
	edgeName  = "edgeproxy"
	nginxName = "nginx"
)

// logger is a program whose access log is measured.
type logger struct {
	name string
	// start starts it with a log in this format, with files of its own in dir; "" is without one.
	start func(dir, format string) (*process, error)
}

// loggers are edgeproxy, and nginx where it is installed.
func (o options) loggers(origin string) []logger {
	out := []logger{{edgeName, func(dir, format string) (*process, error) { return startLogging(o.program, origin, dir, format) }}}
	if program, ok := installed("nginx"); ok {
		out = append(out, logger{nginxName, func(dir, format string) (*process, error) {
			return startNginxLogging(program, origin, dir, format)
		}})
	}
	return out
}

// logWorks are what the log of a program is measured by.
func (l logger) logWorks() (out []comparison) {
	for _, format := range logFormats() {
		for _, size := range sizes() {
			out = append(out, comparison{size: size, log: format, by: l.name})
		}
	}
	return out
}

// measureLog compares edgeproxy that writes a line of its access log for each hit with one that writes none, and nginx likewise where
// it is installed. It prints the table, and names edgeproxy's works whose median ratio is above the limit. In the pairs edge is the one
// with the log.
func (o options) measureLog(ctx context.Context, stdout io.Writer) (err error) {
	origin, err := startOrigin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, origin.Close()) }()
	var all []comparison
	for _, l := range o.loggers(origin.address) {
		works := slices.DeleteFunc(l.logWorks(), func(c comparison) bool { return !o.only.MatchString(c.name()) })
		if len(works) == 0 {
			continue
		}
		for i := range o.rounds {
			if err := o.logOnce(ctx, l, i%2 == 1, works); err != nil {
				return fmt.Errorf("pair %d of %s: %w", i+1, l.name, err)
			}
		}
		all = append(all, works...)
	}
	if len(all) == 0 {
		return fmt.Errorf("--only %s: no work of logs is called so", o.only)
	}
	if err := o.printLog(stdout, all); err != nil {
		return err
	}
	return o.judgePairs(slices.DeleteFunc(all, func(c comparison) bool { return c.by != edgeName }))
}

// logOnce starts a program without a log and once for each format, and measures each of those beside the one without.
func (o options) logOnce(ctx context.Context, l logger, turned bool, all []comparison) (err error) {
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
		p, err := l.start(dir, format)
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
	return start(edgeName, edgeAddress, program, "serve", "-c", path)
}

// printLog writes the table.
func (o options) printLog(w io.Writer, all []comparison) error {
	_, err := fmt.Fprintf(w, "Over loopback: CPU time per request with an access log and without, %d pairs of %v each, in turn,\n"+
		"both started anew for each pair, %d connections of HTTP/1.1, one processor for each.\n\n", o.rounds, o.roundTime, o.connections)
	if err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "work\twithout\twith\tmedian ratio\t95 % interval\tleast\tmost\t")
	return printRows(t, all)
}
