package http2

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"edgeproxy/internal/http/message"
	"edgeproxy/internal/test/testkit"
)

// TestAnUploadThatWasReadKeptItsBuffer: its stream waited for the origin, or for more of it, and
// kept as much as had once been unread.
func TestAnUploadThatWasReadKeptItsBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the sweeper comes once a second
		came, read := make(chan *upload), make(chan struct{})
		e := &engine{begin: func(r *message.Request, a *message.Answer) message.Pending {
			u := r.Body.(*upload)
			return later(func() {
				came <- u
				<-read
				n, err := io.CopyN(io.Discard, asReader{u}, streamWindow-1)
				if err == nil && u.length < 0 {
					_, err = u.Read(make([]byte, 2))
				}
				kept := func() int {
					u.s.c.mu.Lock()
					defer u.s.c.mu.Unlock()
					return cap(u.unread)
				}
				testkit.Eventually(t, "room is let go of", func() bool { return kept() <= mostEmpty })
				say(a, fmt.Sprint(n, err))
			})
		}}
		c := serveHere(t, e, nil)()
		f := func(id uint32, want string, last int, end bool) {
			t.Helper()
			c.ask(id, false, plain("POST", "/")...)
			for n := streamWindow; n > frameBytes; n -= frameBytes {
				_ = c.WriteData(id, false, make([]byte, frameBytes))
			}
			_ = c.WriteData(id, end, make([]byte, last))
			u := <-came
			for got := int64(0); got < streamWindow-frameBytes+int64(last); {
				u.s.c.mu.Lock()
				if got = u.came; got < streamWindow-frameBytes+int64(last) {
					u.s.cond.Wait()
				}
				u.s.c.mu.Unlock()
			}
			read <- struct{}{}
			if all, err := c.take(id); err != nil || all[id].text != want {
				t.Errorf("got %q, %v; want %q", all[id].text, err, want)
			}
		}
		f(1, fmt.Sprint(streamWindow-1, nil), frameBytes, true)
		f(3, fmt.Sprint(streamWindow-1, nil), frameBytes, false)
	})
}
