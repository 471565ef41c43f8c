package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
)

// chunkedHead begins a chunked upload.
const chunkedHead = "POST /up HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"

// uploads are requests that came back to the loop, with what is read of each.
var uploads = []struct{ request, content string }{
	{"POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "hello"},
	{"PUT /up HTTP/1.1\r\nContent-Length: 005\r\nHost: h\r\n\r\nhello", "hello"},
	{"PATCH /up HTTP/1.1\r\nHost: h\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"},
	{"POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", ""},
	{"POST /up HTTP/1.1\r\nHost: h\r\n\r\n", ""},
	{"DELETE /up HTTP/1.1\r\nHost: h\r\n\r\n", ""},
	{"GET /up HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab", "ab"},
	{"GET /up HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "a"},
	{chunkedHead + "5\r\nhello\r\n0\r\n\r\n", "hello"},
	{chunkedHead + "2;a=\"b\"\r\nhe\r\n03\r\nllo\r\n000\r\n\r\n", "hello"},
	{chunkedHead + "0\r\n\r\n", ""},
	{chunkedHead + "5\r\nhello\r\n0\r\nX-Sum: 1\r\ny:\r\n\r\n", "hello X-Sum=1 Y="},
	{"POST /up HTTP/1.1\r\nHost: h\r\nTrailer: X-Sum, y\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n", "[X-Sum y] hello X-Sum=1"},
	{"POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: 40000\r\n\r\n" + strings.Repeat("x", 40000), strings.Repeat("x", 40000)},
	{chunkedHead + "9c40\r\n" + strings.Repeat("x", 40000) + "\r\n0\r\n\r\n", strings.Repeat("x", 40000)},
	{chunkedHead + strings.Repeat("1\r\nx\r\n", 7000) + "0\r\n\r\n", strings.Repeat("x", 7000)},
}

// byLoopAlone answers with the content of the request, its trailers included, or with its target. What fasthttp has read is an error.
func byLoopAlone(r *message.Request, a *message.Answer) {
	a.Status, a.Last = http.StatusOK, r.Fault != nil
	if _, loop := r.Deadlines.(*conn); !loop {
		a.Status = http.StatusLoopDetected
	}
	if r.Body == nil {
		a.Say(bytes.TrimPrefix(r.Target, []byte("/up")))
		return
	}
	b, err := io.ReadAll(r.Body)
	said := string(b)
	if err != nil {
		a.Status, a.Last = http.StatusBadRequest, true
	} else if r.Body.Length() < 0 {
		if names := r.Body.Announced(); len(names) > 0 {
			said = fmt.Sprint(names, " ", said)
		}
		trailers, _ := r.Body.Trailers()
		for _, f := range trailers {
			said += " " + f.Name + "=" + f.Value
		}
	}
	a.Say([]byte(said))
}

// A connection went to fasthttp with its first POST, PUT or DELETE, and each later hit cost as before the fast path. With a chunked one
// it ended.
func TestHitsAfterAnUploadLeftTheLoop(t *testing.T) {
	var all strings.Builder
	for _, u := range uploads {
		all.WriteString(u.request + byLoop.get("/hit"))
	}
	for _, size := range []int{1, 3, 50, 1000, all.Len()} { // sizes of the pieces in which it comes
		served(t, byLoopAlone, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			go func() {
				for rest := all.String(); rest != ""; {
					n := min(size, len(rest))
					if _, err := io.WriteString(c, rest[:n]); err != nil {
						return
					}
					rest = rest[n:]
				}
			}()
			for _, u := range uploads {
				if got, err := heard(r); got != "200 "+u.content || err != nil {
					t.Fatalf("pieces of %d, %.80q: got %.80q and error %v, want %.80q", size, u.request, got, err, u.content)
				}
				if got, err := heard(r); got != "200 /hit" || err != nil {
					t.Fatalf("pieces of %d, behind %.80q: got %.80q and error %v, want a hit by the loop", size, u.request, got, err)
				}
			}
		})
	}
}

// malformedUploads could end in two ways, or break off: they are refused, and what is behind them is not read.
var malformedUploads = []string{
	"5\nhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "5\r\nhello\r\n0\n\r\n", "5\r\nhello\r\n0\r\n\n", "0x5\r\nhello\r\n0\r\n\r\n", "+5\r\nhello\r\n0\r\n\r\n",
	"-5\r\nhello\r\n0\r\n\r\n", " 5\r\nhello\r\n0\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n", "5\t;x\r\nhello\r\n0\r\n\r\n", "\r\nhello\r\n0\r\n\r\n", ";x\r\nhello\r\n0\r\n\r\n",
	"5;x\ry\r\nhello\r\n0\r\n\r\n", "5;\nx\r\nhello\r\n0\r\n\r\n", "5;x\x00\r\nhello\r\n0\r\n\r\n", "5;" + strings.Repeat("x", 2000) + "\r\nhello\r\n0\r\n\r\n",
	"5\r\nhello0\r\n\r\n", "5\r\nhelloXX0\r\n\r\n", "5\r\nhello\r0\r\n\r\n", "4\r\nhello\r\n0\r\n\r\n", "6\r\nhello\r\n0\r\n\r\n",
	"00000000000000005\r\nhello\r\n0\r\n\r\n", "8000000000000000\r\nhello\r\n0\r\n\r\n", "ffffffffffffffff\r\nhello\r\n0\r\n\r\n", "10000000000000005\r\nhello\r\n0\r\n\r\n",
	strings.Repeat("1;"+strings.Repeat("x", 200)+"\r\nx\r\n", 100) + "0\r\n\r\n",
	"0\r\nX : y\r\n\r\n", "0\r\nX: y\r\n z\r\n\r\n", "0\r\nX: y\nZ: z\r\n\r\n", "0\r\nX: y\x00\r\n\r\n", "0\r\nno field\r\n\r\n", "0\r\nX: y\r\n\n",
	"0\r\nContent-Length: 5\r\n\r\n", "0\r\ntransfer-encoding: chunked\r\n\r\n", "0\r\nHOST: h\r\n\r\n", "0\r\nX-Forwarded-For: a\r\n\r\n",
	"0\r\nX: " + strings.Repeat("y", 20<<10) + "\r\n\r\n", "0\r\n" + strings.Repeat("X: y\r\n", 4<<10) + "\r\n",
}

func TestARequestBehindAMalformedUploadIsNotRead(t *testing.T) {
	for _, body := range malformedUploads {
		served(t, byLoopAlone, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			go func() { _, _ = io.WriteString(c, byLoop.get("/before")+chunkedHead+body+byLoop.get("/smuggled")) }()
			if got, err := heard(r); got != "200 /before" || err != nil {
				t.Fatalf("%.80q: got %q and error %v", body, got, err)
			}
			got, err := heard(r)
			if !strings.HasPrefix(got, "400 ") || err != nil {
				t.Errorf("%.80q: got %.80q and error %v, want 400", body, got, err)
			}
			if _, err := r.ReadByte(); err != io.EOF {
				t.Errorf("%.80q: then got error %v, want the end", body, err)
			}
		})
	}
}

