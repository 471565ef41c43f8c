package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/http/message"
	"edgeproxy/internal/test/testkit"
)

// fileSize is more than what sockets hold, so that a file goes in several turns.
const fileSize = 12 << 20

// openFile is a message.File.
type openFile struct {
	descriptor int
	released   atomic.Int32
}

func (f *openFile) Descriptor() int { return f.descriptor }
func (f *openFile) Release()        { f.released.Add(1) }

// newFile returns a file of so many bytes f.
func newFile(t *testing.T, size int) *openFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(path, bytes.Repeat([]byte{'f'}, size), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return &openFile{descriptor: int(file.Fd())}
}

// serveTCP serves e on a socket until the test ends.
func serveTCP(t *testing.T, e engine) (address string) {
	t.Helper()
	s := serverOf(e, 0)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Shutdown(t.Context())
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// dialTCP connects. A busy machine takes long for many MB.
func dialTCP(t *testing.T, address string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(now().Add(10 * testkit.Patience))
	return c, bufio.NewReader(c)
}

// readFrom returns how many bytes come, and how many of the first ones come from a file. That no other does is checked.
func readFrom(r io.Reader, first int) (n, ofFile int, err error) {
	buf := make([]byte, 256<<10)
	for {
		m, err := r.Read(buf)
		behind := min(max(first-n, 0), m)
		ofFile += bytes.Count(buf[:behind], []byte{'f'})
		if bytes.Count(buf[behind:m], []byte{'m'}) != m-behind {
			return n, ofFile, errors.New("what is not to come from the file does not come from memory")
		}
		if n += m; err == io.EOF {
			return n, ofFile, nil
		} else if err != nil {
			return n, ofFile, err
		}
	}
}

// TestAnAnswerInAFileIsSentFromIt: with its head, from the offset on, in as many turns as it takes, and the
// connection goes on. Where the file fails the rest goes from memory. In the tests a file has other
// bytes than memory, which tells where they come from.
func TestAnAnswerInAFileIsSentFromIt(t *testing.T) {
	f := func(name string, file *openFile, offset int64, fromFile int) {
		t.Run(name, func(t *testing.T) {
			body := bytes.Repeat([]byte{'m'}, fileSize)
			address := serveTCP(t, func(r *message.Request, a *message.Answer) {
				a.Status, a.Length = http.StatusOK, fileSize
				if !r.SendsFiles {
					t.Error("the front does not say that it sends files")
				}
				a.SayFile(body, file, offset)
			})
			c, r := dialTCP(t, address)
			for n := range 2 {
				if _, err := io.WriteString(c, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				res, err := http.ReadResponse(r, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got, ofFile, err := readFrom(res.Body, fromFile); err != nil || got != fileSize || ofFile != fromFile {
					t.Fatalf("answer %d: got %d bytes, %d of them from the file, and error %v, want %d, of which the first %d",
						n+1, got, ofFile, err, fileSize, fromFile)
				}
			}
			_ = c.Close()
			if got := file.released.Load(); got < 1 { // the last comes when the loop has gone on
				t.Errorf("released %d times, want once for each answer", got)
			}
		})
	}
	f("whole", newFile(t, fileSize), 0, fileSize)
	f("from an offset on", newFile(t, fileSize+100), 100, fileSize)
	f("a file that is too short", newFile(t, 3<<20), 0, 3<<20)
	f("no file", &openFile{descriptor: 1 << 20}, 0, 0)
}

// TestAFileIsReleasedWhenItsClientLeaves in the middle of the answer.
func TestAFileIsReleasedWhenItsClientLeaves(t *testing.T) {
	file, body := newFile(t, fileSize), make([]byte, fileSize)
	address := serveTCP(t, func(_ *message.Request, a *message.Answer) {
		a.Status, a.Length = http.StatusOK, fileSize
		a.SayFile(body, file, 0)
	})
	c, r := dialTCP(t, address)
	if _, err := io.WriteString(c, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := http.ReadResponse(r, nil); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	testkit.Eventually(t, "the file is released", func() bool { return file.released.Load() == 1 })
}

// TestWhoSendsFiles: sockets that the loop here serves, and nobody else.
func TestWhoSendsFiles(t *testing.T) {
	var sends atomic.Bool
	told := func(r *message.Request, a *message.Answer) {
		sends.Store(r.SendsFiles)
		plain(r, a)
	}
	bothWays(t, func(t *testing.T, w way) {
		served(t, told, func(t *testing.T, c net.Conn, r *bufio.Reader) { w.asks(t, c, r) })
		if sends.Load() {
			t.Error("a pipe sends files")
		}
		c, r := dialTCP(t, serveTCP(t, told))
		w.asks(t, c, r)
		if got, want := sends.Load(), w != byFasthttp; got != want {
			t.Errorf("a socket sends files: got %v, want %v", got, want)
		}
	})
}

// TestADiskThatHangsHoldsNoProcessor: the last part of a body on a disk was sent, where it was short, by a call that the
// scheduler is not told of. Such a call must never wait.
func TestADiskThatHangsHoldsNoProcessor(t *testing.T) {
	for _, c := range []struct {
		waits bool
		left  int64
		want  bool
	}{{false, maxUntoldBytes, true}, {false, maxUntoldBytes + 1, false}, {true, 1, false}, {true, maxUntoldBytes + 1, false}} {
		s := sender{mayBlock: c.waits, left: c.left}
		if got := s.untold(); got != c.want {
			t.Errorf("%d bytes, on a disk %v: got untold %v, want %v", c.left, c.waits, got, c.want)
		}
	}
}

// TestLongAnswersInMemoryArriveWhole to a client that reads them late: the socket takes a part of an answer, also a part
// of its head.
func TestLongAnswersInMemoryArriveWhole(t *testing.T) {
	bodies := [][]byte{make([]byte, writeBuffer), make([]byte, 16<<10), make([]byte, maxUntoldBytes-100), make([]byte, maxUntoldBytes)}
	for i, body := range bodies {
		for k := range body {
			body[k] = byte('a' + (i+k)%26)
		}
	}
	var asked atomic.Int64
	address := serveTCP(t, func(_ *message.Request, a *message.Answer) {
		body := bodies[int(asked.Add(1)-1)%len(bodies)]
		a.Status, a.Length = http.StatusOK, int64(len(body))
		a.Say(body)
	})
	c, r := dialTCP(t, address)
	_ = c.(*net.TCPConn).SetReadBuffer(32 << 10)
	const requests = 400 // 14 MB in all, more than the sockets hold
	if _, err := io.WriteString(c, strings.Repeat("GET /a HTTP/1.1\r\nHost: a\r\n\r\n", requests)); err != nil {
		t.Fatal(err)
	}
	for n := range requests {
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", n, err)
		}
		if got, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(got, bodies[n%len(bodies)]) {
			t.Fatalf("answer %d: got %d bytes and %v, want the %d of its body", n, len(got), err, len(bodies[n%len(bodies)]))
		}
	}
}
