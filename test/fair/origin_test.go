//go:build linux

package fair

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"
)

// thing is something to ask for. The query of its target tells the origin how to answer.
type thing struct {
	path    string
	cc      string // Cache-Control
	size    int
	delay   time.Duration // before the head
	drip    int           // bytes in a tenth of a second, for the last 256 KiB; 0 is all at once
	more    string        // more of the query, such as "&vary=Accept-Encoding"
	chunked bool
}

func (o thing) target() string {
	t := o.path + "?size=" + strconv.Itoa(o.size) + "&cc=" + url.QueryEscape(o.cc)
	if o.delay > 0 {
		t += "&delay=" + o.delay.String()
	}
	if o.drip > 0 {
		t += "&drip=" + strconv.Itoa(o.drip)
	}
	if o.chunked {
		t += "&chunked=1"
	}
	return t + o.more
}

// pattern is what bodies are made of: they are its beginning. One with a hole or a part
// out of its place is not equal to one without.
var pattern = func() []byte {
	b := make([]byte, 20<<20)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}()

// content is a body of this size.
func content(size int) []byte { return pattern[:size] }

// matches reports whether b is what a body has from there on.
func matches(b []byte, from int64) bool {
	return from+int64(len(b)) <= int64(len(pattern)) && bytes.Equal(b, pattern[from:][:len(b)])
}

// origin answers as it is told.
type origin struct {
	address string
	over    chan struct{}

	mu    sync.Mutex
	asked map[string]int // keys are paths
}

func startOrigin(t testing.TB) *origin {
	t.Helper()
	o := &origin{asked: map[string]int{}, over: make(chan struct{})}
	s := httptest.NewServer(o)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	t.Cleanup(func() { close(o.over) })
	o.address = s.Listener.Addr().String()
	return o
}

// times returns how often it was asked for a path.
func (o *origin) times(path string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked[path]
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.asked[r.URL.Path]++
	o.mu.Unlock()
	q := r.URL.Query()
	if d, _ := time.ParseDuration(q.Get("delay")); d > 0 {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
			return
		case <-o.over:
			return
		}
	}
	switch {
	case q.Get("hang") != "":
		panic(http.ErrAbortHandler) // ends the connection without an answer
	case q.Get("tunnel") != "":
		tunnel(w)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
	}
	h := w.Header()
	h.Set("Cache-Control", q.Get("cc"))
	h.Set("Content-Type", "application/octet-stream")
	for name, field := range map[string]string{"vary": "Vary", "location": "Location"} {
		if v := q.Get(name); v != "" {
			h.Set(field, v)
		}
	}
	size, _ := strconv.Atoi(q.Get("size"))
	h.Set("Etag", fmt.Sprintf("%q", strconv.Itoa(size)))
	drip, _ := strconv.Atoi(q.Get("drip"))
	switch {
	case drip > 0:
		h.Set("Content-Length", strconv.Itoa(size))
		o.trickle(w, r, size, drip)
	case q.Get("chunked") != "":
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		_, _ = w.Write(content(size))
	default:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content(size)))
	}
}

// dripping is the end of a body that comes in drips.
const dripping = 256 << 10

// trickle sends some bytes every tenth of a second, once it comes to the end of a body.
func (o *origin) trickle(w http.ResponseWriter, r *http.Request, size, drip int) {
	body := content(size)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for len(body) > 0 {
		n := max(len(body)-dripping, min(len(body), drip))
		if _, err := w.Write(body[:n]); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		body = body[n:]
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-o.over:
			return
		}
	}
}

// tunnel answers 101 and sends back what comes.
func tunnel(w http.ResponseWriter) {
	c, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	_, _ = io.Copy(c, buffered)
}
