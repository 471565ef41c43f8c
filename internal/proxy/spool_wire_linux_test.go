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

	"edgeproxy/internal/cache/spool"
	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

const longBytes = 20 << 20

var veryLongText = sync.OnceValue(func() string { return testkit.Numbered(longBytes) })

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
				c.Say(fmt.Sprintf("%sContent-Length: %d\r\n\r\n", head, len(text)))
				c.Say(text[:len(text)/2])
				c.UntilClosed()
				return
			case "/length":
				c.Say(fmt.Sprintf("%sContent-Length: %d\r\n\r\n", head, len(text)))
				c.Say(text)
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

// usualWays are all ways, or for the quick run two that have each framing and each sort of body.
func usualWays() []string {
	if testing.Short() {
		return []string{"/length", "/chunks?alone"}
	}
	return ways
}

// spooled is an edge before a longTextServer, with one connection to it and a spool.
func spooled(t *testing.T, folder string, limit int64, text string) (*edgetest.Edge, *spool.Spool) {
	t.Helper()
	app := edgetest.StartOrigin(t, nil, longTextServer(text))
	e := start(t, fmt.Sprintf(`
admission: {policy: never} # nothing goes on for the store
limits: {spool_path: %q, spool_bytes: %dB, response_buffer: 256KiB, origin_share: 1}
origins: {app: {servers: ["http://{origin}"], max_connections: 2, queue: {requests: 100, wait: 1h}}}
`, folder, limit), smallBuffers(edgetest.Options{Origin: app.Address}))
	return e, e.Proxy.Spool
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
	text := veryLongText()
	for _, target := range usualWays() {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
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
		})
	}
}

