package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"edgeproxy/internal/lab/figures"
)

// lateSize is the body of the hits whose times are taken, lateConnections how many ask for them.
const (
	lateName        = "p99 of hits of 1 KiB in an open loop"
	lateSize        = 1 << 10
	lateConnections = 64
	lateShare       = 0.99
	lateRounds      = 5 // for each of another work: what disturbs a round is in its p99
)

// measureLateness asks all caches for hits by one timetable, at half the peak rate of the slowest
// of them, and prints the time that 99 of 100 answers do not exceed.
func (f *field) measureLateness(ctx context.Context, stdout io.Writer) (err error) {
	hastened := false // the servers go before all else on their processor
	if f.o.realTime {
		if hastened, err = hastenAll(f.servers()); err != nil {
			return err
		}
	}
	w := work{name: lateName}
	var loops []*openLoop
	rate := 0.0 // requests a second of each server
	for _, s := range f.caches() {
		l, took, err := f.peakOf(ctx, s, hastened)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		loops = append(loops, l)
		w.contenders = append(w.contenders, contender{name: s.name, pid: s.pid})
		if half := float64(len(took)) / f.o.roundTime.Seconds() / 2; rate == 0 || half < rate {
			rate = half
		}
	}
	m := measured{work: &w, costs: make([][]float64, len(loops))}
	for round := range lateRounds * f.o.rounds {
		for i := range loops {
			n := (i + round) % len(loops)
			took, err := loops[n].measure(ctx, f.o.roundTime, rate)
			if err != nil {
				return fmt.Errorf("%s: %w", w.contenders[n].name, err)
			}
			slices.Sort(took)
			m.costs[n] = append(m.costs[n], float64(figures.Quantile(took, lateShare).Nanoseconds())/1000)
		}
	}
	text := fmt.Sprintf("\nTime within which 99 of 100 hits of %s were answered, at %.0f requests a second by %d connections,\nhalf of what the slowest of these servers can do; from when each request was due.\n\n",
		sizeText(lateSize), rate, lateConnections)
	if !hastened {
		text += "Not in real time (--real-time, which takes root): what other programs did is in these times.\n"
	}
	t := peerTable(text)
	m.addTo(&t)
	return t.Write(stdout)
}

// peakOf fills a cache, connects to it until the end of the scene, and returns how long answers took at its peak rate.
func (f *field) peakOf(ctx context.Context, s server, hastened bool) (*openLoop, []time.Duration, error) {
	all := pages(lateSize)
	if err := warm(ctx, s.address, all, s.mark); err != nil {
		return nil, nil, err
	}
	l, err := newOpenLoop(s.address, lateConnections, requestsFor(all, s.address), wanted{size: lateSize, mark: s.mark})
	if err != nil {
		return nil, nil, err
	}
	f.later(l.Close)
	l.realTime = hastened
	took, err := l.measure(ctx, f.o.roundTime, 0)
	return l, took, err
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
