package spans

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/rescue"
)

// Options are what an Exporter is made of.
type Options struct {
	// Node and Version say in each request who sends.
	Node, Version string
	// OnError is told of spans that could not be sent, at most once a minute, by the
	// Exporter's own goroutine. It must not call Close. It may be nil.
	OnError func(error)
	// Panics counts those of the goroutine; nil does not.
	Panics *rescue.Counter
}

// Target is where spans go.
type Target struct {
	// Endpoint is an http or https URL; /v1/traces is added to its path. "" is nowhere: then
	// there is nothing to be traced, and spans of requests that were under way are dropped.
	Endpoint string
	// Headers are sent with each request. They may be secrets, and stand in no log.
	Headers map[string]string
	// Timeout bounds one request; above 0.
	Timeout time.Duration
	// Service is what the receiver knows us by: service.name.
	Service string
}

const (
	// gather is how long the sender waits for more between two requests. A quarter of the
	// queue, and the end, do not wait.
	gather = time.Second
	// closeWait is how long Close waits for what is queued to be sent.
	closeWait = 2 * time.Second
	// tries is how often a request is sent that its receiver, or the way there, may take later.
	tries = 3
	// backoff is the wait before the second try, and a quarter of the one before the third. A
	// receiver may ask for a longer one, up to longestWait.
	backoff     = time.Second
	longestWait = 30 * time.Second
)

// Exporter sends spans. It is safe for concurrent use, and must be closed.
type Exporter struct {
	options Options
	client  *http.Client
	target  atomic.Pointer[Target]
	queue   *queue
	counts  counts

	starting sync.Mutex
	started  bool          // guarded by starting
	done     chan struct{} // closed when the sender has ended
	ending   chan struct{} // closed by Close: no wait between tries any more
	ctx      context.Context
	cancel   context.CancelFunc

	// Of the sender.

	body       []byte // of a request, used again
	unreported int
	reported   time.Time
}

// counts are what became of spans. Every span that Add was given is in one of them, or waits.
type counts struct {
	sent, full, failed, refused, off atomic.Int64
	over                             atomic.Int64 // requests that were not traced because of the limit
}

// New returns an Exporter that sends nowhere yet; see Point.
func New(o Options) *Exporter { return newExporter(o, newTransport(), queueBytes) }

func newExporter(o Options, way http.RoundTripper, limit int) *Exporter {
	e := &Exporter{options: o, queue: newQueue(limit), done: make(chan struct{}), ending: make(chan struct{})}
	e.client = &http.Client{Transport: way, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // it would take the headers elsewhere
	}}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// Point has spans sent to t from now on, those too that wait. The request under way goes on. The
// goroutine of e runs from the first time on that t is somewhere. t stays as it is.
func (e *Exporter) Point(t Target) {
	e.target.Store(&t)
	if t.Endpoint == "" {
		return
	}
	e.starting.Lock()
	defer e.starting.Unlock()
	if !e.started {
		e.started = true
		go e.run()
	}
}

// Add takes a span and returns without waiting for anybody. s is the caller's again when it
// returns. What finds no room, or no target, is dropped and counted.
func (e *Exporter) Add(s *Span) {
	switch t := e.target.Load(); {
	case t == nil || t.Endpoint == "":
		e.counts.off.Add(1)
	case !e.queue.add(s):
		e.counts.full.Add(1)
	}
}

// OverLimit counts a request that is not traced because of the limit.
func (e *Exporter) OverLimit() { e.counts.over.Add(1) }

// Close sends what is queued, for at most two seconds, and drops the rest. It waits for the
// goroutine. A second Close waits as well.
func (e *Exporter) Close() {
	if e.queue.close() {
		close(e.ending)
	}
	e.starting.Lock()
	if !e.started {
		e.started = true
		close(e.done)
	}
	e.starting.Unlock()
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-e.done:
	case <-timer.C:
		e.cancel()
		<-e.done
	}
	e.cancel()
	e.client.CloseIdleConnections()
}

// run sends until the queue is closed and empty.
func (e *Exporter) run() {
	defer close(e.done)
	var spare []byte
	for {
		encoded, n, last := e.queue.take(spare)
		e.options.Panics.Quietly(func() { e.send(encoded, int64(n)) })
		if last {
			return
		}
		spare = encoded
		e.rest()
	}
}

// rest waits until there is more to send.
func (e *Exporter) rest() {
	timer := time.NewTimer(gather)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.queue.urgent:
	}
}
