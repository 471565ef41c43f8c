package http2

import (
	"log/slog"
	"testing"
	"time"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/test/testkit"
)

// A panic under the mutex of one connection left it locked, and the sweeper of all connections
// waited for it: nobody's limits in time were kept any more, and the server did not end.
func TestPanicUnderTheMutexOfAConnectionHeldTheSweeper(t *testing.T) {
	for name, breaks := range map[string]func(*conn){
		"while it is written":   func(c *conn) { c.out.encoder.hpack = nil },
		"while it is looked at": func(c *conn) { c.streams[98] = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			panics := rescue.NewCounter(slog.New(slog.DiscardHandler))
			s, address := serve(t, &engine{}, func(o *Options) { o.Panics, o.WriteIdleTimeout = panics, 8*time.Second })
			broken := dial(t, address)
			if got := broken.one(plain("GET", "/")...); got.text != "ok" {
				t.Fatalf("got %v, want ok", got)
			}
			c := s.all()[0]
			c.mu.Lock()
			breaks(c)
			c.mu.Unlock()
			broken.ask(99, true, plain("GET", "/")...)
			testkit.Eventually(t, "the panic is noted", func() bool { return panics.Count() > 0 })
			testkit.Eventually(t, "the connection is not locked", func() bool {
				free := c.mu.TryLock()
				if free {
					delete(c.streams, 98) // or it would be met at each look, and at the end
					c.mu.Unlock()
				}
				return free
			})
			other := dial(t, address)
			if got := other.one(plain("GET", "/")...); got.text != "ok" {
				t.Fatalf("another connection: got %v, want ok", got)
			}
			c = s.newest()
			testkit.Eventually(t, "the sweeper comes to it", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return !c.sweep.wait.since.IsZero()
			})
		})
	}
}

// newest returns the connection whose last stream is the first one: others of the test ask more
// than once.
func (s *Server) newest() *conn {
	for _, c := range s.all() {
		c.mu.Lock()
		first := c.lastID == 1
		c.mu.Unlock()
		if first {
			return c
		}
	}
	return nil
}
