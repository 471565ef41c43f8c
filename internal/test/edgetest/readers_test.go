package edgetest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlowAndStalledReaders: in memory there is no buffer between edge and client,
// so a reader's pace is exact. They are behind a socket in the file system: on others the kernel drops who stalls.
func TestSlowAndStalledReaders(t *testing.T) {
	const size = 400_000
	f := func(name, target string, every time.Duration, stall bool) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				steps, err := parse("config\n  listen: [{address: \"unix:/in/memory\"}]\n  admission: {policy: always}\n  limits: {write_idle_timeout: 10s}\n" +
					"origin /stored\n  Cache-Control: max-age=86400\n  size 400000\n" +
					"origin /passed\n  Cache-Control: no-store\n  chunked\n  drip 1000 0s\n  size 400000\n" +
					"client GET /stored -> 200 fwd=uri-miss; stored\n")
				if err == nil {
					err = w.run(steps)
				}
				if err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				got, err := readEvery(t, w, target, every, stall)
				switch {
				case !stall && (got != size || err != nil):
					t.Errorf("slow reader: got %d bytes, %v; want all %d", got, err, size)
				case !stall && time.Since(begun) < 15*time.Second:
					t.Errorf("slow reader: took %v, which is no test of a limit of 10s", time.Since(begun))
				case stall && (got >= size || err == nil):
					t.Errorf("stalled reader: got %d bytes, %v; want a broken transfer", got, err)
				}
				synctest.Wait()
				if n := w.edge.Proxy.Status().RequestsInFlight; n != 0 {
					t.Errorf("got %d requests in flight afterwards, want 0", n)
				}
			})
		})
	}

	// 5 KB/s: each piece of 32 KiB is taken within the limit. 20 KB/s: a body that is
	// sent in one write has time in proportion, down to 16 KiB/s.
	f("slow, streamed", "/passed", 200*time.Millisecond, false)
	f("stalled, streamed", "/passed", 0, true)
	f("slow, from the store", "/stored", 50*time.Millisecond, false)
	f("stalled, from the store", "/stored", 0, true)
}

// readEvery reads 1,000 bytes, then either waits a while before each further 1,000,
// or takes nothing more for an hour. It returns how much of the body came.
func readEvery(t *testing.T, w *world, target string, pause time.Duration, stall bool) (int, error) {
	t.Helper()
	c, err := w.clients.dial(context.Background(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET "+target+" HTTP/1.1\r\nHost: edge.test\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(c, 1024), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, piece := 0, make([]byte, 1000)
	for {
		n, err := io.ReadFull(res.Body, piece)
		got += n
		if err != nil {
			if errors.Is(err, io.EOF) {
				return got, nil
			}
			return got, err
		}
		if stall {
			time.Sleep(time.Hour)
		}
		time.Sleep(pause)
	}
}
