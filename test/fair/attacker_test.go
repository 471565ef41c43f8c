//go:build linux

package fair

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// neighbour is the attacker with the address of the honest client, as all clients of a load
// balancer have one.
const neighbour = -1

// attackers have addresses of their own, but for the neighbour.
func attacker(n int) net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+n%250))} }

// window is what a slow reader offers, and segment the largest piece it takes at once: on
// the loopback they would be as large as bodies.
const (
	window  = 4 << 10
	segment = 1460
)

// connect connects the attacker of this number. A slow one takes little at a time. The
// connection ends with the attack.
func (w *wave) connect(n int, slow bool) (*net.TCPConn, error) {
	d := net.Dialer{LocalAddr: attacker(n), Timeout: 5 * time.Second}
	if slow {
		d.Control = func(_, _ string, raw syscall.RawConn) error {
			return raw.Control(func(fd uintptr) { // before the window is offered
				_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, window)
				_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, segment)
			})
		}
	}
	c, err := d.DialContext(w.ctx, "tcp", w.host)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(w.ctx, func() { c.Close() })
	return c.(*net.TCPConn), nil
}

// reset ends a connection at once.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

// head is that of a request to the host that the honest client names, so that both ask for
// the same things.
func (w *wave) head(method, target, fields string) string {
	return method + " " + target + " HTTP/1.1\r\nHost: " + w.s.edge.host + "\r\n" + fields + "\r\n"
}

var errTorn = errors.New("not the bytes of the body")

// fetch asks for a thing and takes its body as fast as it comes.
func (w *wave) fetch(n int, o thing) error {
	c, err := w.connect(n, false)
	if err != nil {
		return err
	}
	defer c.Close()
	return w.read(c, o, nil)
}

// fetchSecure is fetch over TLS.
func (w *wave) fetchSecure(n int, o thing) error {
	raw, err := w.connect(n, false)
	if err != nil {
		return err
	}
	defer raw.Close()
	return w.read(tls.Client(raw, &tls.Config{InsecureSkipVerify: true}), o, nil)
}

// sip asks for a thing and takes so many bytes of it in every while. It returns nil if it
// got the whole.
func (w *wave) sip(n int, o thing, bytes int, every time.Duration) error {
	c, err := w.connect(n, true)
	if err != nil {
		return err
	}
	defer c.Close()
	begin := time.Now()
	return w.read(c, o, func(read int64) {
		w.wait(time.Until(begin.Add(time.Duration(read/int64(bytes)) * every)))
	})
}

// read asks for a thing on c and checks what comes. Between two steps of 1 KiB at most it
// does as it is told.
func (w *wave) read(c net.Conn, o thing, between func(read int64)) error {
	if _, err := io.WriteString(c, w.head("GET", o.target(), "")); err != nil {
		return err
	}
	in := bufio.NewReaderSize(c, segment)
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d, %s", res.StatusCode, res.Header.Get("Cache-Status"))
	}
	step := make([]byte, 1<<10)
	if o.size > 1<<16 && between == nil {
		step = make([]byte, 64<<10)
	}
	for n := int64(0); ; {
		got, err := res.Body.Read(step)
		if !matches(step[:got], n) {
			return errTorn
		}
		n += int64(got)
		switch {
		case errors.Is(err, io.EOF) && n == int64(o.size):
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		if between != nil {
			between(n)
		}
	}
}
