package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// openLoop asks one server by a timetable, whether answers are late or not. The time of an answer
// begins when its request was due, so that a server which stalls cannot hide how many requests it
// kept waiting. It polls without ever sleeping, on a processor of its own: a timer may be late by a millisecond,
// and that would be taken for the server's. Only in real time it sleeps, as its thread then goes before
// all others when a timer has ended, and nobody may poll for long.
type openLoop struct {
	epoll int
	conns []loopConn
	free  []int // indices of conns

	requests [][]byte
	want     wanted
	wants    []wanted // for each request; nil: want
	hits     bool     // the times of hits alone count
	realTime bool     // it goes before all else on its processor
	next     int      // an index of requests
	found    int      // hits among what was timed
}

// loopConn is a connection with at most one request under way.
type loopConn struct {
	fd   int
	due  time.Time
	want *wanted
	body int    // bytes of the body that are still to come; below 0: the head is not whole
	head []byte // what has come of it, with what came behind it
	hit  bool   // the head says so
}

func newOpenLoop(address string, connections int, requests [][]byte, want wanted) (*openLoop, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make an epoll: %w", err)
	}
	l := &openLoop{epoll: epoll, requests: requests, want: want}
	for i := range connections {
		fd, err := connect(at)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.conns = append(l.conns, loopConn{fd: fd, head: make([]byte, 0, 64<<10)})
		l.free = append(l.free, i)
		if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}); err != nil {
			return nil, errors.Join(fmt.Errorf("watch a connection: %w", err), l.Close())
		}
	}
	return l, nil
}

// connect returns a connection by TCP that never blocks.
func connect(to netip.AddrPort) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("make a socket: %w", err)
	}
	err = unix.Connect(fd, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()})
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("connect to %v: %w", to, err), unix.Close(fd))
	}
	return fd, nil
}

// Close closes the connections.
func (l *openLoop) Close() error {
	errs := []error{unix.Close(l.epoll)}
	for _, c := range l.conns {
		errs = append(errs, unix.Close(c.fd))
	}
	return errors.Join(errs...)
}

// measure is run by a thread that has a processor.
func (l *openLoop) measure(ctx context.Context, d time.Duration, rate float64) ([]time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := pinThread(); err != nil {
		return nil, err
	}
	if l.realTime {
		if err := hasten(os.Getpid()); err != nil { // all threads: this one may wait for another
			return nil, err
		}
		defer relax(os.Getpid())
	}
	took, err := l.run(ctx, d, rate)
	return took, errors.Join(err, unpinThread())
}

// run asks for d, so many requests a second (0: one behind the other on every connection), waits
// for all the answers, and returns how long each took.
func (l *openLoop) run(ctx context.Context, d time.Duration, rate float64) ([]time.Duration, error) {
	took := make([]time.Duration, 0, int(d.Seconds()*max(rate, 200_000))+1)
	events := make([]unix.EpollEvent, len(l.conns))
	begin := time.Now()
	for sent, received := 0, 0; ; {
		past := time.Since(begin)
		switch {
		case past < d:
			n, err := l.sendDue(begin, sent, rate)
			if err != nil {
				return nil, err
			}
			sent += n
		case received == sent:
			return took, nil
		case past > d+answerWait || ctx.Err() != nil:
			return nil, fmt.Errorf("%d of %d answers have not come: %w", sent-received, sent, errors.Join(context.DeadlineExceeded, ctx.Err()))
		}
		if l.realTime {
			l.sleep(due(begin, sent, rate))
		}
		n, err := unix.EpollWait(l.epoll, events, 0)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return nil, fmt.Errorf("wait for answers: %w", err)
		}
		ended, err := l.take(&took, events[:max(n, 0)])
		if err != nil {
			return nil, err
		}
		received += ended
	}
}

// due is when request n is due at this rate; that of 0 is at once.
func due(begin time.Time, n int, rate float64) time.Time {
	if rate == 0 {
		return begin
	}
	return begin.Add(time.Duration(float64(n) / rate * float64(time.Second)))
}

// sleep waits for an answer, until the next request is due. An error shows where the answer is read.
func (l *openLoop) sleep(due time.Time) {
	if d := min(time.Until(due), 10*time.Millisecond); d > 0 || len(l.free) == 0 {
		until := unix.NsecToTimespec(int64(max(d, time.Millisecond/10)))
		_, _ = unix.Ppoll([]unix.PollFd{{Fd: int32(l.epoll), Events: unix.POLLIN}}, &until, nil) //nolint:gosec // a descriptor
	}
}

// take receives what is there, adds to took how long the whole answers took, and returns how many those
// are.
func (l *openLoop) take(took *[]time.Duration, events []unix.EpollEvent) (ended int, err error) {
	for _, e := range events {
		whole, err := l.receive(int(e.Fd))
		if err != nil {
			return ended, err
		}
		if !whole {
			continue
		}
		if c := &l.conns[e.Fd]; (c.hit || !l.hits) && !c.want.untimed {
			*took = append(*took, time.Since(c.due))
			if c.hit {
				l.found++
			}
		}
		l.free = append(l.free, int(e.Fd))
		ended++
	}
	return ended, nil
}

// sendDue sends what is due by now, as far as connections are free, behind the first sent
// requests of this rate, and returns how many those are.
func (l *openLoop) sendDue(begin time.Time, sent int, rate float64) (n int, err error) {
	now := time.Now()
	for len(l.free) > 0 {
		at := now
		if rate > 0 {
			if at = due(begin, sent+n, rate); at.After(now) {
				break
			}
		}
		if err := l.send(at); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// send asks for the next page by the connection that has been free for longest.
func (l *openLoop) send(due time.Time) error {
	i := l.free[0]
	l.free = slices.Delete(l.free, 0, 1)
	c := &l.conns[i]
	c.due, c.body, c.head = due, -1, c.head[:0]
	n := l.next % len(l.requests)
	request := l.requests[n]
	if c.want = &l.want; l.wants != nil {
		c.want = &l.wants[n]
	}
	l.next++
	n, err := unix.Write(c.fd, request)
	if err == nil && n < len(request) {
		err = unix.EAGAIN
	}
	if err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	return nil
}

// receive reads what connection i has, and reports whether that is the end of an answer.
func (l *openLoop) receive(i int) (whole bool, err error) {
	c := &l.conns[i]
	if c.body >= 0 {
		c.head = c.head[:0] // its room takes the body
	}
	have := len(c.head)
	n, err := unix.Read(c.fd, c.head[have:cap(c.head)])
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read an answer: %w", err)
	case n == 0:
		return false, &AnswerError{Why: "ends too early", Head: string(c.head)}
	}
	c.head = c.head[:have+n]
	if c.body >= 0 {
		c.body -= n
	} else if end := bytes.Index(c.head, []byte("\r\n\r\n")); end >= 0 {
		if err := c.want.check(c.head[:end]); err != nil {
			return false, err
		}
		c.hit = bytes.Contains(c.head[:end], []byte(hitMark)) || bytes.Contains(c.head[:end], []byte(nginxHitMark))
		c.body = c.want.size - (len(c.head) - end - len("\r\n\r\n"))
	} else {
		return false, nil
	}
	if c.body < 0 {
		return false, &AnswerError{Why: "has more bytes than its page", Head: string(c.head)}
	}
	return c.body == 0, nil
}
