package proxy_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// changingOrigin is an origin of a few URLs that change now and then: one of four has variants, one
// in eleven versions is for one client alone, another one a failure. What it answers follows from
// the version and the request alone, so that it can be asked again later what an answer
// had to be.
type changingOrigin struct {
	sizes   []int64 // the sizes of the versions, in turn
	current [4]atomic.Int64
}

// answer is what the origin answers to r as long as this version is the current one.
func (l *changingOrigin) answer(w http.ResponseWriter, r *http.Request, version int64) {
	url, h := urlOf(r), w.Header()
	h.Set("Cache-Control", []string{"max-age=3600", "max-age=3600", "max-age=0", "no-cache"}[url])
	switch version % 11 {
	case 9:
		h.Set("Cache-Control", "private")
		h.Set("Set-Cookie", "id="+r.Header.Get("X-Id"))
	case 10:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	seed, tag := version, fmt.Sprintf(`"%d"`, version)
	if url == 1 {
		lang := r.Header.Get("Accept-Language")
		h.Set("Vary", "Accept-Language")
		seed, tag = version+1000*int64(len(lang)), fmt.Sprintf(`"%d %s"`, version, lang)
	}
	h.Set("Etag", tag)
	http.ServeContent(w, r, "book", time.Time{}, &film{version: seed, size: l.size(version)})
}

// urlOf is the number that the path is.
func urlOf(r *http.Request) (n int) {
	_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
	return n
}

func (l *changingOrigin) size(version int64) int64 { return l.sizes[version%int64(len(l.sizes))] }

// request is one at random, for a range, under a condition, or neither.
func (l *changingOrigin) request(r *rand.Rand, base string) *http.Request {
	url := r.IntN(len(l.current))
	version := max(0, l.current[url].Load()-r.Int64N(3))
	req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/%d", base, url), http.NoBody)
	if err != nil {
		panic(err)
	}
	lang := []string{"", "de", "fr-CH"}[r.IntN(3)]
	tag := fmt.Sprintf(`"%d"`, version)
	if url == 1 {
		req.Header.Set("Accept-Language", lang)
		tag = fmt.Sprintf(`"%d %s"`, version, lang)
	}
	if r.IntN(10) == 0 {
		req.Method = http.MethodHead // for which Range means nothing (RFC 9110 section 14.2)
		return req
	}
	size := l.size(version)
	first := r.Int64N(size + 20)
	switch r.IntN(5) {
	case 0, 1:
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, first+r.Int64N(200)))
	case 2:
		req.Header.Set("Range", fmt.Sprintf("bytes=-%d", 1+r.Int64N(size+20)))
	case 3:
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", first))
	}
	switch r.IntN(8) {
	case 0:
		req.Header.Set("If-None-Match", tag)
	case 1:
		req.Header.Set("If-Range", tag)
	}
	return req
}

// judge reports what is wrong with an answer: there has to be a version that it is the
// answer of. One that ends early has to be the beginning of that.
func (l *changingOrigin) judge(req *http.Request, res *http.Response, body []byte, cut bool) error {
	url, nearest := urlOf(req), ""
	for version := l.current[url].Load(); version >= 0; version-- {
		if tag := res.Header.Get("Etag"); tag != "" && !strings.HasPrefix(strings.Trim(tag, `"`)+" ", fmt.Sprint(version, " ")) {
			continue
		}
		w := httptest.NewRecorder()
		l.answer(w, req.Clone(req.Context()), version)
		want := w.Result()
		switch {
		case want.StatusCode != res.StatusCode:
			nearest = fmt.Sprintf("version %d has status %d", version, want.StatusCode)
		case res.StatusCode != http.StatusRequestedRangeNotSatisfiable && want.Header.Get("Etag") != res.Header.Get("Etag"):
			nearest = fmt.Sprintf("version %d has Etag %s", version, want.Header.Get("Etag"))
		case want.Header.Get("Content-Range") != res.Header.Get("Content-Range"):
			nearest = fmt.Sprintf("version %d has Content-Range %q", version, want.Header.Get("Content-Range"))
		case res.StatusCode == http.StatusRequestedRangeNotSatisfiable, bytes.Equal(w.Body.Bytes(), body), cut && bytes.HasPrefix(w.Body.Bytes(), body):
			return nil
		default:
			nearest = fmt.Sprintf("version %d has other %d bytes, got %d", version, w.Body.Len(), len(body))
		}
	}
	return fmt.Errorf("got %d, %v: %s", res.StatusCode, res.Header, nearest)
}

// read asks once, and reports whether the answer was cut.
func (l *changingOrigin) read(req *http.Request) (cut bool, err error) {
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	cut = errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !cut {
		return false, err
	}
	if got, want := res.Header.Get("Set-Cookie"), "id="+req.Header.Get("X-Id"); got != "" && got != want {
		return cut, fmt.Errorf("got the cookie %s, must be %s or none", got, want)
	}
	return cut, l.judge(req, res, body, cut)
}

// visit reads at random, and now and then changes what there is to be read. It returns how
// many answers were cut.
func (l *changingOrigin) visit(t *testing.T, base string, client, requests int) (cut int) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(client)))
	for i := range requests {
		if r.IntN(12) == 0 {
			l.current[r.IntN(len(l.current))].Add(1)
		}
		req := l.request(r, base)
		req.Header.Set("X-Id", fmt.Sprintf("%d.%d", client, i))
		broken, err := l.read(req)
		if err != nil {
			t.Errorf("client %d, request %d, %s %s %v: %v", client, i, req.Method, req.URL.Path, req.Header, err)
			return cut
		}
		if broken {
			cut++
		}
	}
	return cut
}

// TestEveryAnswerIsOneOfTheOrigins: whatever is stored of what, in slices, in parts or
// whole, and however the origin changes meanwhile, an answer is what the origin itself
// would have answered at some time, or visibly cut; and nobody gets another's cookie.
func TestEveryAnswerIsOneOfTheOrigins(t *testing.T) {
	requests := testkit.Times(1800, 600)
	f := func(name string, clients int, yaml string, adjust func(*config.Config)) {
		t.Run(fmt.Sprintf("%d %s", clients, name), func(t *testing.T) {
			t.Parallel()
			l := &changingOrigin{sizes: []int64{500, 64, 1, 63, 65, 500, 128, 501, 300, 192}}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				l.answer(w, r, l.current[urlOf(r)].Load())
			}))
			t.Cleanup(s.Close)
			e := start(t, yaml, edgetest.Options{Origin: s.Listener.Addr().String(), Adjust: adjust})
			var all sync.WaitGroup
			var cut atomic.Int64
			for n := range clients {
				all.Go(func() { cut.Add(int64(l.visit(t, "http://"+e.Address, n, requests/clients))) })
			}
			all.Wait()
			if got, most := cut.Load(), int64(requests/10); got > most {
				t.Errorf("%d of %d answers were cut, want at most %d", got, requests, most)
			}
		})
	}
	slices := func(c *config.Config) { c.Routes[0].Cache.SliceBytes = 64 }
	for _, clients := range []int{1, 6} {
		f("whole", clients, always, nil)
		f("parts", clients, always+"cache: {memory: {max_object_bytes: 200B}, uncacheable_for: 1h}", nil)
		f("stage", clients, "", nil)
		f("slices", clients, always, slices)
		f("slices of the stage", clients, "", slices)
		f("slices never stored", clients, "admission: {policy: never}", slices)
	}
}
