package dial

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// full is what connect(2) says where the backlog of a socket is full.
var full = &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EAGAIN)}

// dialSocket dials a socket that is full for a while, within three seconds of virtual time.
func dialSocket(t *testing.T, fullFor time.Duration, then error) (tries int64, took time.Duration, err error) {
	t.Helper()
	begun := time.Now()
	var count atomic.Int64
	d := New(Options{Connect: func(context.Context, string, string) (net.Conn, error) {
		count.Add(1)
		if time.Since(begun) < fullFor {
			return nil, full
		}
		if then != nil {
			return nil, then
		}
		return &conn{n: &network{}}, nil
	}})
	defer d.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	c, err := d.Dial(ctx, "unix", "/run/app.sock")
	if err == nil {
		_ = c.Close()
	}
	return count.Load(), time.Since(begun), err
}

// A backlog that was full for a moment was a timeout at once, which ejected the server.
func TestAFullBacklogWasATimeoutAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries, took, err := dialSocket(t, 200*time.Millisecond, nil)
		if err != nil || took < 200*time.Millisecond || took > 250*time.Millisecond || tries > 12 {
			t.Errorf("got %v after %v and %d tries, want a connection within 250ms and few tries", err, took, tries)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		tries, took, err := dialSocket(t, time.Hour, nil)
		var out net.Error
		if !errors.As(err, &out) || !out.Timeout() || took != 3*time.Second || tries > 70 {
			t.Errorf("got %v after %v and %d tries, want a timeout after 3s and few tries", err, took, tries)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		if _, _, err := dialSocket(t, 200*time.Millisecond, syscall.ECONNREFUSED); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("got %v, want the answer that came after", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		if tries, took, err := dialSocket(t, 0, syscall.ENOENT); !errors.Is(err, syscall.ENOENT) || tries != 1 || took != 0 {
			t.Errorf("got %v after %v and %d tries, want another error at once", err, took, tries)
		}
	})
}

// A dial that waits for a backlog ends with the dialer.
func TestCloseEndsTheWaitForABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Options{Connect: func(context.Context, string, string) (net.Conn, error) { return nil, full }})
		done := make(chan error, 1)
		go func() {
			_, err := d.Dial(t.Context(), "unix", "/run/app.sock")
			done <- err
		}()
		synctest.Wait()
		d.Close()
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want %v", err, ErrClosed)
		}
	})
}
