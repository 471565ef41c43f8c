package edgetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/test/testkit"
)

// slowWorld is a world with these settings and answers, in a bubble. Bodies called large are
// of that size, each place of them another.
func slowWorld(t *testing.T, steps string, large map[string]int, play func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		parsed, err := parse(steps)
		if err == nil {
			err = w.run(parsed)
		}
		if err != nil {
			t.Fatal(err)
		}
		for target, size := range large {
			w.answers[target].body = testkit.Numbered(size)
		}
		play(t, w)
		synctest.Wait()
		if err := w.books(); err != nil {
			t.Error(err)
		}
		for _, gauge := range []string{"edgeproxy_inflight_bytes", "edgeproxy_requests_in_flight"} {
			if n := w.edge.Metric(t, gauge); n != 0 {
				t.Errorf("%s is %v afterwards, want 0", gauge, n)
			}
		}
	})
}

// download is an answer that a client takes at a pace of its own.
type download struct {
	res  *http.Response
	text strings.Builder
	err  error // nil: the body came to its end
	took time.Duration
}

// get asks for target and takes piece bytes of the body every so often, leave of them at
// most; 0 is all.
func (w *world) get(target string, piece int, every time.Duration, leave int) *download {
	d := &download{}
	begun := time.Now()
	defer func() { d.took = time.Since(begun) }()
	c, err := w.clients.dial(context.Background(), "", "")
	if err != nil {
		d.err = err
		return d
	}
	defer c.Close()
	if _, d.err = io.WriteString(c, "GET "+target+" HTTP/1.1\r\nHost: edge.test\r\nConnection: close\r\n\r\n"); d.err != nil {
		return d
	}
	if d.res, d.err = http.ReadResponse(bufio.NewReaderSize(c, 64), nil); d.err != nil {
		return d
	}
	for buffer := make([]byte, piece); ; time.Sleep(every) {
		n, err := io.ReadFull(d.res.Body, buffer)
		d.text.Write(buffer[:n])
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && d.res.ContentLength >= 0 && int64(d.text.Len()) == d.res.ContentLength:
			return d
		case err != nil:
			d.err = err
			return d
		case leave > 0 && d.text.Len() >= leave:
			return d
		}
	}
}

func (d *download) cacheStatus() string {
	if d.res == nil {
		return ""
	}
	return strings.TrimPrefix(d.res.Header.Get("Cache-Status"), Node+"; ")
}

// TestNineSlowClientsSwitchedTheCacheOff: nine first sightings of 8 MiB, read at 9.5 KB/s, held
// all of inflight_bytes; all 63 admitted fills meanwhile ended inflight-limit, and had been told
// stored.
func TestNineSlowClientsSwitchedTheCacheOff(t *testing.T) {
	const object, admitted, fills = 8 << 20, 1 << 20, 63
	steps := "config\n  cache: {memory: {max_bytes: 64MiB, max_object_bytes: 8MiB}}\n"
	for i := range 9 {
		steps += fmt.Sprintf("origin /slow%d\n  Cache-Control: max-age=600\n", i)
	}
	steps += "origin /admitted\n  Cache-Control: max-age=600\nclient HEAD /admitted\n"
	large := map[string]int{"/admitted": admitted}
	for i := range 9 {
		large[fmt.Sprintf("/slow%d", i)] = object
	}
	slowWorld(t, steps, large, func(t *testing.T, w *world) {
		t.Helper()
		var slow sync.WaitGroup
		for i := range 9 {
			slow.Go(func() { _ = w.get(fmt.Sprintf("/slow%d", i), 9500, time.Second, 60*9500) })
		}
		time.Sleep(time.Minute / 2)
		for i := range fills {
			d := w.get("/admitted", 1<<20, 0, 0)
			if got := d.cacheStatus(); got != "fwd=uri-miss; stored" || d.err != nil || d.text.String() != testkit.Numbered(admitted) {
				t.Errorf("admitted fill %d: got %q, %d bytes, %v", i, got, d.text.Len(), d.err)
			}
			if _, _, err := w.edge.Proxy.Purge("all", nil, false); err != nil {
				t.Fatal(err)
			}
		}
		if n := w.edge.Metric(t, "edgeproxy_not_stored_total", "route=default", "reason=inflight-limit"); n != 0 {
			t.Errorf("%v fills ended inflight-limit", n)
		}
		slow.Wait()
	})
}

