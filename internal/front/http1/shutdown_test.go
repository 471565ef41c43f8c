package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/http/message"
)

// pipes is a listener within the process.
type pipes struct {
	come   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{come: make(chan net.Conn), closed: make(chan struct{})} }

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.come:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// dial connects with the server of l.
func (l *pipes) dial() (net.Conn, *bufio.Reader) {
	ours, theirs := net.Pipe()
	l.come <- theirs
	return ours, bufio.NewReader(ours)
}

// TestShutdownWaitsForAnswersAndNotForSilence: connections that wait for a request are closed, and the
// answers under way say that they are the last.
func TestShutdownWaitsForAnswersAndNotForSilence(t *testing.T) {
	bothWays(t, func(t *testing.T, w way) {
		synctest.Test(t, func(t *testing.T) {
			const working = 3 * time.Second
			s := serverOf(engine(func(r *message.Request, a *message.Answer) {
				if string(r.Target) == "/slow" {
					time.Sleep(working)
				}
				plain(r, a)
			}), 0)
			l := newPipes()
			var serving sync.WaitGroup
			serving.Go(func() {
				if err := s.Serve(l); err != nil {
					t.Errorf("Serve: %v", err)
				}
			})
			idle, idleReader := l.dial()
			w.asks(t, idle, idleReader)
			silent, silentReader := l.dial()
			busy, busyReader := l.dial()
			go func() { _, _ = io.WriteString(busy, w.get("/slow")) }()
			synctest.Wait()

			began := time.Now()
			serving.Go(func() {
				if _, err := idleReader.ReadByte(); err != io.EOF || time.Since(began) > closePause {
					t.Errorf("idle: got %v after %v, want the end at once", err, time.Since(began))
				}
			})
			serving.Go(func() {
				if _, err := silentReader.ReadByte(); err != io.EOF || time.Since(began) > silentGrace+closePause {
					t.Errorf("silent: got %v after %v, want the end after %v", err, time.Since(began), silentGrace)
				}
			})
			serving.Go(func() {
				res, err := http.ReadResponse(busyReader, nil)
				if err != nil || !res.Close || time.Since(began) != working {
					t.Errorf("busy: got %v and error %v after %v, want the last answer", res, err, time.Since(began))
					return
				}
				if got, err := io.ReadAll(busyReader); string(got) != "/slow" || err != nil {
					t.Errorf("busy: got %q and error %v", got, err)
				}
			})
			if err := s.Shutdown(t.Context()); err != nil {
				t.Errorf("Shutdown: %v", err)
			}
			if got := time.Since(began); got < working || got > silentGrace+2*closePause {
				t.Errorf("Shutdown took %v", got)
			}
			serving.Wait()
			for _, c := range []net.Conn{idle, silent, busy} {
				_ = c.Close()
			}
		})
	})
}

// TestShutdownGivesUpWithItsContext: and can be called again.
func TestShutdownGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serverOf(engine(func(r *message.Request, a *message.Answer) {
			time.Sleep(time.Minute)
			plain(r, a)
		}), 0)
		l := newPipes()
		var serving sync.WaitGroup
		serving.Go(func() { _ = s.Serve(l) })
		c, r := l.dial()
		go func() { _, _ = io.WriteString(c, byLoop.get("/a")) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that the time is over", err)
		}
		serving.Go(func() {
			if got, err := heard(r); got != "200 /a" || err != nil {
				t.Errorf("got %q and error %v", got, err)
			}
		})
		if err := s.Shutdown(t.Context()); err != nil {
			t.Errorf("again: got %v", err)
		}
		serving.Wait()
		_ = c.Close()
	})
}

// TestConnectionsAboveTheLimitAreRefused: and one that ends makes room.
func TestConnectionsAboveTheLimitAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serverOf(engine(plain), 0)
		s.o.Connections = 1
		var states []http.ConnState
		var mu sync.Mutex
		s.o.State = func(_ net.Conn, state http.ConnState) {
			mu.Lock()
			defer mu.Unlock()
			states = append(states, state)
		}
		l := newPipes()
		var serving sync.WaitGroup
		serving.Go(func() { _ = s.Serve(l) })
		first, r := l.dial()
		byLoop.asks(t, first, r)
		second, r := l.dial()
		if got, err := heard(r); !strings.HasPrefix(got, "503 ") || err != nil || s.Rejected() != 1 {
			t.Errorf("got %q and error %v, and %d refused", got, err, s.Rejected())
		}
		_ = first.Close()
		synctest.Wait()
		third, r := l.dial()
		byLoop.asks(t, third, r)
		_ = second.Close()
		_ = third.Close()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		serving.Wait()
		ends := 0
		for _, state := range states {
			switch state {
			case http.StateNew:
				ends++
			case http.StateClosed:
				ends--
			case http.StateActive, http.StateIdle, http.StateHijacked:
			}
		}
		if ends != 0 {
			t.Errorf("got the states %v", states)
		}
	})
}
