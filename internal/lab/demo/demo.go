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
	Requests int64 // answered, errors included
	Hits     int64 // answered from the cache, also stale or after validation
	Errors   int64 // answered by an error of the proxy

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

// since returns what has been counted since earlier counts of the same proxy.
func (c Counts) since(e Counts) Counts {
	return Counts{
		Requests: c.Requests - e.Requests, Hits: c.Hits - e.Hits, Errors: c.Errors - e.Errors,
		Writes: c.Writes - e.Writes, WriteBytes: c.WriteBytes - e.WriteBytes, DiskBytes: c.DiskBytes - e.DiskBytes, Evictions: c.Evictions - e.Evictions,
		HeldBack: c.HeldBack - e.HeldBack, Regret: c.Regret - e.Regret,
		OriginRequests: c.OriginRequests - e.OriginRequests, OriginBytes: c.OriginBytes - e.OriginBytes,
		MaxBytes: c.MaxBytes, MaxDiskBytes: c.MaxDiskBytes,
	}
}

// hitRatio returns the share of hits among all requests but errors, in [0, 1].
func (c Counts) hitRatio() float64 {
	if n := c.Requests - c.Errors; n > 0 {
		return float64(c.Hits) / float64(n)
	}
	return 0
}

// Proxy is a proxy that runs. Its methods may be called at any time, also after
// it has stopped, and by several goroutines.
type Proxy interface {
	Address() string         // HOST:PORT for clients
	Admin() string           // HOST:PORT of /metrics and /status
	Counts() (Counts, error) // the counts so far
}

// Options are what a Demo works with. The proxies, the origin and the writer are needed.
type Options struct {
	SecondHit, Always Proxy         // they differ in their policy alone; both ask Origin
	Origin            string        // its HOST:PORT
	Out               io.Writer     // for people; never closed
	Redraws           bool          // Out is a terminal: bars are drawn in place each second, and not only with each verdict
	WarmUp            time.Duration // the caches are filled before the first number, for at most so long
	Notes             []string      // lines for the reader about how this was started
	Seconds           int           // the traffic ends after this long; 0 or less is when the context ends
}

// Demo sends requests to two proxies and says what became of them. Run it once;
// its methods are not for concurrent use.
type Demo struct {
	options           Options
	traffic           *traffic
	secondHit, always *client
	warm              pair          // the counts when the numbers began
	elapsed           time.Duration // since then
	cold              bool          // it has ended before the numbers began
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

// Run prints what is running, fills the caches, then sends requests and prints bars and verdicts, until the time is over or ctx
// ends, neither of which is an error. An error is that a proxy has failed many requests in a row, that its counts could not be
// read or that nothing could be printed. When Run returns, nothing of it goes on.
func (d *Demo) Run(ctx context.Context) error {
	defer d.secondHit.close()
	defer d.always.close()
	counts, err := d.counts()
	if err != nil {
		return err
	}
	if err := d.print(banner(d.options, counts)); err != nil {
		return err
	}
	if err := d.warmUp(ctx); err != nil {
		return err
	}
	if d.cold {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var sending sync.WaitGroup
	var failure error
	sending.Go(func() {
		defer stop()
		failure = d.send(ctx, pace{interval: time.Second / requestsPerSecond})
	})
	began := time.Now()
	err = d.report(ctx, began)
	stop()
	sending.Wait()
	d.elapsed = time.Since(began)
	return errors.Join(failure, err)
}

// warmUp sends requests as fast as they are answered, until both caches have had to evict, or the time for it is over.
func (d *Demo) warmUp(ctx context.Context) error {
	if d.options.WarmUp <= 0 {
		return nil
	}
	began := time.Now()
	sending, stop := context.WithTimeout(ctx, d.options.WarmUp)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- d.send(sending, pace{}) }()
	err := d.untilFull(sending)
	stop()
	if err = errors.Join(err, <-done); err != nil {
		return err
	}
	// What waits to be written to a disk is not part of the numbers.
	settling, stop := context.WithTimeout(ctx, settleFor)
	defer stop()
	if err := d.send(settling, pace{interval: time.Second / requestsPerSecond}); err != nil {
		return err
	}
	if d.cold = ctx.Err() != nil; d.cold {
		return nil
	}
	if d.warm, err = d.counts(); err != nil {
		return err
	}
	return d.print(warmed(time.Since(began), d.warm))
}

// settleFor is how long requests come at their usual pace before the numbers begin.
const settleFor = time.Second

// fullnessEvery is how often the caches are asked whether they are full.
const fullnessEvery = 100 * time.Millisecond

// untilFull waits until both caches have evicted, or ctx ends.
func (d *Demo) untilFull(ctx context.Context) error {
	ticker := time.NewTicker(fullnessEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		p, err := d.counts()
		if err != nil || p.full() {
			return err
		}
	}
}

// Summarise prints what the whole run has come to. Between Run and it the
// proxies may be stopped: then the counts no longer move.
func (d *Demo) Summarise() error {
	if d.cold {
		return d.print("\nThe demo has ended before both caches were full, so there are no numbers.\n")
	}
	counts, err := d.counts()
	if err != nil {
		return err
	}
	return d.print(summary(d.elapsed, counts.since(d.warm), failures{
		secondHit: d.secondHit.failed, always: d.always.failed,
		last: errors.Join(d.secondHit.last, d.always.last),
	}))
}

// send sends requests until ctx ends, each to both proxies at once and none
// before both have answered the one before.
func (d *Demo) send(ctx context.Context, steady pace) error {
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

// The first verdict comes after so many seconds, the others at each verdictEvery.
const (
	firstVerdict = 2
	verdictEvery = 10
)

// report prints the bars each second where they are drawn in place, and a verdict each ten seconds, with the bars elsewhere. A
// second that nothing could be printed in, as with a stopped terminal, has none.
func (d *Demo) report(ctx context.Context, began time.Time) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var s screen
	for next := firstVerdict; ; {
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
		seconds := int(elapsed / time.Second)
		over := d.options.Seconds > 0 && seconds >= d.options.Seconds
		due := seconds >= next || over
		if due {
			next = seconds - seconds%verdictEvery + verdictEvery
		}
		if err := d.print(s.next(d.options.Redraws, due, elapsed, counts.since(d.warm))); err != nil || over {
			return err
		}
	}
}

// pair is the counts of both proxies at one time.
type pair struct{ secondHit, always Counts }

// since returns what both have counted since e.
func (p pair) since(e pair) pair {
	return pair{p.secondHit.since(e.secondHit), p.always.since(e.always)}
}

// full reports whether both have had to evict.
func (p pair) full() bool { return p.secondHit.Evictions > 0 && p.always.Evictions > 0 }

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
	if text == "" {
		return nil
	}
	if _, err := io.WriteString(d.options.Out, text); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