// TestOneSlowReaderStoppedItsFlight: of a body that is too large to be stored the slowest of
// four readers stopped all of them where it had outgrown the limit.
func TestOneSlowReaderStoppedItsFlight(t *testing.T) {
	const size = 6 << 20
	f := func(name, answer, rest string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			steps := "config\n  admission: {policy: always}\n  cache: {memory: {max_object_bytes: 1000000B}}\norigin /a\n  Cache-Control: max-age=600\n  chunked\n  delay 1s\n  drip 100000 0s\n" + answer
			slowWorld(t, steps, map[string]int{"/a": size}, func(t *testing.T, w *world) {
				t.Helper()
				want := testkit.Numbered(size)
				var readers sync.WaitGroup
				for i := range 4 {
					readers.Go(func() {
						time.Sleep(time.Duration(i) * time.Millisecond)
						if i > 0 {
							if d := w.get("/a", 64<<10, 0, 0); d.err != nil || d.text.String() != want || d.took > 2*time.Second {
								t.Errorf("a fast reader: got %d bytes, %v, after %v", d.text.Len(), d.err, d.took)
							}
							return
						}
						d := w.get("/a", 4<<10, 10*time.Millisecond, 0)
						if whole := rest != "cut"; (d.err == nil) != whole || !strings.HasPrefix(want, d.text.String()) || whole && d.text.Len() != size {
							t.Errorf("the slow reader: got %d bytes, %v", d.text.Len(), d.err)
						}
					})
				}
				readers.Wait()
				if n := w.edge.Metric(t, "edgeproxy_readers_behind_total", "route=default", "rest="+rest); n != 1 {
					t.Errorf("%v readers left behind with their rest %s, want 1", n, rest)
				}
			})
		})
	}
	f("resumed", "  ranges\n  ETag: \"1\"\n", "origin")
	f("with a weak tag", "  ranges\n  ETag: W/\"1\"\n", "cut")
	f("without ranges", "  ETag: \"1\"\n", "cut")
}

// TestAClientThatFellBehindGoesOnFromTheStore: where the object is stored by then. There was no memory
// for it when it was fetched first.
func TestAClientThatFellBehindGoesOnFromTheStore(t *testing.T) {
	const size = 3 << 20
	steps := "config\n  admission: {policy: always}\n  limits: {inflight_bytes: 4400000B, inflight_share: 1.0, response_buffer: 64KiB, write_idle_timeout: 10m}\n" +
		"origin /other\n  Cache-Control: max-age=600\n  size 3900000\n  pause 5s\n" +
		"origin /a\n  Cache-Control: max-age=600\n  ETag: \"1\"\n  chunked\n  delay 1s\n  drip 100000 0s\n"
	slowWorld(t, steps, map[string]int{"/a": size}, func(t *testing.T, w *world) {
		t.Helper()
		want := testkit.Numbered(size)
		var readers sync.WaitGroup
		read := func(at time.Duration, target string, every time.Duration, status string) {
			readers.Go(func() {
				time.Sleep(at)
				d := w.get(target, 16<<10, every, 0)
				if d.err != nil || target == "/a" && d.text.String() != want || d.cacheStatus() != status {
					t.Errorf("%s at %v: got %q, %d bytes, %v", target, at, d.cacheStatus(), d.text.Len(), d.err)
				}
			})
		}
		read(0, "/other", 0, "fwd=uri-miss; stored")
		read(time.Second, "/a", 8*time.Second, "fwd=uri-miss; stored")
		read(1500*time.Millisecond, "/a", 0, "fwd=uri-miss; stored; collapsed")
		read(6*time.Second, "/a", 0, "fwd=uri-miss; stored")
		readers.Wait()
		if n := w.edge.Metric(t, "edgeproxy_readers_behind_total", "route=default", "rest=stored"); n != 1 {
			t.Errorf("%v readers went on from the store, want 1", n)
		}
	})
}

// TestASlowReaderOfASliceStopsNobody: nor is a slice that nobody has admitted read further
// ahead of it than that.
func TestASlowReaderOfASliceStopsNobody(t *testing.T) {
	const size, slice = 6 << 20, 2 << 20
	steps := "config\n  admission: {policy: always}\n  cache: {slice: 2MiB}\n" +
		"origin /a\n  Cache-Control: max-age=600\n  ETag: \"1\"\n  ranges\n  drip 100000 0s\n"
	slowWorld(t, steps, map[string]int{"/a": size}, func(t *testing.T, w *world) {
		t.Helper()
		want := testkit.Numbered(size)
		var readers sync.WaitGroup
		for i := range 3 {
			readers.Go(func() {
				pause := time.Duration(0)
				if i == 0 {
					pause = 10 * time.Millisecond
				}
				d := w.get("/a", 8<<10, pause, 0)
				if d.err != nil || d.text.String() != want || i > 0 && d.took > time.Second {
					t.Errorf("reader %d: got %d bytes, %v, after %v", i, d.text.Len(), d.err, d.took)
				}
			})
		}
		readers.Wait()
	})
}

