package spans

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"edgeproxy/internal/test/testkit"
)

// receiver answers what its Exporter sends, in virtual time.
type receiver struct {
	answer func(n int, r *http.Request) (*http.Response, error) // answers the request number n, from 0

	mu    sync.Mutex
	asked []time.Time
	spans []testkit.Span
	last  *http.Request
}

func (v *receiver) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	spans, err := testkit.DecodeSpans(body)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	n := len(v.asked)
	v.asked, v.last = append(v.asked, time.Now()), r
	v.mu.Unlock()
	resp, err := v.answer(n, r)
	if err == nil && resp.StatusCode == http.StatusOK {
		v.mu.Lock()
		v.spans = append(v.spans, spans...)
		v.mu.Unlock()
	}
	return resp, err
}

// got returns the times of the requests, and the spans that were taken, once nothing goes on.
func (v *receiver) got() ([]time.Time, []testkit.Span) {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.asked, v.spans
}

func status(code int, fields ...string) (*http.Response, error) {
	h := http.Header{}
	for i := 0; i < len(fields); i += 2 {
		h.Set(fields[i], fields[i+1])
	}
	return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(""))}, nil
}

// well answers every request with a 200.
func well(int, *http.Request) (*http.Response, error) { return status(http.StatusOK) }

func hangs(_ int, r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

var anywhere = Target{Endpoint: "http://receiver.example/otlp/", Timeout: 10 * time.Second, Service: "edge", Headers: map[string]string{"X-Key": "secret"}}

// started returns an Exporter that sends to v, and what it reports.
func started(v *receiver, limit int) (*Exporter, *[]error) {
	var reports []error
	e := newExporter(Options{Node: "node", Version: "1.2", OnError: func(err error) { reports = append(reports, err) }}, v, limit)
	e.Point(anywhere)
	return e, &reports
}

func add(e *Exporter, n int) {
	for range n {
		e.Add(&Span{Self: contextOf(1, 2), Kind: Internal, Name: "part", Start: time.Now(), End: time.Now()})
	}
}

// wantCounts holds what became of spans to what should have, and to the law: each is counted once.
func wantCounts(t *testing.T, e *Exporter, added, sent, full, failed, refused, off int64) {
	t.Helper()
	c := &e.counts
	got := [...]int64{c.sent.Load(), c.full.Load(), c.failed.Load(), c.refused.Load(), c.off.Load()}
	if want := [...]int64{sent, full, failed, refused, off}; got != want {
		t.Errorf("sent, queue, export, refused, off: got %v, want %v", got, want)
	}
	if sum := got[0] + got[1] + got[2] + got[3] + got[4]; sum != added {
		t.Errorf("got %d spans counted, want the %d that were added", sum, added)
	}
}

func TestSpansAreSentTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &receiver{answer: well}
		e, reports := started(v, queueBytes)
		add(e, 1)
		synctest.Wait() // a span that finds it quiet leaves at once
		add(e, 2)
		add(e, 3)
		time.Sleep(2 * gather)
		if asked, spans := v.got(); len(asked) != 2 || len(spans) != 6 || asked[1].Sub(asked[0]) != gather {
			t.Errorf("got %d spans in requests at %v", len(spans), asked)
		}
		if got := v.last; got.URL.String() != "http://receiver.example/otlp/v1/traces" || got.Header.Get("X-Key") != "secret" ||
			got.Header.Get("Content-Type") != "application/x-protobuf" || got.Header.Get("User-Agent") != "edgeproxy/1.2" {
			t.Errorf("got %s with %v", got.URL, got.Header)
		}
		if got := v.spans[0].Resource; got["service.name"] != "edge" || got["service.version"] != "1.2" || got["service.instance.id"] != "node" {
			t.Errorf("resource: got %v", got)
		}
		add(e, 1)
		e.Close()
		e.Close()
		add(e, 1)
		wantCounts(t, e, 8, 7, 1, 0, 0, 0)
		if len(*reports) != 0 {
			t.Errorf("got %v", *reports)
		}
	})
}

// A receiver that hangs costs spans, and nobody's time but that of the end.
func TestHangingReceiverDropsAndHoldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &receiver{answer: hangs}
		e, _ := started(v, 4000)
		add(e, 1)
		synctest.Wait()
		begun := time.Now()
		add(e, 1000)
		if d := time.Since(begun); d != 0 {
			t.Errorf("Add took %v", d)
		}
		if full := e.counts.full.Load(); full < 900 {
			t.Errorf("got %d of 1000 spans dropped, want most: 4000 bytes hold few", full)
		}
		e.Close()
		if d := time.Since(begun); d != closeWait {
			t.Errorf("Close took %v, want %v", d, closeWait)
		}
		full := e.counts.full.Load()
		wantCounts(t, e, 1001, 0, full, 1001-full, 0, 0)
	})
}

func TestWhatMayComeLaterIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &receiver{answer: func(n int, _ *http.Request) (*http.Response, error) {
			switch n {
			case 0:
				return nil, errors.New("connection refused")
			case 1:
				return status(http.StatusServiceUnavailable, "Retry-After", "7")
			}
			return status(http.StatusOK)
		}}
		e, reports := started(v, queueBytes)
		add(e, 1)
		time.Sleep(time.Minute)
		if asked, _ := v.got(); len(asked) != 3 || asked[1].Sub(asked[0]) != backoff || asked[2].Sub(asked[1]) != 7*time.Second {
			t.Errorf("got requests at %v", asked)
		}
		e.Close()
		wantCounts(t, e, 1, 1, 0, 0, 0, 0)
		if len(*reports) != 0 {
			t.Errorf("got %v", *reports)
		}
	})
}

// Neither an endless Retry-After nor a receiver that never takes anything holds spans for long.
func TestTriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &receiver{answer: func(int, *http.Request) (*http.Response, error) {
			return status(http.StatusTooManyRequests, "Retry-After", "99999999999999")
		}}
		e, reports := started(v, queueBytes)
		begun := time.Now()
		add(e, 1)
		time.Sleep(10 * longestWait)
		if asked, _ := v.got(); len(asked) != tries || asked[2].Sub(begun) != 2*longestWait {
			t.Errorf("got requests at %v", asked)
		}
		e.Close()
		wantCounts(t, e, 1, 0, 0, 1, 0, 0)
		if len(*reports) != 1 || !strings.Contains((*reports)[0].Error(), "429") {
			t.Errorf("got %v", *reports)
		}
	})
}

// What the receiver does not want is not sent again, and not more than one report a minute.
func TestRefusedSpansAreReportedAtABoundedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &receiver{answer: func(int, *http.Request) (*http.Response, error) { return status(http.StatusBadRequest) }}
		e, reports := started(v, queueBytes)
		for range 90 {
			add(e, 1)
			time.Sleep(gather)
		}
		e.Close()
		wantCounts(t, e, 90, 0, 0, 90, 0, 0)
		if len(v.asked) != 90 || len(*reports) != 2 || !strings.Contains((*reports)[1].Error(), "failures since the last report: 60") {
			t.Errorf("got %d requests and %v", len(v.asked), *reports)
		}
		for _, err := range *reports {
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "receiver.example") {
				t.Errorf("got %v", err)
			}
		}
	})
}

// The fields to send are for the endpoint, and for nobody that it sends us to.
func TestRedirectIsNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &receiver{answer: func(int, *http.Request) (*http.Response, error) {
			return status(http.StatusTemporaryRedirect, "Location", "http://elsewhere.example/")
		}}
		e, _ := started(v, queueBytes)
		add(e, 1)
		time.Sleep(time.Minute)
		e.Close()
		wantCounts(t, e, 1, 0, 0, 1, 0, 0)
		if len(v.asked) != 1 {
			t.Errorf("got %d requests, want 1", len(v.asked))
		}
	})
}

func TestPartOfSpansMayBeRefused(t *testing.T) {
	f := func(rejects, sent, refused int64) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			body, err := proto.Marshal(&collectorpb.ExportTraceServiceResponse{PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: rejects}})
			if err != nil {
				t.Fatal(err)
			}
			v := &receiver{answer: func(n int, _ *http.Request) (*http.Response, error) {
				if n == 0 {
					return status(http.StatusOK)
				}
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(body)))}, nil
			}}
			e, _ := started(v, queueBytes)
			add(e, 1)
			synctest.Wait() // the sender waits for more, so that the next five leave together
			add(e, 5)
			time.Sleep(time.Second * 2)
			e.Close()
			wantCounts(t, e, 6, 1+sent, 0, 0, refused, 0)
		})
	}
	f(0, 5, 0)
	f(2, 3, 2)
	f(99, 0, 5) // more than it was sent
	f(-1, 5, 0)
}

func TestSpansOfATracingThatIsOffAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &receiver{answer: well}
		e := newExporter(Options{}, v, queueBytes)
		add(e, 1)
		e.Point(Target{})
		add(e, 1)
		e.Point(anywhere)
		add(e, 3)
		time.Sleep(2 * gather)
		e.Point(Target{})
		add(e, 1)
		e.Point(anywhere)
		add(e, 2)
		e.Close()
		wantCounts(t, e, 8, 5, 0, 0, 0, 3)
	})
}

func TestExporterThatNeverSentIsClosed(t *testing.T) {
	e := New(Options{})
	e.Close()
	e.Point(anywhere)
	add(e, 1)
	e.Close()
	wantCounts(t, e, 1, 0, 1, 0, 0, 0)
}

// A panic costs the spans that were being sent.
func TestPanicOfTheSenderIsNotItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &receiver{answer: func(n int, _ *http.Request) (*http.Response, error) {
			if n == 0 {
				panic("rotten")
			}
			return status(http.StatusOK)
		}}
		e, _ := started(v, queueBytes)
		add(e, 1)
		time.Sleep(2 * gather)
		add(e, 3)
		e.Close()
		wantCounts(t, e, 4, 3, 0, 1, 0, 0)
	})
}

func TestHeadersAreNotShown(t *testing.T) {
	asJSON, err := json.Marshal(anywhere)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{string(asJSON), fmt.Sprint(anywhere), fmt.Sprintf("%+v %#v", anywhere, anywhere)} {
		if strings.Contains(shown, "secret") || !strings.Contains(shown, "***") {
			t.Errorf("got %s, want stars for the headers", shown)
		}
	}
}
