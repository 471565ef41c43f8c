package syslog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// usual is what the messages of these tests begin with.
func usual(t *testing.T) *regexp.Regexp {
	t.Helper()
	return regexp.MustCompile(`^<190>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \S+ edge ` + strconv.Itoa(os.Getpid()) + ` access - `)
}

// text returns what a message says behind its header.
func text(t *testing.T, message string) string {
	t.Helper()
	head := usual(t).FindString(message)
	if head == "" {
		t.Fatalf("%q is no message of RFC 5424 with this label", message)
	}
	return message[len(head):]
}

// readCounted reads one message with its length before it.
func readCounted(r *bufio.Reader) (string, error) {
	count, err := r.ReadString(' ')
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(count, " "))
	if err != nil {
		return "", err
	}
	message := make([]byte, n)
	_, err = io.ReadFull(r, message)
	return string(message), err
}

func newWriter(t *testing.T, server string) *Writer {
	t.Helper()
	d, err := Parse("syslog:server=" + server + ",tag=edge")
	if err != nil {
		t.Fatal(err)
	}
	w := New(d, "access")
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func mustWrite(t *testing.T, w *Writer, lines string) {
	t.Helper()
	if n, err := w.Write([]byte(lines)); n != len(lines) || err != nil {
		t.Errorf("Write: got %d, %v, want %d", n, err, len(lines))
	}
}

func TestEachLineIsADatagram(t *testing.T) {
	f := func(network, address string, server func(net.PacketConn) string) {
		t.Helper()
		c, err := net.ListenPacket(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		w := newWriter(t, server(c))
		mustWrite(t, w, `{"a":1}`+"\n"+`{"b":"ü"}`+"\n"+strings.Repeat("x", 70_000)+"\n")
		b := make([]byte, 1<<17)
		for _, want := range []string{`{"a":1}`, `{"b":"ü"}`} {
			n, _, err := c.ReadFrom(b)
			if err != nil || text(t, string(b[:n])) != want {
				t.Errorf("%s: got %q, %v, want %q", network, b[:n], err, want)
			}
		}
		if n, _, err := c.ReadFrom(b); err != nil || n != maxDatagram {
			t.Errorf("%s: of a long line got %d bytes, %v, want %d", network, n, err, maxDatagram)
		}
	}
	f("udp", "127.0.0.1:0", func(c net.PacketConn) string { return c.LocalAddr().String() })
	f("unixgram", filepath.Join(t.TempDir(), "log"), func(c net.PacketConn) string { return "unix:" + c.LocalAddr().String() })
}

func TestMessagesByTCPHaveTheirLength(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w := newWriter(t, "tcp://"+l.Addr().String())
	long := strings.Repeat("y", 200_000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		mustWrite(t, w, "one\ntwo, with spaces\n"+long+"\n")
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	for _, want := range []string{"one", "two, with spaces", long} {
		if got, err := readCounted(r); err != nil || text(t, got) != want {
			t.Errorf("got %.80q, %v, want %.80q", got, err, want)
		}
	}
	<-done
}

// dialer hands out ends of pipes, or an error while there is none.
type dialer chan net.Conn

var errAway = errors.New("the server is away")

func (d dialer) dial(context.Context, string, string) (net.Conn, error) {
	select {
	case c := <-d:
		return c, nil
	default:
		return nil, errAway
	}
}

// server adds a connection, and returns the server's end.
func (d dialer) server() net.Conn {
	ours, theirs := net.Pipe()
	d <- ours
	return theirs
}

func piped(t *testing.T) (*Writer, dialer) {
	t.Helper()
	w, d := newWriter(t, "tcp://logs"), make(dialer, 9)
	w.dial = d.dial
	return w, d
}

// A server that ends is found out before the next write, and what it has not had whole goes to the next.
func TestAServerThatComesBackMissesNothingWhole(t *testing.T) {
	for cut := range 200 {
		synctest.Test(t, func(t *testing.T) {
			w, d := piped(t)
			first := d.server()
			var got bytes.Buffer
			var second net.Conn
			go func() {
				_, _ = io.CopyN(&got, first, int64(cut))
				_ = first.Close()
				time.Sleep(3 * time.Second)
				second = d.server()
				_, _ = io.Copy(&got, second)
			}()
			mustWrite(t, w, "one\ntwo\nthree\n")
			_ = w.Close()
			time.Sleep(4 * time.Second)
			synctest.Wait()
			_ = second.Close()
			synctest.Wait()
			for _, want := range []string{"one", "two", "three"} {
				if n := strings.Count(got.String(), "access - "+want); n != 1 {
					t.Errorf("cut behind %d bytes: got %s %d times, want once: %q", cut, want, n, got.String())
				}
			}
		})
	}
}

func TestAConnectionThatEndedIsNotWrittenTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, d := piped(t)
		read := func() string {
			c := d.server()
			defer c.Close()
			out := make(chan string)
			go func() {
				message, _ := readCounted(bufio.NewReader(c))
				out <- message
			}()
			mustWrite(t, w, "line\n")
			return <-out
		}
		for range 3 {
			if got := text(t, read()); got != "line" {
				t.Errorf("got %q, want line", got)
			}
			synctest.Wait() // the Writer has seen the end
		}
	})
}

func TestAServerThatIsAwayIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := piped(t)
		began := time.Now()
		if n, err := w.Write([]byte("one\ntwo\n")); n != 0 || !errors.Is(err, errAway) {
			t.Errorf("got %d, %v, want none written", n, err)
		}
		if took := time.Since(began); took < patience || took > patience+longestPause {
			t.Errorf("it took %v, want %v", took, patience)
		}
	})
}

func TestAServerThatReadsNothingIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, d := piped(t)
		for range 9 {
			defer d.server().Close()
		}
		if n, err := w.Write([]byte("one\ntwo\n")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %d, %v, want none written", n, err)
		}
	})
}

func TestTheEndOfTheProcessWaitsForNoServer(t *testing.T) {
	f := func(open bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			w, d := piped(t)
			if open {
				defer d.server().Close()
			}
			began := time.Now()
			defer w.GiveUpAfter(time.Second)()
			if n, err := w.Write([]byte("one\n")); n != 0 || err == nil {
				t.Errorf("got %d, %v, want an error", n, err)
			}
			if took := time.Since(began); took != time.Second {
				t.Errorf("it took %v, want 1s", took)
			}
			if n, err := w.Write([]byte("two\n")); n != 0 || err == nil {
				t.Errorf("after that: got %d, %v, want an error", n, err)
			}
		})
	}
	f(false)
	f(true)
}

func TestHostnames(t *testing.T) {
	for name, want := range map[string]string{"": "-", "edge-1.example": "edge-1.example", "a b": "-", "é": "-", strings.Repeat("x", 256): "-"} {
		if got := printable(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	f := newFormat(&Destination{Facility: 3, Severity: 7, Tag: "t", WithoutHostname: true}, "m")
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.FixedZone("", 3600))
	want := fmt.Sprintf("<31>1 2026-01-02T02:04:05.678900Z - t %d m - x", os.Getpid())
	if got := string(f.append(nil, []byte("x"), at)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := string(f.appendCounted(nil, []byte("x"), at)); got != fmt.Sprint(len(want), " ", want) {
		t.Errorf("got %q, want its length and %q", got, want)
	}
}
