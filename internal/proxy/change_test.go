package proxy_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// versionedOrigin is a changingOrigin that knows from when on older versions are gone: what
// begins later must not see them.
type versionedOrigin struct {
	changingOrigin
	gone [4]atomic.Int64 // the oldest version that may still be seen
}

// change makes a new version of a URL, by a POST through the edge or by a PURGE after the
// change, and tells when it is done.
func (s *versionedOrigin) change(base string, url int, method string) error {
	if method == "PURGE" {
		s.current[url].Add(1)
	}
	version := s.current[url].Load()
	req, err := http.NewRequest(method, fmt.Sprintf("%s/%d", base, url), http.NoBody)
	if err != nil {
		return err
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusNoContent {
		return fmt.Errorf("%s /%d: got %d", method, url, res.StatusCode)
	}
	if method == http.MethodPost {
		if _, err := fmt.Sscan(res.Header.Get("X-Version"), &version); err != nil {
			return fmt.Errorf("POST /%d: %w", url, err)
		}
	}
	for {
		old := s.gone[url].Load()
		if old >= version || s.gone[url].CompareAndSwap(old, version) {
			return nil
		}
	}
}

// read asks for what is there now.
func (s *versionedOrigin) read(req *http.Request) error {
	url := urlOf(req)
	oldest := s.gone[url].Load()
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body) // what is cut counts as far as it came
	tag := strings.Fields(strings.Trim(res.Header.Get("Etag"), `"`))
	if len(tag) == 0 {
		return nil
	}
	var version int64
	if _, err := fmt.Sscan(tag[0], &version); err != nil {
		return err
	}
	if version < oldest {
		return fmt.Errorf("got version %d, must be %d or a later one: %d %v", version, oldest, res.StatusCode, res.Header)
	}
	return nil
}

func (s *versionedOrigin) visit(t *testing.T, base string, client, requests int) {
	t.Helper()
	r := rand.New(rand.NewPCG(11, uint64(client)))
	for i := range requests {
		var err error
		req := s.request(r, base)
		switch r.IntN(16) {
		case 0:
			err = s.change(base, urlOf(req), http.MethodPost)
		case 1:
			err = s.change(base, urlOf(req), "PURGE")
		default:
			err = s.read(req)
		}
		if err != nil {
			t.Errorf("client %d, request %d, %s %s %v: %v", client, i, req.Method, req.URL.Path, req.Header, err)
			return
		}
	}
}

// TestNothingOlderThanAnUnsafeRequestIsServed: from the moment that an unsafe request is
// answered (RFC 9111 section 4.4), or a purge, no request that begins then is answered
// with what was there before, however many fetches and variants are under way.
func TestNothingOlderThanAnUnsafeRequestIsServed(t *testing.T) {
	const clients = 6
	requests := testkit.Times(1800, 900)
	f := func(name, yaml string, adjust func(*config.Config)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &versionedOrigin{changingOrigin: changingOrigin{sizes: []int64{500, 64, 1, 63, 65, 500, 128, 501, 300, 192}}}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				current := &s.current[urlOf(r)]
				if r.Method == http.MethodPost {
					w.Header().Set("X-Version", fmt.Sprint(current.Add(1)))
					return
				}
				s.answer(w, r, current.Load())
			}))
			t.Cleanup(server.Close)
			e := start(t, yaml+"\npurge: {allow: [127.0.0.0/8]}", edgetest.Options{Origin: server.Listener.Addr().String(), Adjust: adjust})
			var all sync.WaitGroup
			for n := range clients {
				all.Go(func() { s.visit(t, "http://"+e.Address, n, requests/clients) })
			}
			all.Wait()
		})
	}
	slices := func(c *config.Config) { c.Routes[0].Cache.SliceBytes = 64 }
	const never = "admission: {policy: never}"
	f("whole", always, nil)
	f("parts", always, func(c *config.Config) { c.Cache.Memory.MaxObjectBytes = 200 })
	f("stage", "", nil)
	f("slices", always, slices)
	f("slices of the stage", "", slices)
	f("slices never stored", never, slices)
}
