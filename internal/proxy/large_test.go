package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// TestLargeBodyStreamsInConstantMemory passes a body that is far above the object
// limit, and looks at the heap on the way.
func TestLargeBodyStreamsInConstantMemory(t *testing.T) {
	testkit.Plain(t, "looks at the heap, and moves 768 MiB")
	size := int64(testkit.Times(256, 64)) << 20
	slack := size / 2 // what is held back would be nearly all of it; what is allocated during a collection counts as well
	f := func(name, framing string, chunked bool, method string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			e, _ := startBefore(t, always+"cache: {memory: {max_object_bytes: 1MiB}}", pour(framing, chunked, size))
			base := heapInUse()
			s := dial(t, e.Address)
			res, err := s.head(method + " /big HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 0\r\n\r\n")
			if err != nil {
				t.Fatal(err)
			}
			got, most := readWatching(t, res, size/16)
			if got != size {
				t.Errorf("got %d bytes, want %d", got, size)
			}
			if most > base+slack {
				t.Errorf("heap grew by %d MiB, want at most %d", (most-base)>>20, slack>>20)
			}
			if objects := e.Store.Stats().Objects; objects != 0 {
				t.Errorf("got %d objects stored, want 0", objects)
			}
		})
	}

	f("length", fmt.Sprintf("Content-Length: %d", size), false, "GET")
	f("chunked", "Transfer-Encoding: chunked", true, "GET")
	f("passed", "Transfer-Encoding: chunked", true, "POST")
}

// pour sends size bytes as fast as they are taken.
func pour(framing string, chunked bool, size int64) func(*edgetest.Conn) {
	piece := strings.Repeat("x", 64<<10)
	last := ""
	if chunked {
		piece, last = fmt.Sprintf("%x\r\n%s\r\n", len(piece), piece), "0\r\n\r\n"
	}
	return func(c *edgetest.Conn) {
		for c.Next() != nil {
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\n" + framing + "\r\n\r\n")
			for sent := int64(0); sent < size; sent += 64 << 10 {
				if !c.Say(piece) {
					return
				}
			}
			c.Say(last)
		}
	}
}

// readWatching reads the body, looks at the heap every few bytes, and returns the
// length and the most there was.
func readWatching(t *testing.T, res *http.Response, every int64) (size, most int64) {
	t.Helper()
	for {
		n, err := io.CopyN(io.Discard, res.Body, every)
		size += n
		most = max(most, heapInUse())
		if errors.Is(err, io.EOF) {
			return size, most
		}
		if err != nil {
			t.Fatalf("after %d bytes: %v", size, err)
		}
	}
}

// heapInUse returns what the last collection has found alive. What is allocated since is
// no part of it: on a busy machine that may be much, and all of it garbage. It collects
// twice, for what is allocated during a collection outlives that.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return int64(live[0].Value.Uint64())
}

// TestStalledReaderIsDropped: a client that takes nothing for write_idle_timeout loses its
// connection, and with it the fetch ends.
func TestStalledReaderIsDropped(t *testing.T) {
	const size = 1 << 30 // more than any socket buffers hold
	ended := make(chan struct{}, 2)
	script := pour(fmt.Sprintf("Content-Length: %d", size), false, size)
	e, _ := startBefore(t, always+"limits: {write_idle_timeout: 100ms}", func(c *edgetest.Conn) {
		script(c)
		ended <- struct{}{}
	})
	s := dial(t, e.Address)
	res, err := s.head(asGet("/big"))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the stalled request ends", func() bool { return e.Proxy.Status().RequestsInFlight == 0 })
	wait(ended)
	n, err := io.Copy(io.Discard, res.Body)
	if err == nil || n >= size {
		t.Errorf("got %d bytes and error %v, want a broken transfer", n, err)
	}
}

// TestSlowReaderGetsAll: a client that takes a little at a time, for longer than
// write_idle_timeout altogether, gets everything. (Virtual time shows it exactly, without
// the socket's buffers: TestSlowAndStalledReaders in edgetest.)
func TestSlowReaderGetsAll(t *testing.T) {
	testkit.Slow(t, "reads for twice write_idle_timeout, which is long: a busy machine keeps the client from reading for seconds")
	t.Parallel()
	const size, idle = 48 << 20, 6 * time.Second
	e, _ := startBefore(t, fmt.Sprintf("%slimits: {write_idle_timeout: %v}", always, idle), pour(fmt.Sprintf("Content-Length: %d", size), false, size))
	s := dial(t, e.Address)
	res, err := s.head(asGet("/big"))
	if err != nil {
		t.Fatal(err)
	}
	pace := time.NewTicker(idle / 20)
	defer pace.Stop()
	begun := time.Now()
	got, piece := 0, make([]byte, 1<<20)
	for err == nil {
		<-pace.C
		var n int
		n, err = io.ReadFull(res.Body, piece)
		got += n
	}
	if got != size || !errors.Is(err, io.EOF) {
		t.Errorf("got %d bytes, %v; want %d", got, err, size)
	}
	if took := time.Since(begun); took < 2*idle {
		t.Errorf("took %v, which is no test of a deadline of %v", took, idle)
	}
}
