package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/test/edgetest"
)

const (
	mostInMemory = 64 << 10
	beyondMemory = 300 << 10
	beyondBegins = 16 << 10 // what its origin sends at once
)

// beyondRig is an edge before an origin of one film, which is larger than memory allows, with a
// client of one version of HTTP.
type beyondRig struct {
	*edgetest.Edge
	address string
	client  *http.Client
	film    string
	begun   chan struct{} // has a token once the beginning was sent
	goOn    chan bool     // true: the rest follows; false: the origin breaks off
}

func newBeyondRig(t *testing.T, version string, chunked bool, disk string) *beyondRig {
	t.Helper()
	r := &beyondRig{film: strings.Repeat("0123456789abcdef", beyondMemory/16), begun: make(chan struct{}, 8), goOn: make(chan bool, 8)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "max-age=3600")
		h.Set("Etag", `"1"`)
		if q.Header.Get("Range") != "" {
			http.ServeContent(w, q, "", time.Time{}, strings.NewReader(r.film))
			return
		}
		if !chunked {
			h.Set("Content-Length", "307200")
		}
		_, _ = io.WriteString(w, r.film[:beyondBegins])
		_ = http.NewResponseController(w).Flush()
		r.begun <- struct{}{}
		select {
		case on := <-r.goOn:
			if !on {
				panic(http.ErrAbortHandler)
			}
		case <-q.Context().Done():
			return
		}
		_, _ = io.WriteString(w, r.film[beyondBegins:])
	}))
	t.Cleanup(server.Close)
	r.Edge = start(t, fmt.Sprintf("%scache: {memory: {max_object_bytes: %dB}%s}", always, mostInMemory, disk), edgetest.Options{Origin: server.Listener.Addr().String()})
	transport := &http.Transport{}
	r.address = r.Address
	if version == "HTTP/2" {
		r.address = startHTTP2(t, r.Edge)
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	t.Cleanup(transport.CloseIdleConnections)
	r.client = &http.Client{Transport: transport}
	return r
}

// ask asks for the film and returns the response with its head alone.
func (r *beyondRig) ask(ctx context.Context, t *testing.T, ranged string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.address+"/film", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if ranged != "" {
		req.Header.Set("Range", ranged)
	}
	res, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// read reads a body to its end.
func read(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("after %d bytes: %v", len(b), err)
	}
	return string(b)
}

// beyond runs test for each version of HTTP, with and without a length that is known before.
func beyond(t *testing.T, disk string, test func(t *testing.T, r *beyondRig)) {
	t.Helper()
	for _, version := range []string{"HTTP/1.1", "HTTP/2"} {
		for _, chunked := range []bool{false, true} {
			name := version + " length"
			if chunked {
				name = version + " chunks"
			}
			t.Run(name, func(t *testing.T) { test(t, newBeyondRig(t, version, chunked, disk)) })
		}
	}
}

// What is larger than memory allows is not stored where there is nothing else.
func TestLargerThanMemoryIsNotStoredByMemoryAlone(t *testing.T) {
	beyond(t, "", func(t *testing.T, r *beyondRig) {
		for range 2 {
			r.goOn <- true
			res := r.ask(t.Context(), t, "")
			if got := read(t, res); got != r.film {
				t.Errorf("got %d bytes", len(got))
			}
			if status := res.Header.Get("Cache-Status"); !strings.Contains(status, "fwd=uri-miss") {
				t.Errorf("got %s, want a miss", status)
			}
		}
		eventually(t, "both are booked as too large", func() bool {
			return r.Metric(t, "edgeproxy_not_stored_total", "route=default", "reason=too-large") == 2
		})
		if n := r.Store.Objects(); n != 0 {
			t.Errorf("got %d objects, want none", n)
		}
	})
}

// onDiskBeyond has a disk that takes what memory does not.
const onDiskBeyond = `, disk: {path: "{dir}/disk", max_bytes: 16MiB, min_free: 0%}`

// Where the disk takes it, it is stored from its first byte, while clients read along; then it is a hit, also for a
// Range, read by offset. A fill that broke off before leaves nothing behind.
func TestLargerThanMemoryIsStoredOnDisk(t *testing.T) {
	beyond(t, onDiskBeyond, func(t *testing.T, r *beyondRig) {
		r.goOn <- false
		if b, err := io.ReadAll(r.ask(t.Context(), t, "").Body); err == nil {
			t.Errorf("the origin broke off: got %d bytes and no error", len(b))
		}
		<-r.begun
		leader := r.ask(t.Context(), t, "")
		<-r.begun
		follower := r.ask(t.Context(), t, "")
		if status := follower.Header.Get("Cache-Status"); !strings.Contains(status, "collapsed") {
			t.Errorf("follower: got %s, want collapsed", status)
		}
		r.goOn <- true
		whole := make(chan string)
		go func() {
			b, _ := io.ReadAll(follower.Body)
			whole <- string(b)
		}()
		if got := read(t, leader); got != r.film {
			t.Errorf("leader: got %d bytes", len(got))
		}
		if got := <-whole; got != r.film {
			t.Errorf("follower: got %d bytes", len(got))
		}
		for range 3 {
			hit := r.ask(t.Context(), t, "")
			if got, status := read(t, hit), hit.Header.Get("Cache-Status"); got != r.film || !strings.Contains(status, "; hit") {
				t.Errorf("got %d bytes, %s, want a hit", len(got), status)
			}
		}
		part := r.ask(t.Context(), t, "bytes=200000-250000")
		if got, status := read(t, part), part.Header.Get("Cache-Status"); part.StatusCode != http.StatusPartialContent || got != r.film[200000:250001] || !strings.Contains(status, "; hit") {
			t.Errorf("range: got %d, %d bytes, %s, want a hit", part.StatusCode, len(got), status)
		}
		if st := r.Store.Stats(); st.Disk.Writes != 1 || st.Objects != 0 {
			t.Errorf("got %+v and %d objects in memory, want one write of the disk", st.Disk, st.Objects)
		}
	})
}

// What breaks off in the midst leaves nothing behind, whether its client goes or its origin.
func TestLargerThanMemoryLeavesNothingWhereItBreaksOff(t *testing.T) {
	beyond(t, onDiskBeyond, func(t *testing.T, r *beyondRig) {
		ctx, leave := context.WithCancel(t.Context())
		gone := r.ask(ctx, t, "")
		<-r.begun
		eventually(t, "the fill has a draft", func() bool {
			return r.Disk().Stats().Drafts == 1
		})
		leave()
		_, _ = io.Copy(io.Discard, gone.Body)
		r.goOn <- false // where it goes on for the store
		nothing := func() bool {
			st := r.Disk().Stats()
			return st.Drafts == 0 && st.Objects == 0
		}
		eventually(t, "the draft of the client that went is gone", nothing)
		select {
		case <-r.goOn: // it did not
		default:
		}

		broken := r.ask(t.Context(), t, "")
		<-r.begun
		r.goOn <- false
		if b, err := io.ReadAll(broken.Body); err == nil {
			t.Errorf("got %d bytes and no error", len(b))
		}
		eventually(t, "the draft of the origin that went is gone", nothing)
		r.goOn <- true
		next := r.ask(t.Context(), t, "")
		if got, status := read(t, next), next.Header.Get("Cache-Status"); got != r.film || !strings.Contains(status, "fwd=uri-miss") {
			t.Errorf("got %d bytes, %s, want a miss", len(got), status)
		}
	})
}