func TestAnUploadCutAtEachByteIsNotWhole(t *testing.T) {
	for _, u := range []string{"POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", chunkedHead + "5;x\r\nhello\r\n0\r\nX: y\r\n\r\n"} {
		for cut := strings.Index(u, "\r\n\r\n") + 4; cut < len(u); cut++ {
			read := make(chan error, 1)
			pieces := io.MultiReader(strings.NewReader(u[:cut]))
			c := connOver(pieces)
			c.takeBuffer()
			turn := c.server.takePlain(c)
			if found := headOf(c, turn); found != isPlain {
				t.Fatalf("%q: found %v", u[:cut], found)
			}
			turn.beginUpload()
			_, err := io.ReadAll(turn.request.Body)
			read <- err
			if err := <-read; !errors.Is(err, io.ErrUnexpectedEOF) || turn.upload.whole() {
				t.Errorf("%q: got error %v and whole %t, want %v", u[:cut], err, turn.upload.whole(), io.ErrUnexpectedEOF)
			}
		}
	}
}

// readerConn is a connection from which comes what a reader has.
type readerConn struct {
	net.Conn
	io.Reader
}

func (c *readerConn) Read(p []byte) (int, error)      { return c.Reader.Read(p) }
func (c *readerConn) SetReadDeadline(time.Time) error { return nil }

// connOver returns a connection of a server from which comes what r has.
func connOver(r io.Reader) *conn {
	return serverOf(nil, 0).newConn(&readerConn{Reader: r})
}

// headOf reads a head into t.
func headOf(c *conn, t *turn) look {
	if !c.fill() {
		return isOther
	}
	return c.head(t)
}

