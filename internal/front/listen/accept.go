package listen

import (
	"errors"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	acceptPause     = 5 * time.Millisecond // after the first failure; doubled up to
	acceptPauseMost = time.Second
	acceptLogEvery  = 10 * time.Second
)

// limitedListener goes on accepting when the system has run out of something, usually file
// descriptors. A front takes any error for the end of its listener, so without this a
// client could end the process by opening connections.
// It returns accepted connections unwrapped, so writev works on them.
type limitedListener struct {
	net.Listener
	limiter        *ConnLimiter
	spare          *ConnLimiter // lets connections go that wait for a request, where descriptors have run out; nil does not
	answersRefused bool         // it answers a refused client
	log            *slog.Logger
	closed         chan struct{}
	once           sync.Once
	logged         time.Time // when Accept last logged an error
}

func newLimitedListener(l net.Listener, limiter *ConnLimiter, tells bool, log *slog.Logger) *limitedListener {
	return &limitedListener{Listener: l, limiter: limiter, spare: limiter, answersRefused: tells, log: log, closed: make(chan struct{})}
}

// Accept waits for the next connection that its ConnLimiter admits. It fails when the listener
// is closed, or with an error that does not pass with time. One goroutine calls it.
func (l *limitedListener) Accept() (net.Conn, error) {
	pause := acceptPause
	for {
		c, err := l.Listener.Accept()
		switch {
		case err == nil && !l.limiter.admit(c, l.answersRefused):
			continue
		case err == nil || !temporary(err):
			return c, err
		}
		if now := time.Now(); now.Sub(l.logged) >= acceptLogEvery {
			l.logged = now
			l.log.Error("cannot accept connections; trying again", "address", l.Addr().String(), "error", err)
		}
		if noDescriptors(err) && l.spare.letIdleGo() {
			pause = acceptPause
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-l.closed:
			t.Stop()
			return nil, net.ErrClosed
		}
		pause = min(2*pause, acceptPauseMost)
	}
}

// Close closes the listener and ends a pause of Accept.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// noDescriptors reports whether an error of accept(2) is that the process, or the system, has no descriptor left.
func noDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// temporary reports whether an error of accept(2) says nothing about the listener: a lack of
// descriptors, buffers or memory, a client that left at once, or an error of the network that was
// under way for a connection.
func temporary(err error) bool {
	for _, e := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EPROTO,
		syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ENOPROTOOPT, syscall.ETIMEDOUT,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
