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

func TestReportPrintsAVerdictEachTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := func(redraws bool, verdicts, drawn, erasures int) {
			t.Helper()
			var out bytes.Buffer
			d := New(Options{SecondHit: &fakeProxy{}, Always: &fakeProxy{}, Out: &out, Seconds: 45, Redraws: redraws})
			begun := time.Now()
			if err := d.report(t.Context(), begun); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(begun); got != 45*time.Second {
				t.Errorf("the report took %v, want 45s", got)
			}
			text := out.String()
			for _, at := range []string{"  0:02  ", "  0:10  ", "  0:20  ", "  0:40  ", "  0:45  "} {
				if strings.Count(text, at) != 1 {
					t.Errorf("want one verdict at%sin:\n%s", at, text)
				}
			}
			got := []int{strings.Count(text, "avoided."), strings.Count(text, "written to disk"), strings.Count(text, "\x1b[4A\x1b[J")}
			if diff := cmp.Diff([]int{verdicts, drawn, erasures}, got); diff != "" {
				t.Errorf("redraws %v: verdicts, bars and erasures (-want +got):\n%s", redraws, diff)
			}
		}
		f(false, 6, 6, 0)
		f(true, 6, 45, 44)
	})
}

func TestReportEndsWithItsContextOrItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		var out bytes.Buffer
		d := New(Options{SecondHit: &fakeProxy{}, Always: &fakeProxy{}, Out: &out})
		if err := d.report(ctx, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "avoided."); got != 3 {
			t.Errorf("got %d verdicts in 25 s, want 3:\n%s", got, out.String())
		}
		d = New(Options{SecondHit: &fakeProxy{}, Always: &fakeProxy{}, Out: &brokenWriter{left: 3}, Redraws: true})
		begun := time.Now()
		if err := d.report(t.Context(), begun); !errors.Is(err, errPipe) {
			t.Errorf("got %v, want %v", err, errPipe)
		}
		if got := time.Since(begun); got != 4*time.Second {
			t.Errorf("the fourth time failed after %v, want 4s", got)
		}
	})
}

// The demo's first numbers were of empty caches, where what stores everything looks best.
func TestTheFirstNumbersWereOfEmptyCaches(t *testing.T) {
	address := serve(t, &fasthttp.Server{Handler: answerObject})
	f := func(name string, fills bool, warmUp time.Duration, want string) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := &fillingProxy{fakeProxy: fakeProxy{address: address}, fills: fills, stop: cancel}
		d := New(Options{SecondHit: p, Always: &fakeProxy{address: address, counts: Counts{Evictions: 1, Writes: 100}}, Out: p, WarmUp: warmUp})
		if err := d.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if err := d.Summarise(); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{want, "  cache writes                  7              0\n"} {
			if !strings.Contains(p.out.String(), want) {
				t.Errorf("%s: no %q in:\n%s", name, want, p.out.String())
			}
		}
	}
	f("full", true, time.Hour, "\nBoth caches are full, after ")
	f("the time is over", false, 3*fullnessEvery, "\nThe caches are not full yet, after ")
}

// Ctrl-C while the caches were being filled printed what had filled them as the result.
func TestTheDemoEndedBeforeItsNumbers(t *testing.T) {
	address := serve(t, &fasthttp.Server{Handler: answerObject})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &fillingProxy{fakeProxy: fakeProxy{address: address}}
	d := New(Options{SecondHit: p, Always: &fakeProxy{address: address}, Out: p, WarmUp: time.Hour})
	if err := errors.Join(d.Run(ctx), d.Summarise()); err != nil {
		t.Fatal(err)
	}
	if got := p.out.String(); !strings.HasSuffix(got, "\nThe demo has ended before both caches were full, so there are no numbers.\n") || strings.Contains(got, "After 0:") {
		t.Errorf("got:\n%s", got)
	}
}

// fillingProxy is a proxy with its reader. It has written 1000 bodies before the numbers begin and 7 since, and stops the demo then.
type fillingProxy struct {
	fakeProxy
	fills, begun bool
	out          bytes.Buffer
	stop         func()
}

func (p *fillingProxy) Counts() (Counts, error) {
	c := Counts{Writes: 1000}
	if p.fills {
		c.Evictions = 1
	}
	if p.begun {
		c.Writes += 7
	}
	return c, nil
}

func (p *fillingProxy) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "All numbers begin now.") {
		p.begun = true
		p.stop()
	}
	return p.out.Write(b)
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