// leaves is an engine that reads nothing of the content.
func leaves(r *message.Request, a *message.Answer) {
	a.Status, a.Last = http.StatusOK, r.Fault != nil
	a.Say(r.Target)
}

// TestContentThatNobodyReadIsNoRequest: what is left of it is read after the answer, within bounds, or the connection ends.
func TestContentThatNobodyReadIsNoRequest(t *testing.T) {
	const length = "POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n"
	f := func(name, upload string, pause time.Duration, goesOn, saysSo bool, wantTook time.Duration) {
		t.Helper()
		served(t, leaves, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			head, body, _ := strings.Cut(upload, "\r\n\r\n")
			var writing sync.WaitGroup
			defer writing.Wait()
			defer c.Close()
			writing.Go(func() {
				_, _ = io.WriteString(c, head+"\r\n\r\n"+body[:1])
				time.Sleep(pause)
				_, _ = io.WriteString(c, body[1:]+byLoop.get("/next"))
			})
			began := time.Now()
			res, err := http.ReadResponse(r, nil)
			if err != nil || res.StatusCode != http.StatusOK || res.Close != saysSo {
				t.Fatalf("%s: got %v and error %v, want 200; the end announced: %t", name, res, err, saysSo)
			}
			if _, err := io.ReadAll(res.Body); err != nil || time.Since(began) != 0 {
				t.Errorf("%s: the answer took %v, with error %v; want it at once", name, time.Since(began), err)
			}
			if goesOn {
				if got, err := heard(r); got != "200 /next" || err != nil {
					t.Errorf("%s: then got %q and error %v, want the answer to the next request", name, got, err)
				}
				return
			}
			if _, err := r.ReadByte(); err != io.EOF || time.Since(began) != wantTook {
				t.Errorf("%s: then got error %v after %v, want the end after %v", name, err, time.Since(began), wantTook)
			}
		})
	}
	f("all here", fmt.Sprintf(length, 5)+"hello", 0, true, false, 0)
	f("chunks, all here", chunkedHead+"5\r\nhello\r\n0\r\nX: y\r\n\r\n", 0, true, false, 0)
	f("late", fmt.Sprintf(length, 5)+"hello", headTime-time.Second, true, false, 0)
	f("chunks, late", chunkedHead+"5\r\nhello\r\n0\r\n\r\n", headTime-time.Second, true, false, 0)
	f("too late", fmt.Sprintf(length, 5)+"hello", headTime+time.Second, false, false, headTime)
	f("chunks, too late", chunkedHead+"5\r\nhello\r\n0\r\n\r\n", headTime+time.Second, false, false, headTime)
	f("as much as is read", fmt.Sprintf(length, maxDrain)+strings.Repeat("x", maxDrain), 0, true, false, 0)
	f("more than that", fmt.Sprintf(length, maxDrain+1)+strings.Repeat("x", maxDrain+1), 0, false, true, 0)
	f("more in chunks", chunkedHead+fmt.Sprintf("%x\r\n", 2*maxDrain)+strings.Repeat("x", 2*maxDrain)+"\r\n0\r\n\r\n", 0, false, false, 0)
	f("malformed chunks", chunkedHead+"5\r\nhello\r\n0\n\r\n", 0, false, false, 0)
}

// TestAnAnswerBeforeTheEndOfAnUploadEndsTheConnection: the engine was reading when it answered.
func TestAnAnswerBeforeTheEndOfAnUploadEndsTheConnection(t *testing.T) {
	for _, u := range []string{"POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhello", chunkedHead + "64\r\nhello"} {
		served(t, func(r *message.Request, a *message.Answer) {
			_, _ = io.ReadFull(r.Body, make([]byte, 5))
			a.Status, a.Last = http.StatusForbidden, true
			a.Say([]byte("early"))
		}, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			go func() { _, _ = io.WriteString(c, u) }()
			if got, err := heard(r); got != "403 early" || err != nil {
				t.Errorf("%.80q: got %q and error %v", u, got, err)
			}
			if _, err := r.ReadByte(); err != io.EOF {
				t.Errorf("%.80q: then got error %v, want the end", u, err)
			}
		})
	}
}

