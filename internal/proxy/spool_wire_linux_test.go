package proxy_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/edgetest"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/spool"
	"edgeproxy/internal/testkit"
)

const longBytes = 20 << 20

// longTextServer is an origin of one long text that nobody may store, as /length and /chunks; it stays
// half way with /stuck, and answers /quick at once.
func longTextServer(text string) func(c *edgetest.Conn) {
	const head = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n"
	return func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			switch r.URL.Path {
			case "/silent":
				c.UntilClosed()
				return
			case "/quick":
				c.Say(head + "Content-Length: 2\r\n\r\nok")
			case "/stuck":
				c.Say(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(text), text[:len(text)/2]))
				c.UntilClosed()
				return
			case "/length":
				c.Say(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(text), text))
			default:
				c.Say(head + "Transfer-Encoding: chunked\r\n\r\n")
				for at := 0; at < len(text); at += 1 << 20 {
					c.Say(fmt.Sprintf("100000\r\n%s\r\n", text[at:at+1<<20]))
				}
				c.Say("0\r\n\r\n")
			}
		}
	}
}

// ways are those of a body to a client alone: by a flight, or read ahead by itself.
var ways = []string{"/length", "/chunks", "/length?alone", "/chunks?alone"}

// spooled is an edge before a longTextServer, with one connection to it and a spool.
func spooled(t *testing.T, folder string, limit int64, text string) (*edgetest.Edge, *spool.Spool) {
	t.Helper()
	files, err := spool.New(folder, limit)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := startBefore(t, edgetest.Options{
		Rule:     admission.Rule{Policy: admission.Never}, // nothing goes on for the store
		Listener: smallBufferListener(t), ResponseBuffer: 256 << 10, Spool: files,
		Origin: origin.Options{MaxConnections: 2, QueueRequests: 100, QueueWait: time.Hour},
	}, longTextServer(text))
	return e, files
}

func active(t *testing.T, e *edgetest.Edge) float64 {
	t.Helper()
	return e.Metric(t, "edgeproxy_origin_connections", "origin=app", "state=active")
}

