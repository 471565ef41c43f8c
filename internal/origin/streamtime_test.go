package origin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// h2Count returns how many connections of HTTP/2 the only server has.
func h2Count(o *Origin) int { return o.pool.servers[0].h2.count() }

func TestWaitsByHTTP2HaveLimits(t *testing.T) {
	f := func(name string, want time.Duration, r *Request, h http.HandlerFunc) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := h2InMemory(t, Options{Settings: Settings{FirstByteTimeout: 20 * time.Second, IdleTimeout: 7 * time.Second}}, h)
				began := time.Now()
				_, _, err := fetch(o, r)
				wantKind(t, err, Timeout)
				if got := time.Since(began); got != want {
					t.Errorf("got %v after %v, want %v", err, got, want)
				}
				synctest.Wait()
				if n := openCount(o); n != 0 {
					t.Errorf("got %d slots in use, want 0", n)
				}
				if n := h2Count(o); n != 0 {
					t.Errorf("got %d connections, want none: it may be dead", n)
				}
				o.Close()
			})
		})
	}
	until := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	begun := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun")
		_ = http.NewResponseController(w).Flush()
		until(w, r)
	}
	f("no head", 20*time.Second, get("/"), until)
	f("no head, by route", 3*time.Second, &Request{Method: "GET", Target: "/", Host: "h", FirstByte: 3 * time.Second}, until)
	f("interim responses and no head", 20*time.Second, get("/"), func(w http.ResponseWriter, r *http.Request) {
		for {
			w.WriteHeader(http.StatusProcessing)
			select {
			case <-r.Context().Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	f("no more of the body", 7*time.Second, get("/"), begun)
	f("no more of the body, by route", 2*time.Second, &Request{Method: "GET", Target: "/", Host: "h", Idle: 2 * time.Second}, begun)
	f("a body that is not taken", 7*time.Second, &Request{Method: "POST", Target: "/", Host: "h", Body: bottomless{}, ContentLength: -1}, until)
	f("no head behind a body", 25*time.Second, &Request{Method: "POST", Target: "/", Host: "h", Body: &late{after: 5 * time.Second}, ContentLength: -1},
		func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		})
}

// bottomless is a body without an end.
type bottomless struct{}

func (bottomless) Read(p []byte) (int, error) { return len(p), nil }

// late is a body that ends after a while.
type late struct{ after time.Duration }

func (l *late) Read([]byte) (int, error) {
	time.Sleep(l.after)
	return 0, io.EOF
}

// A client that sends slowly has all the time that its body allows.
func TestASlowUploadByHTTP2IsNotTheOriginsFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := h2InMemory(t, Options{Settings: Settings{FirstByteTimeout: time.Second, IdleTimeout: time.Second}}, func(w http.ResponseWriter, r *http.Request) {
			n, err := io.Copy(io.Discard, r.Body)
			_, _ = fmt.Fprint(w, n, err)
		})
		wantBody(t, o, &Request{Method: "POST", Target: "/", Host: "h", Body: &late{after: time.Minute}, ContentLength: -1}, "0 <nil>")
		o.Close()
	})
}

func TestMaxConnectionsBoundsRequestsByHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := h2InMemory(t, Options{Settings: Settings{MaxConnections: 2, QueueRequests: 2, QueueWait: 3 * time.Second}}, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/slow") {
				time.Sleep(2 * time.Second)
			}
			_, _ = io.WriteString(w, r.URL.Path)
		})
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() { wantBody(t, o, get(fmt.Sprint("/slow", i)), fmt.Sprint("/slow", i)) })
		}
		synctest.Wait()
		if n, w, c := openCount(o), waiting(o), h2Count(o); n != 2 || w != 2 || c != 1 {
			t.Errorf("got %d requests under way, %d waiting and %d connections, want 2, 2 and 1", n, w, c)
		}
		_, _, err := fetch(o, get("/"))
		wantKind(t, err, Overload)
		wg.Wait()
		wantBody(t, o, get("/"), "/")
		o.Close()
	})
}

func TestManyFirstRequestsShareAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := h2InMemory(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, "ok")
		})
		var wg sync.WaitGroup
		for range 80 {
			wg.Go(func() { wantBody(t, o, get("/"), "ok") })
		}
		synctest.Wait()
		if n := h2Count(o); n != 1 {
			t.Errorf("got %d connections for 80 requests, want 1", n)
		}
		wg.Wait()
		time.Sleep(defaultKeepAlive + time.Second)
		synctest.Wait()
		if n := h2Count(o); n != 0 {
			t.Errorf("got %d connections after the keep-alive, want 0", n)
		}
		wantBody(t, o, get("/"), "ok")
		o.Close()
	})
}

