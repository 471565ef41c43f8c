package spans

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// path is added to an endpoint, by the OTLP/HTTP specification.
const path = "/v1/traces"

// mostAnswer bounds what is read of an answer.
const mostAnswer = 64 << 10

// reportEvery is the shortest time between two calls of OnError.
const reportEvery = time.Minute

// newTransport returns a transport with a single connection to the receiver. It ignores HTTP_PROXY.
func newTransport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second, IdleConnTimeout: 90 * time.Second,
		MaxConnsPerHost: 1, MaxResponseHeaderBytes: mostAnswer, DisableCompression: true,
	}
}

// failure is why a request failed.
type failure struct {
	err   error
	again bool          // it may be retried
	after time.Duration // the shortest wait before a retry
}

// send sends n spans, and counts the outcome.
func (e *Exporter) send(encoded []byte, n int64) {
	t := e.target.Load()
	if n == 0 {
		return
	}
	if t == nil || t.Endpoint == "" {
		e.counts.off.Add(n)
		return
	}
	counted := false
	defer func() {
		if !counted { // after a panic
			e.counts.failed.Add(n)
		}
	}()
	e.body = appendRequest(e.body[:0], encoded, e.resource(t), e.options.Version)
	refused, err := e.deliver(t)
	counted = true
	if err != nil {
		e.counts.failed.Add(n)
		e.report(fmt.Errorf("%d spans: %w", n, err))
		return
	}
	e.counts.sent.Add(n - refused.spans(n))
	if lost := refused.spans(n); lost > 0 {
		e.counts.refused.Add(lost)
		e.report(fmt.Errorf("the receiver has refused %d of %d spans: %q", lost, n, refused.why))
	}
}

// refusal is what the receiver has rejected.
type refusal struct {
	n   int64
	why string
}

// spans returns how many of n spans were rejected.
func (r refusal) spans(n int64) int64 { return min(max(r.n, 0), n) }

// deliver sends e.body to t, with retries.
func (e *Exporter) deliver(t *Target) (refusal, error) {
	wait := backoff
	for n := 1; ; n++ {
		refused, f := e.post(t)
		if f == nil {
			return refused, nil
		}
		if !f.again || n == tries || !e.pause(min(max(wait, f.after), longestWait)) {
			return refusal{}, f.err
		}
		wait *= 4
	}
}

// pause waits for d, and returns false if Close comes first.
func (e *Exporter) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.ending:
		return false
	}
}

// post sends e.body once.
func (e *Exporter) post(t *Target) (refusal, *failure) {
	ctx, cancel := context.WithTimeout(e.ctx, t.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(t.Endpoint, "/")+path, bytes.NewReader(e.body))
	if err != nil {
		return refusal{}, &failure{err: errors.New("the endpoint is no URL")}
	}
	for name, value := range t.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "edgeproxy/"+e.options.Version)
	resp, err := e.client.Do(r)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the URL
		}
		return refusal{}, &failure{err: err, again: true}
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	switch {
	case resp.StatusCode/100 != 2:
		return refusal{}, refusedBy(resp)
	case err != nil:
		return refusal{}, nil // the receiver has accepted the spans
	}
	n, why := rejected(answer)
	return refusal{n, why}, nil
}

// refusedBy returns the failure of an answer other than 2xx. The statuses that the specification
// names may be retried.
func refusedBy(resp *http.Response) *failure {
	f := &failure{err: fmt.Errorf("the receiver has answered %d", resp.StatusCode)}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.again = true
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			f.after = min(time.Duration(seconds), longestWait/time.Second) * time.Second
		}
	}
	return f
}

// resource returns the attributes that identify this process.
func (e *Exporter) resource(t *Target) []Attribute {
	return []Attribute{
		Text("service.name", t.Service), Text("service.version", e.options.Version), Text("service.instance.id", e.options.Node),
	}
}

// report passes a failure to OnError, at most once in reportEvery.
func (e *Exporter) report(err error) {
	e.unreported++
	at := now()
	if e.options.OnError == nil || !e.reported.IsZero() && at.Sub(e.reported) < reportEvery {
		return
	}
	n := e.unreported
	e.unreported, e.reported = 0, at
	e.options.OnError(fmt.Errorf("%w (failures since the last report: %d)", err, n))
}
