package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/test/edgetest"
)

// rereadDigits is what the body consists of.
const rereadDigits = "0123456789"

// rereadRig is an edge whose content lies on a disk and is too long for memory, before an origin that counts what it is asked.
type rereadRig struct {
	*edgetest.Edge
	asked       atomic.Int64
	confirmed   atomic.Int64 // how many of them were confirmed by a 304
	body        string
	maxAge      string
	path        string // the path of the disk
	requestEdge *http.Client
}

// notInSlices has content stored whole, on the disk alone: hits are not copied to memory.
const notInSlices = "memory: {max_object_bytes: 64KiB}"

// newRereadRig takes what cache has beside a disk.
func newRereadRig(t *testing.T, cache, maxAge string) *rereadRig {
	t.Helper()
	r := &rereadRig{body: strings.Repeat(rereadDigits, 30_000), maxAge: maxAge}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.asked.Add(1)
		if q.Header.Get("If-None-Match") != "" {
			r.confirmed.Add(1)
		}
		w.Header().Set("Cache-Control", r.maxAge)
		w.Header().Set("Etag", `"1"`)
		http.ServeContent(w, q, "", time.Time{}, strings.NewReader(r.body))
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	r.path = filepath.Join(dir, "disk")
	yaml := fmt.Sprintf(`%scache: {disk: {path: "{dir}/disk", max_bytes: 64MiB, max_object_bytes: 8MiB, min_free: 0%%}, %s}
limits: {range_amplification: 0}
`, always, cache)
	r.Edge = startIn(t, dir, yaml, edgetest.Options{Origin: server.Listener.Addr().String()})
	r.requestEdge = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return r
}

// get asks for /a with fields, each a name and a value, and returns status, Cache-Status and content. It waits first until nothing is being
// stored: a client that wants a range has it before, and a fill that ends later replaces the record, which is not found meanwhile.
func (r *rereadRig) get(t *testing.T, method string, fields ...string) (status int, cached, body string) {
	t.Helper()
	eventually(t, "nothing is being stored", func() bool {
		return r.Disk().Stats().Drafts == 0 && r.Metric(t, "edgeproxy_inflight_bytes") == 0
	})
	req, err := http.NewRequest(method, "http://"+r.Address+"/a", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(fields); i += 2 {
		req.Header.Set(fields[i], fields[i+1])
	}
	res, err := r.requestEdge.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("after %d bytes: %v", len(b), err)
	}
	return res.StatusCode, res.Header.Get("Cache-Status"), string(b)
}

// spoil changes a byte in every 16 KiB that the disk has of the body, from there on.
func (r *rereadRig) spoil(t *testing.T, from int) {
	t.Helper()
	if err := r.Disk().Flush(); err != nil {
		t.Fatal(err)
	}
	spoilt := 0
	err := filepath.WalkDir(r.path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		whole, begin := []byte(strings.Repeat(rereadDigits, 1000)), 0
		for {
			next := bytes.Index(all[begin:], whole)
			if next < 0 {
				return nil
			}
			begin += next
			end := begin
			for bytes.HasPrefix(all[end:], []byte(rereadDigits)) {
				end += len(rereadDigits)
			}
			for at := begin + from; at < end; at += 16 << 10 {
				if _, err := f.WriteAt([]byte{'x'}, int64(at)); err != nil {
					return err
				}
				spoilt++
			}
			begin = end
		}
	})
	if err != nil || spoilt == 0 {
		t.Fatalf("got %d bytes spoilt: %v", spoilt, err)
	}
}

