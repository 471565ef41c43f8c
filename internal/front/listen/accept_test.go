package listen

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// scriptedListener fails with one error after the other, then gives a connection.
type scriptedListener struct {
	errs []error
	conn net.Conn
}

func (l *scriptedListener) Accept() (net.Conn, error) {
	if len(l.errs) == 0 {
		return l.conn, nil
	}
	err := l.errs[0]
	l.errs = l.errs[1:]
	return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", err)}
}
func (l *scriptedListener) Close() error   { return nil }
func (l *scriptedListener) Addr() net.Addr { return &net.TCPAddr{} }

func TestRunningOutOfDescriptorsDoesNotEndTheListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		defer server.Close()
		l := newLimitedListener(&scriptedListener{
			errs: []error{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ETIMEDOUT}, conn: server,
		}, nil, true, slog.New(slog.DiscardHandler))
		begun := time.Now()
		c, err := l.Accept()
		if err != nil || c != server {
			t.Errorf("got %v, %v, want the connection", c, err)
		}
		if took, want := time.Since(begun), 75*time.Millisecond; took != want {
			t.Errorf("waited %v in all, want 5 + 10 + 20 + 40 ms", took)
		}
	})
}

// At a lack of descriptors Accept only tried again: connections that waited for a request kept theirs, for as long as their
// clients liked.
func TestIdleConnectionsKeptTheirDescriptorsWhenNoneWasLeft(t *testing.T) {
	crowded(t, ConnLimits{}, func(g *guests) {
		g.come("busy", "192.0.2.1", true)
		g.c.Busy(g.servers["busy"])
		g.come("idle", "192.0.2.1", true)
		g.come("later", "192.0.2.1", true)
		g.come("last", "192.0.2.1", true)
		g.asks("idle", "later", "last")
		g.servers["new"], g.clients["new"] = conn(g.t, "192.0.2.2")
		l := newLimitedListener(&scriptedListener{
			errs: []error{syscall.EMFILE, syscall.ECONNABORTED, syscall.ENFILE}, conn: g.servers["new"],
		}, g.c, true, slog.New(slog.DiscardHandler))
		if c, err := l.Accept(); err != nil || c != g.servers["new"] {
			t.Errorf("got %v, %v, want the connection", c, err)
		}
		if n := g.c.LetGo(); n != (LetGo{Idle: 2}) {
			t.Errorf("got %+v, want two idle ones", n)
		}
		g.left("busy", "last", "new")
	})
}

func TestAnErrorThatWaitingCannotMendEndsAccept(t *testing.T) {
	l := newLimitedListener(&scriptedListener{errs: []error{syscall.EINVAL}}, nil, true, slog.New(slog.DiscardHandler))
	if _, err := l.Accept(); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("got %v, want EINVAL", err)
	}
}

func TestCloseEndsAPauseOfAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errs := make([]error, 100)
		for i := range errs {
			errs[i] = syscall.EMFILE
		}
		l := newLimitedListener(&scriptedListener{errs: errs}, nil, true, slog.New(slog.DiscardHandler))
		done := make(chan error, 1)
		go func() {
			_, err := l.Accept()
			done <- err
		}()
		synctest.Wait()
		_ = l.Close()
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want closed", err)
		}
	})
}