// TestAnUploadThatDoesNotBegin is refused when the time of a head is over, or the client has ended its side.
func TestAnUploadThatDoesNotBegin(t *testing.T) {
	const head = "POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n"
	var fault *message.Fault
	told := func(r *message.Request, a *message.Answer) {
		fault = r.Fault
		a.Status, a.Last = http.StatusRequestTimeout, true
		a.Say(nil)
	}
	served(t, told, func(t *testing.T, c net.Conn, r *bufio.Reader) {
		began := time.Now()
		go func() { _, _ = io.WriteString(c, head) }()
		if got, err := heard(r); got != "408 " || err != nil {
			t.Errorf("got %q and error %v", got, err)
		}
		if _, err := r.ReadByte(); err != io.EOF || time.Since(began) != headTime {
			t.Errorf("then got error %v after %v, want the end after %v", err, time.Since(began), headTime)
		}
	})
	if fault == nil || fault.Status != http.StatusRequestTimeout || !fault.TimedOut {
		t.Errorf("got the fault %+v, want that the time is over", fault)
	}
	c := connOver(strings.NewReader(head))
	c.takeBuffer()
	turn := c.server.takePlain(c)
	if found := headOf(c, turn); found != isPlain {
		t.Fatalf("found %v", found)
	}
	turn.beginUpload()
	if fault := turn.upload.await(); fault == nil || fault.Status != http.StatusBadRequest || fault.TimedOut {
		t.Errorf("a client that left: got the fault %+v, want 400", fault)
	}
}

// TestAnUploadMayTakeAsLongAsTheEngineLets it, and no longer.
func TestAnUploadMayTakeAsLongAsTheEngineLets(t *testing.T) {
	var failed error
	slow := func(r *message.Request, a *message.Answer) {
		b := make([]byte, 10)
		for failed == nil {
			_ = r.Deadlines.SetReadDeadline(time.Now().Add(2 * headTime))
			_, failed = r.Body.Read(b)
		}
		a.Status = http.StatusOK
		if !errors.Is(failed, io.EOF) {
			a.Status, a.Last = http.StatusRequestTimeout, true
		}
		a.Say(nil)
	}
	f := func(pause time.Duration, want string, wantErr error) {
		t.Helper()
		failed = nil
		served(t, slow, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			var writing sync.WaitGroup
			defer writing.Wait()
			defer c.Close()
			writing.Go(func() {
				for _, piece := range []string{chunkedHead, "5\r\nhe", "llo\r\n", "0\r\n\r\n"} {
					if _, err := io.WriteString(c, piece); err != nil {
						return
					}
					time.Sleep(pause)
				}
			})
			if got, err := heard(r); got != want || err != nil {
				t.Errorf("pauses of %v: got %q and error %v, want %q", pause, got, err, want)
			}
		})
		if !errors.Is(failed, wantErr) {
			t.Errorf("pauses of %v: reading ended with %v, want %v", pause, failed, wantErr)
		}
	}
	f(2*headTime-time.Second, "200 ", io.EOF)
	f(2*headTime+time.Second, "408 ", os.ErrDeadlineExceeded)
}

// expecting is an engine that lets nobody send content to /no.
type expecting struct{ engine }

func (expecting) Expect(r *message.Request, a *message.Answer) bool {
	if string(r.Target) != "/no" {
		return true
	}
	a.Status = http.StatusUnauthorized
	a.Say([]byte("no"))
	return false
}

// heardOne is heard for one response, an interim one as well.
func heardOne(r *bufio.Reader) (string, error) {
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(res.Body)
	return fmt.Sprint(res.StatusCode, " ", string(body)), err
}

