package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"
)

// lateSize is the body of the hits whose times are taken, lateConnections how many ask for them.
const (
	lateName        = "p99 of hits of 1 KiB in an open loop"
	lateSize        = 1 << 10
	lateConnections = 64
	lateShare       = 0.99
	lateRounds      = 5 // for each of another work: what disturbs a round is in its p99
)

// lateness is what the rounds of the open loop say, in microseconds.
type lateness struct {
	measured
	rate float64 // requests a second of each server
	real bool    // the servers go before all else on their processor
}

// measureLateness asks all caches for hits by one timetable, at half the peak rate of the slowest
// of them, and takes the time that 99 of 100 answers do not exceed.
func (f *field) measureLateness(ctx context.Context) (out lateness, err error) {
	if f.o.realTime {
		if out.real, err = hastenAll(f.servers()); err != nil {
			return out, err
		}
	}
	w := work{name: lateName}
	var loops []*openLoop
	defer func() {
		for _, l := range loops {
			err = errors.Join(err, l.Close())
		}
	}()
	d := f.o.roundTime
	for _, s := range f.caches() {
		l, err := openLoopTo(ctx, s)
		if err != nil {
			return out, fmt.Errorf("%s: %w", s.name, err)
		}
		l.realTime = out.real
		loops = append(loops, l)
		w.contenders = append(w.contenders, contender{name: s.name, pid: s.pid})
		took, err := l.measure(ctx, d, 0)
		if err != nil {
			return out, fmt.Errorf("%s: %w", s.name, err)
		}
		if half := float64(len(took)) / d.Seconds() / 2; out.rate == 0 || half < out.rate {
			out.rate = half
		}
	}
	out.measured = measured{work: &w, costs: make([][]float64, len(loops))}
	for round := range lateRounds * f.o.rounds {
		for i := range loops {
			n := (i + round) % len(loops)
			took, err := loops[n].measure(ctx, d, out.rate)
			if err != nil {
				return out, fmt.Errorf("%s: %w", w.contenders[n].name, err)
			}
			out.costs[n] = append(out.costs[n], float64(percentile(took, lateShare).Nanoseconds())/1000)
		}
	}
	return out, nil
}

// openLoopTo fills a cache and connects to it.
func openLoopTo(ctx context.Context, s server) (*openLoop, error) {
	all := pages(lateSize)
	if err := warm(ctx, s.address, all, s.mark); err != nil {
		return nil, err
	}
	requests := make([][]byte, len(all))
	for i, p := range all {
		requests[i] = p.request(s.address)
	}
	return newOpenLoop(s.address, lateConnections, requests, wanted{size: lateSize, mark: s.mark})
}

// hastenAll hastens the servers, and reports whether that is allowed.
func hastenAll(servers []int) (allowed bool, err error) {
	for _, pid := range servers {
		if err := hasten(pid); errors.Is(err, fs.ErrPermission) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return true, nil
}

func (l lateness) print(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "\nTime within which 99 of 100 hits of %s were answered, at %.0f requests a second by %d connections,\nhalf of what the slowest of these servers can do; from when each request was due.\n\n",
		sizeText(lateSize), l.rate, lateConnections); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	if !l.real {
		if _, err := fmt.Fprintln(w, "Not in real time (--real-time, which takes root): what other programs did is in these times."); err != nil {
			return fmt.Errorf("print the table: %w", err)
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, peerColumns)
	l.rows(t)
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}