// startStalled asks for target and takes the first bytes of the body.
func startStalled(t *testing.T, e *edgetest.Edge, target string) (*socket, *http.Response) {
	t.Helper()
	s := dialSmallBuffers(t, e.Address)
	request := asGet(target)
	if strings.HasSuffix(target, "?alone") { // else it leads a flight, which nobody joins
		request = strings.TrimSuffix(request, "\r\n") + "Cache-Control: no-store\r\n\r\n"
	}
	res, err := s.head(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(res.Body, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	return s, res
}

func readsTheRest(t *testing.T, res *http.Response, text string) {
	t.Helper()
	if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != text[1000:] {
		t.Errorf("got %d bytes, right ones %v, and %v", len(rest), strings.HasPrefix(text[1000:], string(rest)), err)
	}
}

func wantAllReleased(t *testing.T, e *edgetest.Edge, files *spool.Spool, folder string) {
	t.Helper()
	eventually(t, "nothing is held, and no file is open", func() bool {
		st := files.Stats()
		_, open := onDisk(t, folder)
		return st.Bytes == 0 && st.Files == 0 && active(t, e) == 0 && open == 0 &&
			e.Metric(t, "edgeproxy_inflight_bytes") == 0 && e.Metric(t, "edgeproxy_requests_in_flight") == 0
	})
}

// onDisk returns what the open files of folder take, and how many they are.
func onDisk(t *testing.T, folder string) (size int64, files int) {
	t.Helper()
	descriptors, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range descriptors {
		to, _ := os.Readlink(name)
		st, err := os.Stat(name)
		if err == nil && st.Mode().IsRegular() && strings.HasPrefix(to, folder+"/") {
			size, files = size+st.Size(), files+1
		}
	}
	return size, files
}

func wantNoFileNames(t *testing.T, folder string) {
	t.Helper()
	if names, err := os.ReadDir(folder); err != nil || len(names) != 0 {
		t.Errorf("the folder has %v, %v", names, err)
	}
}

// TestASlowDownloadOnDiskFreesItsConnection, and is byte for byte what the origin sent.
func TestASlowDownloadOnDiskFreesItsConnection(t *testing.T) {
	text := testkit.Numbered(longBytes)
	for _, target := range ways {
		folder := t.TempDir()
		e, files := spooled(t, folder, 1<<30, text)
		_, one := startStalled(t, e, target)
		_, two := startStalled(t, e, target)
		eventually(t, "the origin's connections are free", func() bool { return active(t, e) == 0 })
		ask(t, e, asGet("/quick")).want(t, 200, "fwd=uri-miss; detail=no-store", "ok")
		if n := e.Metric(t, "edgeproxy_inflight_bytes"); n > 2*(256+64)<<10 {
			t.Errorf("%v bytes of memory are taken", n)
		}
		if size, n := onDisk(t, folder); n != 2 || size < longBytes || size != files.Stats().Bytes {
			t.Errorf("%d files of %d bytes, %+v", n, size, files.Stats())
		}
		wantNoFileNames(t, folder)
		readsTheRest(t, one, text)
		readsTheRest(t, two, text)
		wantAllReleased(t, e, files, folder)
	}
}

// TestWithAFullSpoolTheOriginWaits: the response goes on at the pace of its client, and nothing is
// wrong with it. The disk is full, or the bound of all files is reached.
func TestWithAFullSpoolTheOriginWaits(t *testing.T) {
	text := testkit.Numbered(longBytes)
	f := func(name string, limit int64, folder func(t *testing.T) string) {
		for _, target := range ways {
			t.Run(name+target, func(t *testing.T) {
				where := folder(t)
				e, files := spooled(t, where, limit, text)
				_, one := startStalled(t, e, target)
				_, two := startStalled(t, e, target)
				eventually(t, "the spool is full", func() bool { return files.Stats().Failed >= 2 })
				if n := active(t, e); n != 2 {
					t.Errorf("%v connections are taken, want 2: there is no room for what they have", n)
				}
				if size, _ := onDisk(t, where); size > limit {
					t.Errorf("%d bytes on disk, %d allowed", size, limit)
				}
				wantNoFileNames(t, where)
				var both sync.WaitGroup
				both.Go(func() { readsTheRest(t, one, text) })
				both.Go(func() { readsTheRest(t, two, text) })
				both.Wait()
				wantAllReleased(t, e, files, where)
			})
		}
	}
	f("the bound is reached", 4<<20, func(t *testing.T) string { t.Helper(); return t.TempDir() })
	f("the disk is full", 1<<30, func(t *testing.T) string { t.Helper(); return testkit.SmallDisk(t, 2<<20) })
}

// TestAClientThatLeavesTakesAllWithIt: whatever it was that its answer waited for. After each
// there are no more goroutines and descriptors than before.
func TestAClientThatLeavesTakesAllWithIt(t *testing.T) {
	text := testkit.Numbered(longBytes)
	f := func(name string, play func(t *testing.T, leave func(c *net.TCPConn))) {
		for way, leave := range leavers {
			goroutines, descriptors := len(goroutinesNow()), openDescriptors(t)
			t.Run(name+", "+way, func(t *testing.T) { play(t, leave) })
			if !comesTrue(func() bool { return len(goroutinesNow()) <= goroutines && openDescriptors(t) <= descriptors }) {
				t.Errorf("%s, %s: %d descriptors, and %d goroutines; before there were %d and %d\n%s", name, way,
					openDescriptors(t), len(goroutinesNow()), descriptors, goroutines, strings.Join(goroutinesNow(), "\n\n"))
			}
		}
	}
	onSpool := func(name, target string, limit int64, here func(t *testing.T, e *edgetest.Edge, files *spool.Spool) bool) {
		f(name, func(t *testing.T, leave func(c *net.TCPConn)) {
			t.Helper()
			folder := t.TempDir()
			e, files := spooled(t, folder, limit, text)
			for range 3 {
				s := dialSmallBuffers(t, e.Address)
				if target == "/silent" {
					if _, err := io.WriteString(s, asGet(target)); err != nil {
						t.Fatal(err)
					}
				} else {
					_ = s.Close()
					s, _ = startStalled(t, e, target)
				}
				eventually(t, name, func() bool { return here(t, e, files) })
				leave(s.Conn.(*net.TCPConn))
				wantAllReleased(t, e, files, folder)
			}
		})
	}
	onSpool("before the head", "/silent", 1<<30, func(t *testing.T, e *edgetest.Edge, _ *spool.Spool) bool { t.Helper(); return active(t, e) == 1 })
	for _, target := range ways {
		onSpool("at once, "+target, target, 1<<30, func(*testing.T, *edgetest.Edge, *spool.Spool) bool { return true })
		onSpool("on disk, "+target, target, 1<<30, func(t *testing.T, e *edgetest.Edge, files *spool.Spool) bool {
			t.Helper()
			return active(t, e) == 0 && files.Stats().Bytes > 0
		})
		failed := int64(0)
		onSpool("where the spool is full, "+target, target, 1<<20, func(_ *testing.T, _ *edgetest.Edge, files *spool.Spool) bool {
			was := failed
			failed = files.Stats().Failed
			return failed > 0 && failed != was
		})
	}
	onSpool("half way to the disk, alone", "/stuck?alone", 1<<30, func(_ *testing.T, _ *edgetest.Edge, files *spool.Spool) bool {
		return files.Stats().Bytes > longBytes/4
	})
	onSpool("half way to the disk", "/stuck", 1<<30, func(_ *testing.T, _ *edgetest.Edge, files *spool.Spool) bool {
		return files.Stats().Bytes > longBytes/4
	})

	behind := func(name string, rest func(s *longTextOrigin, c *edgetest.Conn, at int), here func(t *testing.T, e *edgetest.Edge, slow *http.Response)) {
		for _, chunked := range []bool{true, false} {
			f(fmt.Sprintf("%s, chunked %v", name, chunked), func(t *testing.T, leave func(c *net.TCPConn)) {
				t.Helper()
				s := newLongTextOrigin(chunked, "ETag: \"1\"\r\n")
				s.rest = func(c *edgetest.Conn, at int) { rest(s, c, at) }
				e, slow, _ := s.behind(t, s.options(), "1.1")
				here(t, e, slow)
				leave(s.slow.Conn.(*net.TCPConn))
				eventually(t, "nothing is held", func() bool {
					return active(t, e) == 0 && e.Metric(t, "edgeproxy_inflight_bytes") == 0 && e.Metric(t, "edgeproxy_requests_in_flight") == 0 && e.Store.Stats().PinnedBytes == 0
				})
			})
		}
	}
	part := func(s *longTextOrigin, at int) string {
		return s.part(at, longTextBytes-1, longTextBytes, "ETag: \"1\"\r\n") + fmt.Sprintf("Content-Length: %d\r\n\r\n", longTextBytes-at)
	}
	takes := func(t *testing.T, slow *http.Response, until func() bool) {
		t.Helper()
		for piece, taken := make([]byte, 16<<10), 0; !until(); taken += len(piece) {
			if _, err := io.ReadFull(slow.Body, piece); err != nil || taken > longTextBytes-1<<20 {
				t.Fatalf("after %d bytes: %v", taken, err)
			}
		}
	}
	behind("left behind", nil, func(*testing.T, *edgetest.Edge, *http.Response) {})
	asked := make(chan struct{}, 1)
	behind("waiting for the rest", func(_ *longTextOrigin, c *edgetest.Conn, _ int) { asked <- struct{}{}; c.UntilClosed() }, func(t *testing.T, e *edgetest.Edge, slow *http.Response) {
		t.Helper()
		got := make(chan struct{})
		go func() { _, _ = io.Copy(io.Discard, slow.Body); close(got) }()
		<-asked
		if active(t, e) != 1 {
			t.Error("nobody asks the origin")
		}
		t.Cleanup(func() { <-got })
	})
	behind("with the rest on its way", func(s *longTextOrigin, c *edgetest.Conn, at int) { c.Say(part(s, at) + s.text[at:]) }, func(t *testing.T, e *edgetest.Edge, slow *http.Response) {
		t.Helper()
		takes(t, slow, func() bool {
			return e.Metric(t, "edgeproxy_readers_behind_total", "route=default", "rest=origin") == 1
		})
	})
	behind("with a rest that stays away", func(s *longTextOrigin, c *edgetest.Conn, at int) { c.Say(part(s, at)); c.UntilClosed() }, func(t *testing.T, e *edgetest.Edge, slow *http.Response) {
		t.Helper()
		got := make(chan struct{})
		go func() { _, _ = io.Copy(io.Discard, slow.Body); close(got) }()
		t.Cleanup(func() { <-got })
		eventually(t, "it goes on from the origin", func() bool {
			return e.Metric(t, "edgeproxy_readers_behind_total", "route=default", "rest=origin") == 1
		})
	})
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// goroutinesNow returns the stacks of all goroutines but that of the server, which sleeps for ten
// seconds at a time and looks only then whether the server has ended.
func goroutinesNow() []string {
	stacks := make([]byte, 1<<20)
	all := strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n")
	return slices.DeleteFunc(all, func(s string) bool { return strings.Contains(s, "(*workerPool).Start") })
}
