package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// TestHitsOnDiskBesideEachOther: many clients at once get what they asked for, while bodies of others are read into the same memory, also from a
// connection that another has given up.
func TestHitsOnDiskBesideEachOther(t *testing.T) {
	lengths := []int{0, 900, 7000, 17_000, 30_000, 60_000, 70_000, 300_000}
	bodyOf := func(n int) string {
		return strings.Repeat(fmt.Sprintf("%07d\n", n), lengths[n%len(lengths)]/8+1)[:lengths[n%len(lengths)]]
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var n int
		_, _ = fmt.Sscanf(q.URL.Path, "/%d", &n)
		w.Header().Set("Cache-Control", "max-age=3600")
		_, _ = io.WriteString(w, bodyOf(n))
	}))
	t.Cleanup(server.Close)
	e := start(t, always+`cache: {memory: {max_bytes: 4MiB, max_object_bytes: 1MiB}, disk: {path: "{dir}/disk", max_bytes: 16MiB, min_free: 0%}}
`, edgetest.Options{Origin: server.Listener.Addr().String()})
	ask := func(n int) (err error) {
		res, err := http.Get(fmt.Sprintf("http://%s/%d", e.Address, n))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, res.Body.Close()) }()
		b, err := io.ReadAll(res.Body)
		if err == nil && string(b) != bodyOf(n) {
			err = fmt.Errorf("/%d: got other bytes, %d of them", n, len(b))
		}
		return err
	}
	const objects = 24
	for n := range objects {
		if err := ask(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Disk().Flush(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 60 {
				if err := ask((7*g + i) % objects); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() { // a client that leaves before it has its answer
		for i := range 30 {
			c, err := net.Dial("tcp", e.Address)
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = fmt.Fprintf(c, "GET /%d HTTP/1.1\r\nHost: %s\r\n\r\n", i%objects, e.Address)
			_ = c.Close()
		}
	})
	all.Wait()
	if st := e.Disk().Stats(); st.Hits == 0 || st.Damaged != 0 {
		t.Errorf("got %+v, want hits", st)
	}
}
