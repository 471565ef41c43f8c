package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// requestsPerSecond is what each of the two proxies gets. It leaves a laptop of
// two cores responsive.
const requestsPerSecond = 1000

// Counts is what a proxy has done since its start, by its own counters. Those of
// one Counts may disagree by the requests under way when they were read.
type Counts struct {
	Requests int64   // answered, errors included
	HitRatio float64 // hits among all requests but errors, in [0, 1]

	// Writes counts the bodies that landed in the cache, WriteBytes their bytes.
	Writes, WriteBytes int64
	// DiskBytes is what was written to the disk for that: with heads, and with what was written again.
	DiskBytes int64
	// Evictions counts stored responses that had to go for others.
	Evictions int64
	// HeldBack counts storable responses that admission kept out, several for
	// one key, and Regret fills of a key whose fill before was held back.
	HeldBack, Regret int64
	// OriginRequests counts requests to the origin, OriginBytes the bytes of
	// bodies it sent.
	OriginRequests, OriginBytes int64

	MaxBytes, MaxDiskBytes int64 // bounds of memory and disk
}

// Proxy is a proxy that runs. Its methods may be called at any time, also after
// it has stopped, and by several goroutines.
type Proxy interface {
	Address() string         // HOST:PORT for clients
	Admin() string           // HOST:PORT of /metrics and /status
	Counts() (Counts, error) // the counts so far
}

// Options are what a Demo works with. All but Notes and Seconds are needed.
type Options struct {
	SecondHit, Always Proxy     // they differ in their policy alone; both ask Origin
	Origin            string    // its HOST:PORT
	Out               io.Writer // for people; never closed
	Notes             []string  // lines for the reader about how this was started
	Seconds           int       // the traffic ends after this long; 0 or less is when the context ends
}

// Demo sends requests to two proxies and says what became of them. Run it once;
// its methods are not for concurrent use.
type Demo struct {
	options           Options
	traffic           *traffic
	secondHit, always *client
	elapsed           time.Duration // since the traffic began
}

// New returns a Demo that has not sent anything yet. It panics without proxies
// or a writer.
func New(o Options) *Demo {
	if o.SecondHit == nil || o.Always == nil || o.Out == nil {
		panic("demo: New needs two proxies and a writer")
	}
	// One Host for both: the same bytes go out to either.
	host := o.SecondHit.Address()
	return &Demo{
		options:   o,
		traffic:   newTraffic(usualMix(), seed),
		secondHit: newClient(o.SecondHit.Address(), host),
		always:    newClient(o.Always.Address(), host),
	}
}

// Run prints what is running, then sends requests and prints a line a second,
// until the time is over or ctx ends, neither of which is an error. An error is
// that a proxy has failed many requests in a row, that its counts could not be
// read or that nothing could be printed. When Run returns, nothing of it goes on.
func (d *Demo) Run(ctx context.Context) error {
	counts, err := d.counts()
	if err != nil {
		return err
	}
	if err := d.print(banner(d.options, counts)); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var sending sync.WaitGroup
	var failure error
	sending.Go(func() {
		defer stop()
		failure = d.send(ctx)
	})
	began := time.Now()
	err = d.report(ctx, began)
	stop()
	sending.Wait()
	d.elapsed = time.Since(began)
	return errors.Join(failure, err)
}

// Summarise prints what the whole run has come to. Between Run and it the
// proxies may be stopped: then the counts no longer move.
func (d *Demo) Summarise() error {
	counts, err := d.counts()
	if err != nil {
		return err
	}
	return d.print(summary(d.elapsed, counts, failures{
		secondHit: d.secondHit.failed, always: d.always.failed,
		last: errors.Join(d.secondHit.last, d.always.last),
	}))
}

// send sends requests until ctx ends, each to both proxies at once and none
// before both have answered the one before.
func (d *Demo) send(ctx context.Context) error {
	defer d.secondHit.close()
	defer d.always.close()
	steady := pace{interval: time.Second / requestsPerSecond}
	for steady.wait(ctx) {
		target := d.traffic.next()
		var other sync.WaitGroup
		var failure error
		other.Go(func() { failure = d.always.ask(target) })
		err := d.secondHit.ask(target)
		other.Wait()
		if err = errors.Join(err, failure); err != nil {
			return err
		}
	}
	return nil
}

// report prints a line a second. A second that nothing could be printed in, as
// with a stopped terminal, has no line.
func (d *Demo) report(ctx context.Context, began time.Time) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		counts, err := d.counts()
		if err != nil {
			return err
		}
		elapsed := time.Since(began)
		if err := d.print(heading(n) + line(elapsed, counts)); err != nil {
			return err
		}
		if s := d.options.Seconds; s > 0 && elapsed/time.Second >= time.Duration(s) {
			return nil
		}
	}
}

// pair is the counts of both proxies at one time.
type pair struct{ secondHit, always Counts }

func (d *Demo) counts() (p pair, err error) {
	if p.secondHit, err = d.options.SecondHit.Counts(); err != nil {
		return p, fmt.Errorf("read the counts of the proxy: %w", err)
	}
	if p.always, err = d.options.Always.Counts(); err != nil {
		return p, fmt.Errorf("read the counts of the proxy that always stores: %w", err)
	}
	return p, nil
}

func (d *Demo) print(text string) error {
	if _, err := io.WriteString(d.options.Out, text); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