// What is stored on the disk and could not be read ended the answer in its midst, at each request anew.
// The client gets the origin's response, and the next one a hit.
func TestUnreadableContentIsFetchedAgain(t *testing.T) {
	f := func(name, cache string, want int, fields ...string) {
		t.Run(name, func(t *testing.T) {
			r := newRereadRig(t, cache, "max-age=3600")
			whole, sliced := r.body, strings.Contains(cache, "slice:")
			r.get(t, http.MethodGet, fields...)
			_, cached, wanted := r.get(t, http.MethodGet, fields...)
			if !sliced && len(fields) > 0 {
				r.get(t, http.MethodGet)
				_, cached, wanted = r.get(t, http.MethodGet, fields...)
			}
			if !strings.Contains(cached, "; hit") {
				t.Fatalf("got %s, want a hit", cached)
			}
			asked := r.asked.Load()
			r.spoil(t, 0)
			if status, cached, _ := r.get(t, http.MethodHead); status != http.StatusOK || !strings.Contains(cached, "; hit") {
				t.Errorf("HEAD: got %d, %s, want a hit: nothing is read for it", status, cached)
			}
			status, cached, body := r.get(t, http.MethodGet, fields...)
			if status != want || !sliced && !strings.Contains(cached, "fwd=uri-miss") || len(fields) == 0 && body != whole || len(body) < len(wanted) {
				t.Errorf("got %d, %s, %d bytes, want %d and %d of the origin", status, cached, len(body), want, len(wanted))
			}
			if r.asked.Load() == asked {
				t.Error("the origin was not asked")
			}
			r.get(t, http.MethodGet)
			if status, cached, body := r.get(t, http.MethodGet); status != http.StatusOK || !strings.Contains(cached, "; hit") || body != whole {
				t.Errorf("afterwards: got %d, %s, %d bytes, want a hit", status, cached, len(body))
			}
		})
	}

	f("whole", notInSlices, http.StatusOK)
	f("range", notInSlices, http.StatusPartialContent, "Range", "bytes=100-199")
	f("ranges, which a stream does not have", notInSlices, http.StatusOK, "Range", "bytes=100-199,300-310")
	f("slices", "slice: 100KiB", http.StatusOK)
	f("a range of slices", "slice: 100KiB", http.StatusPartialContent, "Range", "bytes=100-150000")
	f("slices in turn", "slice: 100KiB, memory: {max_object_bytes: 128KiB}", http.StatusOK)
}

// Nobody else than the store may answer.
func TestUnreadableContentIsAMissForOnlyIfCached(t *testing.T) {
	r := newRereadRig(t, notInSlices, "max-age=3600")
	r.get(t, http.MethodGet)
	r.spoil(t, 0)
	if status, cached, _ := r.get(t, http.MethodGet, "Cache-Control", "only-if-cached"); status != http.StatusGatewayTimeout || r.asked.Load() != 1 {
		t.Errorf("got %d, %s, and %d requests at the origin, want 504 and 1", status, cached, r.asked.Load())
	}
}

// What the origin confirms and nobody can read is fetched as if it had never been stored.
func TestUnreadableContentIsFetchedAfterA304(t *testing.T) {
	r := newRereadRig(t, notInSlices, "max-age=0")
	r.get(t, http.MethodGet)
	if r.get(t, http.MethodGet); r.confirmed.Load() != 1 {
		t.Fatalf("got %d confirmations, want 1", r.confirmed.Load())
	}
	r.spoil(t, 0)
	if status, cached, body := r.get(t, http.MethodGet); status != http.StatusOK || body != r.body {
		t.Errorf("got %d, %s, %d bytes, want all of it", status, cached, len(body))
	}
	if asked, confirmed := r.asked.Load(), r.confirmed.Load(); asked != 4 || confirmed != 2 {
		t.Errorf("got %d requests, %d of them conditional, want 4 and 2", asked, confirmed)
	}
}

// Behind the first byte the client has to see that its answer has broken off. The next gets another.
func TestContentThatBreaksOffIsRemoved(t *testing.T) {
	r := newRereadRig(t, notInSlices, "max-age=3600")
	r.body = strings.Repeat(rereadDigits, 100_000)
	r.get(t, http.MethodGet)
	r.spoil(t, 500_000)
	res, err := r.requestEdge.Get("http://" + r.Address + "/a")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if n, err := io.Copy(io.Discard, res.Body); err == nil || n == 0 || n > 500_000 {
		t.Errorf("got %d bytes, %v, want at most 500000 and a broken transfer", n, err)
	}
	if _, cached, body := r.get(t, http.MethodGet); !strings.Contains(cached, "fwd=uri-miss") || body != r.body {
		t.Errorf("the next: got %s and %d bytes, want a miss and all", cached, len(body))
	}
}
