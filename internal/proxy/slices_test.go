package proxy_test

import (
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

	"edgeproxy/internal/test/edgetest"
)

// film is a representation of any size whose bytes are worked out: each tells its
// version and place.
type film struct {
	version, size, at int64
}

func filmByte(version, at int64) byte { return byte(version*131 + at + at>>8*7 + at>>16*3) }

func (f *film) Read(b []byte) (int, error) {
	n := int(min(int64(len(b)), f.size-f.at))
	for i := range b[:n] {
		b[i] = filmByte(f.version, f.at+int64(i))
	}
	f.at += int64(n)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *film) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.size
	}
	f.at = offset
	return offset, nil
}

// filmOrigin is an origin that shows a film, with the ranges and conditions of net/http.
type filmOrigin struct {
	address           string
	size              int64
	version, requests atomic.Int64
	sent              atomic.Int64 // bytes of bodies
}

func newFilmOrigin(t *testing.T, size int64) *filmOrigin {
	t.Helper()
	c := &filmOrigin{size: size}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		v := c.version.Load()
		w.Header().Set("Etag", fmt.Sprintf(`"%d"`, v))
		w.Header().Set("Cache-Control", "max-age=86400") // a busy machine takes minutes for some films
		http.ServeContent(counting{w, &c.sent}, r, "film.mp4", time.Time{}, &film{version: v, size: size})
	}))
	t.Cleanup(s.Close)
	c.address = s.Listener.Addr().String()
	return c
}

type counting struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c counting) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.sent.Add(int64(n))
	return n, err
}

// edge starts an edge before c that stores all it shows.
func (c *filmOrigin) edge(t *testing.T, cache string) *edgetest.Edge {
	t.Helper()
	return start(t, always+cache, edgetest.Options{Origin: c.address})
}

// readFilmRange reads one range and reports what is wrong with it, and whether the answer ended
// before its framing said so.
func readFilmRange(e *edgetest.Edge, first, last int64) (broken bool, err error) {
	r, err := http.NewRequest(http.MethodGet, "http://"+e.Address+"/film", http.NoBody)
	if err != nil {
		return false, err
	}
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, last))
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusPartialContent || !strings.HasPrefix(res.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-%d/", first, last)) {
		return false, fmt.Errorf("bytes %d-%d: got %d %q", first, last, res.StatusCode, res.Header)
	}
	var version int64
	if _, err := fmt.Sscanf(res.Header.Get("Etag"), `"%d"`, &version); err != nil {
		return false, err
	}
	body, err := io.ReadAll(res.Body)
	for i, b := range body {
		if b != filmByte(version, first+int64(i)) {
			return false, fmt.Errorf("bytes %d-%d: byte %d is not that of version %d", first, last, first+int64(i), version)
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return true, nil
	}
	if err == nil && int64(len(body)) != last-first+1 {
		err = fmt.Errorf("bytes %d-%d: got %d bytes", first, last, len(body))
	}
	return false, err
}

// TestSeekingInAGigabyteFetchesSlicesAlone: a client jumps about in a film of 1 GiB,
// and the origin sends no more than the slices it lands in.
func TestSeekingInAGigabyteFetchesSlicesAlone(t *testing.T) {
	const slice, size = 1 << 20, 1 << 30
	c := newFilmOrigin(t, size)
	e := c.edge(t, "cache: {slice: 1MiB}")
	places := []int64{0, 512<<20 + 12345, size - 100_000, 900<<20 - 50_000}
	const slices, alone = 1 + 1 + 1 + 2, 100_000 // less than a sixteenth of two slices: at first such a range goes to the origin as it is
	for range 3 {
		for _, at := range places {
			if broken, err := readFilmRange(e, at, min(at+99_999, size-1)); broken || err != nil {
				t.Errorf("at %d: broken %v, error %v", at, broken, err)
			}
		}
	}
	if got := c.requests.Load(); got != slices+1 {
		t.Errorf("got %d requests to the origin, want %d", got, slices+1)
	}
	if got := c.sent.Load(); got > slices*slice+alone {
		t.Errorf("the origin sent %d bytes, want at most %d", got, slices*slice+alone)
	}
}

// TestAFilmOfManySlicesStreamsInConstantMemory reads a film that is much larger than the
// cache from end to end.
func TestAFilmOfManySlicesStreamsInConstantMemory(t *testing.T) {
	const size, most = 128 << 20, 64 << 20
	c := newFilmOrigin(t, size)
	e := c.edge(t, "cache: {slice: 256KiB, memory: {max_bytes: 8MiB, max_object_bytes: 1MiB}}")
	base := heapInUse()
	s := dial(t, e.Address)
	res, err := s.head(asGet("/film"))
	if err != nil {
		t.Fatal(err)
	}
	if got, peak := readWatching(t, res, size/8); got != size || peak > base+most {
		t.Errorf("got %d bytes with the heap %d MiB larger; want %d bytes and at most %d MiB", got, (peak-base)>>20, size, most>>20)
	}
}

// TestNoAnswerMixesVersions: clients read ranges at random while the film changes, from
// a cache that is too small for it. An answer is of one version, or visibly cut.
func TestNoAnswerMixesVersions(t *testing.T) {
	const slice, size, versions, clients = 64 << 10, 1_200_000, 12, 4
	c := newFilmOrigin(t, size)
	e := c.edge(t, "cache: {slice: 64KiB, memory: {max_bytes: 1MiB, max_object_bytes: 64KiB}}")
	var all sync.WaitGroup
	var whole, cut atomic.Int64
	for n := range clients {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			for i := range 150 {
				if n == 0 && i%(150/versions) == 0 {
					c.version.Add(1)
				}
				first := r.Int64N(size)
				last := min(size-1, first+r.Int64N(5*slice))
				broken, err := readFilmRange(e, first, last)
				if err != nil {
					t.Errorf("client %d, request %d: %v", n, i, err)
					return
				}
				if broken {
					cut.Add(1)
				} else {
					whole.Add(1)
				}
			}
		})
	}
	all.Wait()
	if got := whole.Load(); got < clients*150/2 {
		t.Errorf("got %d whole answers and %d cut ones, want more whole ones", got, cut.Load())
	}
}