// TestTheLoopAnswersExpect: 100 goes out where the engine wants the content, and not before.
func TestTheLoopAnswersExpect(t *testing.T) {
	const fields = " HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\n"
	f := func(name, request, content string, want ...string) {
		t.Helper()
		servedBy(t, expecting{byLoopAlone}, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			go func() { _, _ = io.WriteString(c, request) }()
			for i, want := range want {
				if got, err := heardOne(r); got != want || err != nil {
					t.Errorf("%s: got %q and error %v, want %q", name, got, err, want)
				}
				if i == 0 { // what a client sends that has waited
					go func() { _, _ = io.WriteString(c, content+byLoop.get("/next")) }()
				}
			}
			if last := want[len(want)-1]; last != "200 /next" {
				if _, err := r.ReadByte(); err != io.EOF {
					t.Errorf("%s: then got error %v, want the end", name, err)
				}
			}
		})
	}
	f("a length", "POST /up"+fields+"Content-Length: 5\r\n\r\n", "hello", "100 ", "200 hello", "200 /next")
	f("chunks", "POST /up"+fields+"Transfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "100 ", "200 hello", "200 /next")
	f("content at once", "POST /up"+fields+"Content-Length: 5\r\n\r\nhello", "", "100 ", "200 hello", "200 /next")
	f("refused", "POST /no"+fields+"Content-Length: 5\r\n\r\n", "hello", "401 no")
	f("refused, content at once", "POST /no"+fields+"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "", "401 no")
}

// TestAnUploadIsReadAsItComes: its memory does not grow with it.
func TestAnUploadIsReadAsItComes(t *testing.T) {
	const size = 16 << 20
	for name, wire := range map[string]io.Reader{
		"a length": io.MultiReader(strings.NewReader(fmt.Sprintf("POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", size)), io.LimitReader(zeros{}, size)),
		"a chunk":  io.MultiReader(strings.NewReader(chunkedHead+fmt.Sprintf("%x\r\n", size)), io.LimitReader(zeros{}, size), strings.NewReader("\r\n0\r\n\r\n")),
	} {
		c := connOver(wire)
		c.takeBuffer()
		turn := c.server.takePlain(c)
		if found := headOf(c, turn); found != isPlain {
			t.Fatalf("%s: found %v", name, found)
		}
		turn.beginUpload()
		b, n := make([]byte, 32<<10), 0
		var err error
		allocs := testing.AllocsPerRun(1, func() {
			for err == nil && n < size/2 {
				var m int
				m, err = turn.upload.Read(b)
				n += m
			}
		})
		for err == nil {
			var m int
			m, err = turn.upload.Read(b)
			n += m
		}
		if allocs > 0 || n != size || err != io.EOF { //nolint:errorlint // this very one
			t.Errorf("%s: got %d bytes with %v allocations and error %v, want %d with none", name, n, allocs, err, size)
		}
	}
}

// zeros is bytes without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// FuzzUploads compares with the standard library: what is read here as a whole request with content, net/http reads as the same,
// with the same trailers, and the next request begins at the same byte. first is how much of it comes with the head.
func FuzzUploads(f *testing.F) {
	for _, u := range uploads {
		if len(u.request) < 1000 {
			f.Add([]byte(u.request+byLoop.get("/next")), 10, 3)
		}
	}
	for _, body := range malformedUploads {
		if len(body) < 1000 {
			f.Add([]byte(chunkedHead+body+byLoop.get("/next")), 1000, 1000)
		}
	}
	f.Fuzz(func(t *testing.T, wire []byte, first, size int) {
		first, size = min(max(first, 1), len(wire)), max(size, 1)
		c := connOver(io.MultiReader(bytes.NewReader(wire[:first]), &inPieces{wire[first:], size}))
		c.takeBuffer()
		turn := c.server.takePlain(c)
		if headOf(c, turn) != isPlain || !turn.upload.hasContent() {
			return
		}
		turn.beginUpload()
		got, err := io.ReadAll(turn.request.Body)
		if err != nil {
			return
		}
		var trailers field.List
		if turn.upload.chunked {
			if trailers, err = turn.request.Body.Trailers(); err != nil {
				t.Fatalf("%q: got error %v behind the whole content", wire, err)
			}
		}
		turn.upload.goBack()
		rest, _ := io.ReadAll((*uploadSource)(c))

		in := bufio.NewReaderSize(bytes.NewReader(wire), 1<<20) // net/http looks for the end of the trailers in its buffer
		theirs, err := http.ReadRequest(in)
		if err != nil {
			t.Fatalf("%q: net/http says %v", wire, err)
		}
		want, err := io.ReadAll(theirs.Body)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q: got %q; net/http %q and error %v", wire, got, want, err)
		}
		if left, _ := io.ReadAll(in); !bytes.Equal(rest, left) {
			t.Fatalf("%q: the next request begins with %q; in net/http with %q", wire, rest, left)
		}
		for _, x := range trailers {
			if values := theirs.Trailer[http.CanonicalHeaderKey(x.Name)]; len(values) == 0 {
				t.Errorf("%q: net/http has no trailer %q: %q", wire, x, theirs.Trailer)
			}
		}
	})
}

// inPieces reads b in pieces of size bytes.
type inPieces struct {
	b    []byte
	size int
}

func (p *inPieces) Read(to []byte) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	n := copy(to, p.b[:min(p.size, len(p.b))])
	p.b = p.b[n:]
	return n, nil
}
