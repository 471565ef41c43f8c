package spans

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/conn/rescue"
)

// Options are the settings of an Exporter.
type Options struct {
	// Node and Version identify the sender in each request.
	Node, Version string
	// OnError is called for spans that could not be sent, at most once a minute, by the
	// Exporter's own goroutine. It must not call Close. It may be nil.
	OnError func(error)
	// Panics counts panics of the goroutine; it may be nil.
	Panics *rescue.Counter
}

// Headers are values of fields by their names. They may be secrets: they print as stars, in JSON and in logs too.
type Headers map[string]string

// String returns stars, or "" for none.
func (h Headers) String() string {
	if len(h) == 0 {
		return ""
	}
	return "***"
}

// GoString returns stars, like String.
func (h Headers) GoString() string { return h.String() }

// MarshalText returns stars, like String.
func (h Headers) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// Target is where spans are sent.
type Target struct {
	// Endpoint is an http or https URL; /v1/traces is added to its path. "" turns tracing
	// off; spans of requests in progress are dropped.
	Endpoint string
	// Headers are sent with each request.
	Headers Headers
	// Timeout bounds one request; above 0.
	Timeout time.Duration
	// Service is the attribute service.name.
	Service string
}

const (
	// gather is how long the sender waits for more spans between two requests. The wait
	// ends when the queue is a quarter full, and at Close.
	gather = time.Second
	// closeWait bounds how long Close waits until the queue is sent.
	closeWait = 2 * time.Second
	// tries is how often a request is sent after failures that may be temporary.
	tries = 3
	// backoff is the wait before the second try. The wait before the third is four times as
	// long. A receiver may ask for a longer wait, up to longestWait.
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
	ending   chan struct{} // closed by Close: ends the waits between tries
	ctx      context.Context
	cancel   context.CancelFunc

	// Used only by the sending goroutine.

	body       []byte // body of a request; reused
	unreported int
	reported   time.Time
}

// counts are the outcomes of spans. Every span passed to Add is in one of them, or in the queue.
type counts struct {
	sent, full, failed, refused, off atomic.Int64
	over                             atomic.Int64 // requests not traced because of the sampler's limit
}

// New returns an Exporter without a target; see Point.
func New(o Options) *Exporter { return newExporter(o, newTransport(), queueBytes) }

func newExporter(o Options, way http.RoundTripper, limit int) *Exporter {
	e := &Exporter{options: o, queue: newQueue(limit), done: make(chan struct{}), ending: make(chan struct{})}
	e.client = &http.Client{Transport: way, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a redirect would send the headers elsewhere
	}}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// Point sets the target of later requests, including spans that are queued already. A request in
// progress continues. The first t with an Endpoint starts the goroutine of e. The caller must not change
// t.Headers afterwards.
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

// Add queues a span and never waits. After it returns, the caller may change s. A span is dropped and
// counted if the queue is full or there is no target.
func (e *Exporter) Add(s *Span) {
	switch t := e.target.Load(); {
	case t == nil || t.Endpoint == "":
		e.counts.off.Add(1)
	case !e.queue.add(s):
		e.counts.full.Add(1)
	}
}

// OverLimit counts a request that is not traced because of the sampler's limit.
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

// rest waits for gather, or until the queue is urgent.
func (e *Exporter) rest() {
	timer := time.NewTimer(gather)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.queue.urgent:
	}
}
