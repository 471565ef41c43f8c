package origin

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/origin/balance"
	"edgeproxy/internal/test/testkit"
)

// Whatever goes wrong beside it, a response is the answer to its own request, and nothing is left at the end.
func TestManyRequestsByHTTP2InTrouble(t *testing.T) {
	o := overH2(t, Options{Settings: Settings{MaxConnections: 24, QueueRequests: 1000, QueueWait: time.Minute}}, troubled)
	var wg sync.WaitGroup
	var whole, broken atomic.Int32
	for client := range 32 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(client), 1))
			for n := range 60 {
				ok, err := oneOfMany(o, r, fmt.Sprintf("/%d-%d", client, n))
				if err != nil {
					t.Error(err)
				}
				if ok {
					whole.Add(1)
				} else {
					broken.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if whole.Load() < 500 || broken.Load() < 100 {
		t.Errorf("got %d whole and %d broken, want many of both", whole.Load(), broken.Load())
	}
	if s := o.Stats(time.Now()); s.Servers[0].Active != 0 || s.Waiting != 0 {
		t.Errorf("got %+v, want nothing under way", s)
	}
	o.Close()
	eventually(t, "all connections are closed", func() bool { return h2Count(o) == 0 })
}

// troubled answers by the target, in a way that the query says.
func troubled(w http.ResponseWriter, r *http.Request) {
	text := strings.Repeat(r.URL.Path, 1000)
	_, _ = io.Copy(io.Discard, r.Body)
	switch r.URL.RawQuery {
	case "goodbye":
		w.Header().Set("Connection", "close")
	case "abort":
		panic(http.ErrAbortHandler)
	case "cut":
		_, _ = io.WriteString(w, text[:len(text)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "early":
		w.WriteHeader(http.StatusEarlyHints)
	}
	_, _ = io.WriteString(w, text)
}

// oneOfMany asks for target in some way, and reports whether all of the answer came. The error says that it was not that.
func oneOfMany(o *Origin, r *rand.Rand, target string) (whole bool, err error) {
	query := []string{"", "", "", "early", "goodbye", "abort", "cut"}[r.IntN(7)]
	request := get(target + "?" + query)
	if r.IntN(4) == 0 {
		request = &Request{Method: "POST", Target: request.Target, Host: "h", Body: strings.NewReader(strings.Repeat("x", r.IntN(1<<17))), ContentLength: -1}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if r.IntN(8) == 0 {
		time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, cancel)
	}
	res, failure := o.RoundTrip(ctx, request)
	if failure != nil {
		return false, nil
	}
	defer res.Body.Close()
	if r.IntN(10) == 0 {
		return false, nil // nobody wants the body
	}
	body, failure := io.ReadAll(res.Body)
	want := strings.Repeat(target, 1000)
	if failure == nil && string(body) != want || !strings.HasPrefix(want, string(body)) {
		return false, fmt.Errorf("%s: got %d bytes of another answer, %w", request.Target, len(body), cmp.Or(failure, io.EOF))
	}
	return failure == nil, nil
}

func TestOneClientLeavesOthersConnectionsByHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := h2InMemory(t, Options{OriginShare: 0.125, Settings: Settings{MaxConnections: 16, QueueRequests: 10, QueueWait: time.Minute}}, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "x")
		})
		var held []*Response
		for range 13 {
			res, err := o.RoundTrip(t.Context(), askedBy(greedy))
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, res)
		}
		if _, err := o.RoundTrip(t.Context(), askedBy(greedy)); !errors.Is(err, ErrShare) {
			t.Errorf("got %v, want the share", err)
		}
		if _, _, err := fetch(o, askedBy(modest)); err != nil {
			t.Errorf("another client: %v", err)
		}
		for _, res := range held {
			_ = res.Body.Close()
		}
		if n := holders(o); n != 0 {
			t.Errorf("got %d clients that hold something, want none", n)
		}
		o.Close()
	})
}

// A server that cannot be asked by HTTP/2 sends requests on to another, and is ejected.
func TestAnotherServerByHTTP2(t *testing.T) {
	a := testkit.NewAuthority(t)
	old := loopback(t, overTLS(&tls.Config{Certificates: []tls.Certificate{a.Good("127.0.0.1")}, NextProtos: []string{"http/1.1"}}, each(okWire)))
	good := overH2(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
		_, _ = io.WriteString(w, "ok")
	})
	o, err := New(Options{
		Name:     "app",
		Servers:  []Server{{Address: old, TLS: &tls.Config{RootCAs: a.Pool()}}, {Address: good.options.Address, TLS: good.options.TLS}},
		Settings: Settings{HTTP2: true, Ejection: balance.Ejection{Failures: 3, Backoff: time.Minute, MaxBackoff: time.Hour}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for range 8 {
		wantBody(t, o, post(strings.NewReader("body "), 5), "body ok")
	}
	if s := o.Stats(time.Now()).Servers; s[0].State != balance.Ejected || s[1].State != balance.Up {
		t.Errorf("got %v and %v, want the old one ejected", s[0].State, s[1].State)
	}
}

// A server that takes leave of its connections loses no request that can be sent again.
func TestNoRequestByHTTP2IsLostToAGoodbye(t *testing.T) {
	var conns sync.Map
	o := overH2(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		conns.Store(r.RemoteAddr, true)
		_, _ = io.Copy(w, r.Body)
		if r.URL.RawQuery == "goodbye" {
			w.Header().Set("Connection", "close")
		}
	})
	var wg sync.WaitGroup
	for client := range 16 {
		wg.Go(func() {
			for n := range 40 {
				wantBody(t, o, &Request{Method: "DELETE", Target: "/", Host: "h"}, "")
				r := post(strings.NewReader("at hand"), int64(len("at hand")))
				r.Whole = []byte("at hand")
				wantBody(t, o, r, "at hand")
				if n == 2*client && client < maxGoAways { // however they fall, none meets one request more often
					wantBody(t, o, get("/?goodbye"), "")
				}
			}
		})
	}
	wg.Wait()
	seen := 0
	conns.Range(func(any, any) bool { seen++; return true })
	if seen < 3 {
		t.Errorf("got %d connections, want several", seen)
	}
}

// A server that answers nothing any more, pings neither, keeps no connection.
func TestAConnectionToASilentServerIsClosed(t *testing.T) {
	o := byFrames(t, Options{Settings: Settings{FirstByteTimeout: 10 * time.Millisecond}}, func(_ int, f *framer) {
		for {
			if _, err := f.ReadFrame(); err != nil {
				return
			}
		}
	})
	_, _, err := fetch(o, get("/"))
	wantKind(t, err, Timeout)
	eventually(t, "the connection is closed", func() bool { return h2Count(o) == 0 })
}