// A server that allows fewer requests at a time gets more connections, and no more than there are requests.
func TestAConnectionThatIsFullByHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipeListener()
		var most, now atomic.Int32
		s := h2c(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
			}
			_, _ = io.WriteString(w, "ok")
		}))
		s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 2}
		serving(t, s, l)
		o := open(t, Options{Dial: l.dial, Settings: Settings{HTTP2: true}})
		wantBody(t, o, get("/first"), "ok") // its limit is known from then on
		var wg sync.WaitGroup
		for range 7 {
			wg.Go(func() { wantBody(t, o, get("/"), "ok") })
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		wg.Wait()
		if n := h2Count(o); n < 2 || n > 7 {
			t.Errorf("got %d connections for 7 requests, want several", n)
		}
		o.Close()
	})
}

func TestWhoIsNotInterestedAnyMoreResetsTheStream(t *testing.T) {
	f := func(name string, leave func(t *testing.T, o *Origin)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ended atomic.Int32
				o := h2InMemory(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
					switch r.URL.Path {
					case "/head":
					case "/body":
						_, _ = io.WriteString(w, "begun")
						_ = http.NewResponseController(w).Flush()
					default:
						_, _ = io.WriteString(w, "ok")
						return
					}
					<-r.Context().Done()
					ended.Add(1)
				})
				leave(t, o)
				synctest.Wait()
				if n, c := openCount(o), h2Count(o); ended.Load() != 1 || n != 0 || c != 1 {
					t.Errorf("got %d ends, %d slots in use and %d connections, want 1, 0 and 1", ended.Load(), n, c)
				}
				wantBody(t, o, get("/"), "ok")
				o.Close()
			})
		})
	}
	f("before the head", func(t *testing.T, o *Origin) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := o.RoundTrip(ctx, get("/head"))
		wantKind(t, err, Canceled)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want what has ended the context in it", err)
		}
	})
	f("within the body", func(t *testing.T, o *Origin) {
		res, err := o.RoundTrip(t.Context(), get("/body"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadFull(res.Body, make([]byte, 5))
		_ = res.Body.Close()
		_, err = res.Body.Read(make([]byte, 1))
		wantKind(t, err, Canceled)
	})
	f("while it reads the body", func(t *testing.T, o *Origin) {
		res, err := o.RoundTrip(t.Context(), get("/body"))
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { _ = res.Body.Close() })
		_, err = io.ReadAll(res.Body)
		wantKind(t, err, Canceled)
	})
}

// An origin that sends more than anybody reads is held up.
func TestAResponseByHTTP2IsReadNoFasterThanItIsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		const size = 8 << 20
		o := h2InMemory(t, Options{Settings: Settings{IdleTimeout: time.Minute}}, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/small" {
				_, _ = io.WriteString(w, "ok")
				return
			}
			for range size / 8192 {
				n, err := w.Write(make([]byte, 8192))
				if err != nil {
					return
				}
				sent.Add(int64(n))
			}
		})
		res, err := o.RoundTrip(t.Context(), get("/"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := sent.Load(); n < streamWindow || n > streamWindow+64<<10 {
			t.Errorf("got %d bytes sent to nobody, want about %d", n, streamWindow)
		}
		wantBody(t, o, get("/small"), "ok") // beside it, on the same connection
		if n := h2Count(o); n != 1 {
			t.Errorf("got %d connections, want 1", n)
		}
		if n, err := io.Copy(io.Discard, res.Body); n != size || err != nil {
			t.Errorf("got %d bytes and %v, want %d", n, err, size)
		}
		o.Close()
	})
}

func TestARetiredOriginByHTTP2AnswersAndCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := h2InMemory(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, "ok")
		})
		wantBody(t, o, get("/"), "ok")
		var wg sync.WaitGroup
		wg.Go(func() { wantBody(t, o, get("/"), "ok") })
		synctest.Wait()
		o.Retire()
		wg.Go(func() { wantBody(t, o, get("/"), "ok") }) // the connection is one that somebody has begun before
		wg.Wait()
		synctest.Wait()
		if s := o.Stats(time.Now()); !s.Quiet() {
			t.Errorf("got %+v, want nothing left", s)
		}
		o.Close()
	})
}

