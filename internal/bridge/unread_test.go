package bridge

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"runtime"
	"testing"
)

// eager is a body that tells when it was taken to its end.
type eager struct {
	io.Reader
	taken chan struct{}
}

func (e *eager) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err == io.EOF {
		close(e.taken)
	}
	return n, err
}

func (*eager) Close() error { return nil }

// TestBodiesThatNobodyReadGoWithTheirStreams: the deadline for the last of an answer could be
// set on a stream that had ended, and its timer kept what had come of the request's body, up
// to 256 KiB each, for as long as a client may take nothing. So one connection took all memory.
func TestBodiesThatNobodyReadGoWithTheirStreams(t *testing.T) {
	in := start(t, nil)
	body := bytes.Repeat([]byte("x"), 200<<10)
	refuse := func() {
		taken := make(chan struct{})
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, in.url, &eager{bytes.NewReader(body), taken})
		go func() {
			c := <-in.conns
			_, _ = http.ReadRequest(bufio.NewReaderSize(c, 16))
			<-taken
			_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
			_ = c.Close()
		}()
		res, err := in.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	const requests, most = 200, 4 << 20 // of 40 MB
	refuse()
	before := heap()
	for range requests {
		refuse()
	}
	if kept := heap() - before; kept > most {
		t.Errorf("%d bytes are kept of %d requests that have ended, want less than %d", kept, requests, most)
	}
}

// heap returns the bytes that are in use.
func heap() int64 {
	for range 4 { // pools keep what they have for two
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // far from it
}
