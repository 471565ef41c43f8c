package demo

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"edgeproxy/internal/test/testkit"
)

// fakeProxy has the counts it is given.
type fakeProxy struct {
	address, admin string
	counts         Counts
	err            error
}

func (p *fakeProxy) Address() string         { return p.address }
func (p *fakeProxy) Admin() string           { return p.admin }
func (p *fakeProxy) Counts() (Counts, error) { return p.counts, p.err }

// brokenWriter takes so many writes and no more.
type brokenWriter struct{ left int }

var errPipe = errors.New("broken pipe")

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left == 0 {
		return 0, errPipe
	}
	w.left--
	return len(p), nil
}

// recorder keeps requests in the order of their arrival.
type recorder struct {
	mu       sync.Mutex
	requests []string
}

// add returns how many there are.
func (r *recorder) add(request string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, request)
	return len(r.requests)
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// record serves objects and keeps the requests; at the n-th it calls enough.
func record(t *testing.T, n int, enough func()) (*fakeProxy, *recorder) {
	t.Helper()
	var r recorder
	address := serve(t, &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
		if r.add(string(ctx.RequestURI())+"\n"+string(ctx.Request.Header.RawHeaders())) == n {
			enough()
		}
		answerObject(ctx)
	}})
	return &fakeProxy{address: address}, &r
}

func TestBothProxiesGetTheSameRequestsInTheSameOrder(t *testing.T) {
	const n = 200
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	secondHit, got := record(t, n, cancel)
	always, want := record(t, -1, nil)
	var out bytes.Buffer
	d := New(Options{SecondHit: secondHit, Always: always, Out: &out})
	if err := d.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if len(got.all()) != n {
		t.Errorf("the proxy got %d requests, want %d: the one under way is the last", len(got.all()), n)
	}
	if diff := cmp.Diff(want.all(), got.all()); diff != "" {
		t.Errorf("the proxies got different requests (-always +second-hit):\n%s", diff)
	}
	if err := d.Summarise(); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.HasPrefix(text, "edgeproxy demo:") || !strings.Contains(text, "After 0:") {
		t.Errorf("want the banner first and the summary last in:\n%s", text)
	}
	noGoroutineLeft(t)
}

// noGoroutineLeft fails if a goroutine is still in the code of Run. One that has
// handed over its result may take a moment to be gone.
func noGoroutineLeft(t *testing.T) {
	t.Helper()
	var stacks string
	if !testkit.ComesTrue(func() bool {
		buf := make([]byte, 1<<20)
		stacks = string(buf[:runtime.Stack(buf, true)])
		return !strings.Contains(stacks, "demo.(*Demo)")
	}) {
		t.Errorf("a goroutine of the demo is left:\n%s", stacks)
	}
}

func TestRunEndsWhenAProxyFails(t *testing.T) {
	good := serve(t, &fasthttp.Server{Handler: answerObject})
	bad := serve(t, &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) { ctx.Error("no", fasthttp.StatusBadGateway) }})
	f := func(secondHit, always string) {
		t.Helper()
		d := New(Options{SecondHit: &fakeProxy{address: secondHit}, Always: &fakeProxy{address: always}, Out: &brokenWriter{left: 1000}})
		err := d.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "http://"+bad) || !strings.Contains(err.Error(), "status 502") {
			t.Errorf("got %v, want the address of the proxy and its status", err)
		}
	}
	f(bad, good)
	f(good, bad)
}

func TestRunReportsWhatItCannotReadOrPrint(t *testing.T) {
	errCounts := errors.New("no counts")
	f := func(name string, o Options, want error) {
		t.Helper()
		if err := New(o).Run(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s: Run gave %v, want %v", name, err, want)
		}
		if err := New(o).Summarise(); !errors.Is(err, want) {
			t.Errorf("%s: Summarise gave %v, want %v", name, err, want)
		}
	}
	good, bad := &fakeProxy{}, &fakeProxy{err: errCounts}
	f("counts of second-hit", Options{SecondHit: bad, Always: good, Out: &bytes.Buffer{}}, errCounts)
	f("counts of always", Options{SecondHit: good, Always: bad, Out: &bytes.Buffer{}}, errCounts)
	f("output", Options{SecondHit: good, Always: good, Out: &brokenWriter{}}, errPipe)
}

func TestReportPrintsALineASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		d := New(Options{SecondHit: &fakeProxy{}, Always: &fakeProxy{}, Out: &out, Seconds: 45})
		begun := time.Now()
		if err := d.report(t.Context(), begun); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(begun); got != 45*time.Second {
			t.Errorf("the report took %v, want 45s", got)
		}
		text := out.String()
		if got := strings.Count(text, "  0.0 %   0.0 %  "); got != 45 {
			t.Errorf("got %d lines of values, want 45:\n%s", got, text)
		}
		if got := strings.Count(text, "requests"); got != 3 {
			t.Errorf("got %d headings, want 3:\n%s", got, text)
		}
		for _, at := range []string{"\n    0:01 ", "\n    0:20 ", "\n    0:45 "} {
			if strings.Count(text, at) != 1 {
				t.Errorf("want one line for %q in:\n%s", at, text)
			}
		}
	})
}

func TestReportEndsWithItsContextOrItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		var out bytes.Buffer
		d := New(Options{SecondHit: &fakeProxy{}, Always: &fakeProxy{}, Out: &out})
		if err := d.report(ctx, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "0:0"); got != 2 {
			t.Errorf("got %d lines in 2.5 s, want 2:\n%s", got, out.String())
		}
		d = New(Options{SecondHit: &fakeProxy{}, Always: &fakeProxy{}, Out: &brokenWriter{left: 3}})
		begun := time.Now()
		if err := d.report(t.Context(), begun); !errors.Is(err, errPipe) {
			t.Errorf("got %v, want %v", err, errPipe)
		}
		if got := time.Since(begun); got != 4*time.Second {
			t.Errorf("the fourth line failed after %v, want 4s", got)
		}
	})
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	f := func(name string, o Options) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s: New returned, want a panic", name)
			}
		}()
		New(o)
	}
	f("no proxy", Options{Always: &fakeProxy{}, Out: &bytes.Buffer{}})
	f("no second proxy", Options{SecondHit: &fakeProxy{}, Out: &bytes.Buffer{}})
	f("no writer", Options{SecondHit: &fakeProxy{}, Always: &fakeProxy{}})
}