// TestWithAFullSpoolTheOriginWaits: the response goes on at the pace of its client, and nothing is
// wrong with it. The disk is full, or the bound of all files is reached.
func TestWithAFullSpoolTheOriginWaits(t *testing.T) {
	text := veryLongText()
	f := func(name string, limit int64, folder func(t *testing.T) string) {
		for _, target := range usualWays() {
			t.Run(name+target, func(t *testing.T) {
				t.Parallel()
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

// leaving is a case of a client that leaves while its answer waits for something.
type leaving struct {
	name string
	play func(t *testing.T, leave func(c *net.TCPConn))
}

// TestAClientThatLeavesTakesAllWithIt: whatever it was that its answer waited for. After all of them
// there are no more goroutines and descriptors than before.
func TestAClientThatLeavesTakesAllWithIt(t *testing.T) {
	cases := slices.Concat(leavingBeforeTheEndIsOnDisk(), leavingBehindOthers())
	step := 1
	if testing.Short() {
		step = 5 // which meets some of each function
	}
	goroutines, descriptors := len(goroutinesNow()), openDescriptors(t)
	t.Run("leaving", func(t *testing.T) {
		for i := 0; i < len(cases); i += step {
			for way, leave := range leavers {
				t.Run(cases[i].name+", "+way, func(t *testing.T) {
					t.Parallel()
					cases[i].play(t, leave)
				})
			}
		}
	})
	if !comesTrue(func() bool { return len(goroutinesNow()) <= goroutines && openDescriptors(t) <= descriptors }) {
		t.Errorf("%d descriptors, and %d goroutines; before there were %d and %d\n%s",
			openDescriptors(t), len(goroutinesNow()), descriptors, goroutines, strings.Join(goroutinesNow(), "\n\n"))
	}
}

// leavingBeforeTheEndIsOnDisk are the clients whose answer goes to the spool.
func leavingBeforeTheEndIsOnDisk() (cases []leaving) {
	type edge struct {
		*edgetest.Edge
		files  *spool.Spool
		failed int64 // at the client before
	}
	f := func(name, target string, limit int64, here func(t *testing.T, e *edge) bool) {
		cases = append(cases, leaving{name, func(t *testing.T, leave func(c *net.TCPConn)) {
			t.Helper()
			folder := t.TempDir()
			e := &edge{}
			e.Edge, e.files = spooled(t, folder, limit, veryLongText())
			for range 3 {
				s := dialSmallBuffers(t, e.Address)
				if target == "/silent" {
					if _, err := io.WriteString(s, asGet(target)); err != nil {
						t.Fatal(err)
					}
				} else {
					_ = s.Close()
					s, _ = startStalled(t, e.Edge, target)
				}
				eventually(t, name, func() bool { return here(t, e) })
				leave(s.Conn.(*net.TCPConn))
				wantAllReleased(t, e.Edge, e.files, folder)
			}
		}})
	}
	f("before the head", "/silent", 1<<30, func(t *testing.T, e *edge) bool { t.Helper(); return active(t, e.Edge) == 1 })
	for _, target := range ways {
		f("at once, "+target, target, 1<<30, func(*testing.T, *edge) bool { return true })
		f("on disk, "+target, target, 1<<30, func(t *testing.T, e *edge) bool {
			t.Helper()
			return active(t, e.Edge) == 0 && e.files.Stats().Bytes > 0
		})
		f("where the spool is full, "+target, target, 1<<20, func(_ *testing.T, e *edge) bool {
			was := e.failed
			e.failed = e.files.Stats().Failed
			return e.failed > 0 && e.failed != was
		})
	}
	for _, target := range []string{"/stuck?alone", "/stuck"} {
		f("half way to the disk, "+target, target, 1<<30, func(_ *testing.T, e *edge) bool { return e.files.Stats().Bytes > longBytes/4 })
	}
	return cases
}

// fallenBehind is a client that fell behind, and its origin.
type fallenBehind struct {
	*longTextOrigin
	e     *edgetest.Edge
	slow  *http.Response
	asked chan struct{} // the origin has the request for the rest
}

// readsOn reads the rest in a goroutine, until the end of the test.
func (b *fallenBehind) readsOn(t *testing.T) {
	t.Helper()
	got := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, b.slow.Body); close(got) }()
	t.Cleanup(func() { <-got })
}

// goesOnFromTheOrigin reports whether the rest comes from there.
func (b *fallenBehind) goesOnFromTheOrigin(t *testing.T) bool {
	t.Helper()
	return b.e.Metric(t, "edgeproxy_readers_behind_total", "route=default", "rest=origin") == 1
}

// takes reads the rest until done.
func (b *fallenBehind) takes(t *testing.T, done func() bool) {
	t.Helper()
	for piece, taken := make([]byte, 16<<10), 0; !done(); taken += len(piece) {
		if _, err := io.ReadFull(b.slow.Body, piece); err != nil || taken > longTextBytes-1<<20 {
			t.Fatalf("after %d bytes: %v", taken, err)
		}
	}
}

// headOfRest is that of the right answer to a request for what comes behind at.
func (b *fallenBehind) headOfRest(at int) string {
	return b.part(at, longTextBytes-1, longTextBytes, "ETag: \"1\"\r\n") + fmt.Sprintf("Content-Length: %d\r\n\r\n", longTextBytes-at)
}

// leavingBehindOthers are the clients that fell behind others.
func leavingBehindOthers() (cases []leaving) {
	f := func(name string, rest func(b *fallenBehind, c *edgetest.Conn, at int), here func(t *testing.T, b *fallenBehind)) {
		for _, chunked := range []bool{true, false} {
			cases = append(cases, leaving{fmt.Sprintf("%s, chunked %v", name, chunked), func(t *testing.T, leave func(c *net.TCPConn)) {
				t.Helper()
				b := &fallenBehind{longTextOrigin: newLongTextOrigin(chunked, "ETag: \"1\"\r\n"), asked: make(chan struct{}, 1)}
				b.rest = func(c *edgetest.Conn, at int) { rest(b, c, at) }
				b.e, b.slow, _ = b.leaveBehind(t, b.yaml(), "1.1")
				here(t, b)
				leave(b.longTextOrigin.slow.Conn.(*net.TCPConn))
				eventually(t, "nothing is held", func() bool {
					return active(t, b.e) == 0 && b.e.Metric(t, "edgeproxy_inflight_bytes") == 0 && b.e.Metric(t, "edgeproxy_requests_in_flight") == 0 && b.e.Store.Stats().PinnedBytes == 0
				})
			}})
		}
	}
	f("left behind", nil, func(*testing.T, *fallenBehind) {})
	f("waiting for the rest", func(b *fallenBehind, c *edgetest.Conn, _ int) { b.asked <- struct{}{}; c.UntilClosed() }, func(t *testing.T, b *fallenBehind) {
		t.Helper()
		b.readsOn(t)
		<-b.asked
		if active(t, b.e) != 1 {
			t.Error("nobody asks the origin")
		}
	})
	f("with the rest on its way", func(b *fallenBehind, c *edgetest.Conn, at int) { c.Say(b.headOfRest(at) + b.text[at:]) }, func(t *testing.T, b *fallenBehind) {
		t.Helper()
		b.takes(t, func() bool { return b.goesOnFromTheOrigin(t) })
	})
	f("with a rest that stays away", func(b *fallenBehind, c *edgetest.Conn, at int) { c.Say(b.headOfRest(at)); c.UntilClosed() }, func(t *testing.T, b *fallenBehind) {
		t.Helper()
		b.readsOn(t)
		eventually(t, "it goes on from the origin", func() bool { return b.goesOnFromTheOrigin(t) })
	})
	return cases
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
	stacks, n := make([]byte, 1<<20), 1<<20
	for ; n == len(stacks); n = runtime.Stack(stacks, true) {
		stacks = make([]byte, 2*len(stacks))
	}
	all := strings.Split(string(stacks[:n]), "\n\n")
	return slices.DeleteFunc(all, func(s string) bool { return strings.Contains(s, "(*workerPool).Start") })
}
