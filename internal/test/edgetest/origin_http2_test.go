package edgetest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// http2Origin is an origin that is asked by HTTP/2, without TLS, and counts.
type http2Origin struct {
	asked, left atomic.Int32
}

// ServeHTTP answers by the path.
func (o *http2Origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.asked.Add(1)
	w.Header().Set("Cache-Control", "max-age=60")
	begin := func() {
		_, _ = io.WriteString(w, "begun ")
		_ = http.NewResponseController(w).Flush()
	}
	switch r.URL.Path {
	case "/slow":
		time.Sleep(3 * time.Second)
	case "/silent":
		<-r.Context().Done()
		o.left.Add(1)
		return
	case "/stalls":
		begin()
		<-r.Context().Done()
		o.left.Add(1)
		return
	case "/cut":
		begin()
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(w, r.Proto)
}

// overHTTP2 plays use on an edge that asks o by HTTP/2, in virtual time.
func overHTTP2(t *testing.T, use func(t *testing.T, o *http2Origin, c *http.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		clients, down := newPipe(1), newPipe(2)
		o := new(http2Origin)
		s := &http.Server{Handler: o, Protocols: new(http.Protocols), ReadHeaderTimeout: time.Minute}
		s.Protocols.SetUnencryptedHTTP2(true)
		var serving sync.WaitGroup
		serving.Go(func() { _ = s.Serve(down) })
		t.Cleanup(func() {
			_ = s.Close()
			serving.Wait()
			time.Sleep(time.Minute)
		})
		w := &world{}
		Start(t, "admission: {policy: always}\norigins: {app: {servers: [\"http://{origin}\"], protocol: h2, first_byte_timeout: 20s, idle_timeout: 10s}}", w.optionsOf(clients, down))
		c := &http.Client{Transport: &http.Transport{DialContext: clients.dial, DisableKeepAlives: true}}
		use(t, o, c)
	})
}

// ask gets a path, and returns status, body, Cache-Status and what the body ended with.
func ask(c *http.Client, path string) (status int, body, cached string, err error) {
	res, err := c.Get("http://edge.test" + path)
	if err != nil {
		return 0, "", "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), res.Header.Get("Cache-Status"), err
}

func TestAFetchByHTTP2IsShared(t *testing.T) {
	overHTTP2(t, func(t *testing.T, o *http2Origin, c *http.Client) {
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if status, body, _, err := ask(c, "/slow"); status != http.StatusOK || body != "HTTP/2.0" || err != nil {
					t.Errorf("got %d %q, %v", status, body, err)
				}
			})
		}
		wg.Wait()
		_, body, cached, _ := ask(c, "/slow")
		if n := o.asked.Load(); n != 1 || body != "HTTP/2.0" || !strings.Contains(cached, "; hit") {
			t.Errorf("got %d requests to the origin, then %q, %s; want 1, then a hit", n, body, cached)
		}
	})
}

func TestFailuresOfAnOriginByHTTP2(t *testing.T) {
	f := func(path string, want int, whole bool, left int32, after time.Duration) {
		t.Helper()
		t.Run(path[1:], func(t *testing.T) {
			overHTTP2(t, func(t *testing.T, o *http2Origin, c *http.Client) {
				for n := range int32(2) { // the second is not from the cache
					began := time.Now()
					status, body, cached, err := ask(c, path)
					if status != want || (err == nil) != whole || strings.Contains(cached, "; hit") {
						t.Errorf("got %d %q, %v, %s; want %d, whole: %v", status, body, err, cached, want, whole)
					}
					if took := time.Since(began); took != after {
						t.Errorf("got it after %v, want %v", took, after)
					}
					synctest.Wait()
					if asked, gone := o.asked.Load(), o.left.Load(); asked != n+1 || gone != left*(n+1) {
						t.Errorf("got %d requests, %d of which were given up; want %d and %d", asked, gone, n+1, left*(n+1))
					}
				}
			})
		})
	}
	f("/silent", http.StatusGatewayTimeout, true, 1, 20*time.Second)
	f("/stalls", http.StatusOK, false, 1, 10*time.Second)
	f("/cut", http.StatusOK, false, 0, 0)
}

// A fetch that nobody wants any more ends at the origin, too.
func TestAClientThatLeavesAFetchByHTTP2(t *testing.T) {
	overHTTP2(t, func(t *testing.T, o *http2Origin, c *http.Client) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://edge.test/silent", nil)
		must(t, err)
		if res, err := c.Do(r); err == nil {
			_ = res.Body.Close()
			t.Fatalf("got %d, want no answer", res.StatusCode)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if asked, left := o.asked.Load(), o.left.Load(); asked != 1 || left != 1 {
			t.Errorf("got %d requests, %d of which were given up; want 1 and 1", asked, left)
		}
	})
}
