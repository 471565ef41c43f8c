package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"edgeproxy/internal/lab/peers"
	"edgeproxy/internal/lab/process"
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
	// start starts it with a log in this format; "" is without one.
	start func(s *scene, ctx context.Context, format string) (*process.Process, error)
}

// loggers are edgeproxy, and nginx where it is installed.
func loggers() []logger {
	out := []logger{{edgeName, (*scene).startLogging}}
	if program, err := peers.Find("nginx"); err == nil {
		out = append(out, logger{nginxName, func(s *scene, ctx context.Context, format string) (*process.Process, error) {
			return s.startNginxLogging(ctx, program, format)
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
func (o options) measureLog(ctx context.Context, stdout io.Writer) error {
	var all []comparison
	for _, l := range loggers() {
		works := slices.DeleteFunc(l.logWorks(), func(c comparison) bool { return !o.only.MatchString(c.name()) })
		if len(works) == 0 {
			continue
		}
		for i := range o.rounds {
			if err := o.withScene(func(s *scene) error { return s.logOnce(ctx, l, i%2 == 1, works) }); err != nil {
				return fmt.Errorf("pair %d of %s: %w", i+1, l.name, err)
			}
		}
		all = append(all, works...)
	}
	if len(all) == 0 {
		return fmt.Errorf("--only %s: no work of logs is called so", o.only)
	}
	err := o.printRows(stdout, all, fmt.Sprintf("Over loopback: CPU time per request with an access log and without, %d pairs of %v each, in turn,\n"+
		"both started anew for each pair, %d connections of HTTP/1.1, one processor for each.\n\n", o.rounds, o.roundTime, o.connections), "without", "with")
	if err != nil {
		return err
	}
	return o.judgePairs(slices.DeleteFunc(all, func(c comparison) bool { return c.by != edgeName }))
}

// logOnce starts a program without a log and once for each format, and measures each of those beside the one without.
func (s *scene) logOnce(ctx context.Context, l logger, turned bool, all []comparison) error {
	formats := append([]string{""}, logFormats()...)
	if turned {
		slices.Reverse(formats)
	}
	servers := map[string]*process.Process{}
	var pids []int
	for _, format := range formats {
		p, err := l.start(s, ctx, format)
		if err != nil {
			return err
		}
		servers[format] = p
		pids = append(pids, p.PID())
	}
	if err := s.pin(pids...); err != nil {
		return err
	}
	for i := range all {
		p, err := s.alternate(ctx, [2]*process.Process{servers[""], servers[all[i].log]}, all[i], turned)
		if err != nil {
			return err
		}
		all[i].pairs = append(all[i].pairs, p)
	}
	return nil
}

// startLogging starts edgeproxy with its defaults and an access log in this format; "" is without one.
func (s *scene) startLogging(ctx context.Context, format string) (*process.Process, error) {
	e := edge{name: "log" + format}
	if format != "" {
		e.sections = fmt.Sprintf("access_log: {path: %q, format: %s}", filepath.Join(s.dir, format+".log"), format)
	}
	return s.start(ctx, e)
}