func TestAConnectionByHTTP2ThatIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipeListener() // nobody accepts
		o := open(t, Options{Dial: l.dial, Settings: Settings{HTTP2: true, ConnectTimeout: 2 * time.Second}})
		var wg sync.WaitGroup
		began := time.Now()
		for range 3 {
			wg.Go(func() {
				_, _, err := fetch(o, get("/"))
				wantKind(t, err, Connect)
				if e, ok := errors.AsType[*Error](err); !ok || !e.Timeout() {
					t.Errorf("got %v, want a timeout", err)
				}
			})
		}
		wg.Go(func() {
			_, _, err := fetch(o, &Request{Method: "GET", Target: "/", Host: "h", Connect: time.Second})
			wantKind(t, err, Connect)
			if got := time.Since(began); got != time.Second {
				t.Errorf("got %v after %v, want the limit of the route", err, got)
			}
		})
		wg.Wait()
		if got := time.Since(began); got != 2*time.Second || openCount(o) != 0 {
			t.Errorf("got the last after %v with %d slots in use, want 2s and 0", got, openCount(o))
		}
		o.Close()
	})
}

func TestHealthChecksByHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ill atomic.Bool
		var asked atomic.Value
		changes := make(chan Change, 10)
		o := h2InMemory(t, Options{
			OnChange: func(c Change) { changes <- c },
			Settings: Settings{Health: Health{Path: "/health", Unhealthy: 2, Healthy: 1}},
		}, func(w http.ResponseWriter, r *http.Request) {
			asked.Store(r.Proto + " " + r.Host + " " + r.UserAgent())
			if ill.Load() {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := asked.Load(); got != "HTTP/2.0 origin.test:80 edgeproxy health check" || len(changes) != 0 || h2Count(o) != 0 {
			t.Errorf("got %v, %d changes and %d connections left, want a check, none and none", got, len(changes), h2Count(o))
		}
		ill.Store(true)
		time.Sleep(30 * time.Second)
		if c := <-changes; c.Err == nil || !strings.Contains(c.Err.Error(), "got status 500") {
			t.Errorf("got %+v, want a server that is down", c)
		}
		ill.Store(false)
		time.Sleep(30 * time.Second)
		if c := <-changes; c.Err != nil {
			t.Errorf("got %+v, want a server that is back", c)
		}
		o.Close()
	})
}

// Total bounds each step as it does by HTTP/1.1, and takes the connection from nobody else.
func TestTotalByHTTP2(t *testing.T) {
	f := func(name string, want Kind, conns int, r func() *Request, h http.HandlerFunc) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := h2InMemory(t, Options{Settings: Settings{MaxConnections: 2, QueueRequests: 1, QueueWait: time.Minute, FirstByteTimeout: time.Minute, IdleTimeout: time.Minute}}, h)
				wantBody(t, o, get("/first"), "")
				begun, asked := time.Now(), r()
				asked.Total, asked.Begun = 5*time.Second, begun
				_, _, err := fetch(o, asked)
				wantTotal(t, name, err, want, begun, 5*time.Second)
				synctest.Wait()
				if n, c := openCount(o), h2Count(o); n != 0 || c != conns {
					t.Errorf("got %d slots in use and %d connections, want 0 and %d", n, c, conns)
				}
				o.Close()
				time.Sleep(2 * time.Second) // which the server's handler does, too
			})
		})
	}
	drip := func(w http.ResponseWriter, r *http.Request) {
		for range 100 {
			if r.URL.Path == "/first" {
				return
			}
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(2 * time.Second)
			if r.Context().Err() != nil {
				return
			}
		}
	}
	silence := func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/first" {
			<-r.Context().Done()
		}
	}
	f("head", Timeout, 1, func() *Request { return get("/") }, silence)
	f("body that only drips", Timeout, 1, func() *Request { return get("/") }, drip)
	f("upload", Timeout, 1, func() *Request {
		body, client := io.Pipe()
		r := post(body, -1)
		r.Interrupt = func() { client.CloseWithError(errors.New("interrupted")) }
		return r
	}, silence)
	synctest.Test(t, func(t *testing.T) {
		o := open(t, Options{Dial: newPipeListener().dial, Settings: Settings{HTTP2: true, ConnectTimeout: time.Minute}})
		begun := time.Now()
		_, _, err := fetch(o, within(5*time.Second))
		wantTotal(t, "connect", err, Connect, begun, 5*time.Second)
		o.Close()
	})
}

// TestASecondConnectionWasMadeBesideOneWithRoom: a request that saw no connection, and came to make one when another request had just made it,
// made a second one.
func TestASecondConnectionWasMadeBesideOneWithRoom(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			o := h2InMemory(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(time.Second)
				_, _ = io.WriteString(w, "ok")
			})
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() { wantBody(t, o, get("/"), "ok") })
			}
			synctest.Wait()
			if n := h2Count(o); n != 1 {
				t.Errorf("got %d connections for 2 requests, want 1", n)
			}
			wg.Wait()
			o.Close()
		})
	}
}