// TestASlowReaderOfSlicesHoldsOneAtMost: no connection where a slice is no longer than
// response_buffer, and memory for the one that it reads, which is none of limits.inflight_bytes
// once it is stored.
func TestASlowReaderOfSlicesHoldsOneAtMost(t *testing.T) {
	const size, slice = 4 << 20, 512 << 10
	f := func(policy string, most float64) {
		t.Helper()
		t.Run(policy, func(t *testing.T) {
			steps := "config\n  admission: {policy: " + policy + "}\n  cache: {slice: 512KiB}\n" +
				"origin /a\n  Cache-Control: max-age=600\n  ETag: \"1\"\n  ranges\n"
			slowWorld(t, steps, map[string]int{"/a": size}, func(t *testing.T, w *world) {
				t.Helper()
				var reading sync.WaitGroup
				reading.Go(func() {
					if d := w.get("/a", 100_000, time.Second, 0); d.err != nil || d.text.String() != testkit.Numbered(size) {
						t.Errorf("got %d bytes, %v", d.text.Len(), d.err)
					}
				})
				time.Sleep(time.Second / 2)
				for range 40 {
					if n := w.edge.Metric(t, "edgeproxy_inflight_bytes"); n > most {
						t.Errorf("%v bytes of memory are taken, want at most %v", n, most)
					}
					if n := w.edge.Metric(t, "edgeproxy_origin_connections", "origin=app", "state=active"); n != 0 {
						t.Errorf("%v connections are taken", n)
					}
					time.Sleep(time.Second)
				}
				reading.Wait()
				if n := w.edge.Metric(t, "edgeproxy_readers_behind_total", "route=default", "rest=cut"); n != 0 {
					t.Errorf("%v readers were cut off", n)
				}
			})
		})
	}
	f("second-hit", slice)
	f("always", 0)
}

// TestSlowDownloadsHeldEveryConnection: of what cannot be stored. A connection to the origin was
// taken for as long as its client took.
func TestSlowDownloadsHeldEveryConnection(t *testing.T) {
	f := func(name string, size int, chunked, disk bool) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			steps := "config\n  origins: {app: {servers: [\"http://{origin}\"], max_connections: 2}}\n"
			if disk {
				steps += "  limits: {spool_path: \"{dir}\"}\n"
			}
			steps += "origin /large\n  Cache-Control: no-store\n  drip 50000 0s\n"
			if chunked {
				steps += "  chunked\n"
			}
			steps += "origin /miss\n  Cache-Control: max-age=60\n  body small\n"
			slowWorld(t, steps, map[string]int{"/large": size}, func(t *testing.T, w *world) {
				t.Helper()
				want := testkit.Numbered(size)
				var slow sync.WaitGroup
				for i := range 6 {
					slow.Go(func() {
						time.Sleep(time.Duration(i) * time.Second)
						pause := time.Second
						if i%2 == 0 {
							pause = 20 * time.Second // for so long it takes nothing
						}
						d := w.get("/large", 100_000, pause, 0)
						if d.err != nil || d.text.String() != want {
							t.Errorf("a slow client got %d bytes, %v", d.text.Len(), d.err)
						}
					})
				}
				time.Sleep(8 * time.Second)
				if d := w.get("/miss", 100, 0, 0); d.err != nil || d.res.StatusCode != http.StatusOK || d.took > time.Second {
					t.Errorf("a miss beside them: got %v, %v, after %v", d.res, d.err, d.took)
				}
				slow.Wait()
				if !disk {
					return
				}
				bytes, files, written := w.edge.Metric(t, "edgeproxy_spool_bytes"), w.edge.Metric(t, "edgeproxy_spool_files"), w.edge.Metric(t, "edgeproxy_spooled_bytes_total")
				if bytes != 0 || files != 0 || written == 0 {
					t.Errorf("spool: %v bytes in %v files, %v written", bytes, files, written)
				}
			})
		})
	}
	f("in memory", 900_000, false, false)
	f("in memory, chunked", 900_000, true, false)
	f("on disk", 5_000_000, false, true)
	f("on disk, chunked", 5_000_000, true, true)
}
