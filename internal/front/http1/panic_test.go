package http1

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"edgeproxy/internal/http/message"
	"edgeproxy/internal/test/testkit"
)

// TestAPanicInTheFrontEndsOneRequest: the engine recovers its own; what panics before it is asked
// or behind it would end the process.
func TestAPanicInTheFrontEndsOneRequest(t *testing.T) {
	f := func(name, request string, e message.Engine) {
		t.Run(name, func(t *testing.T) {
			s := serverOf(e, 0)
			ours, theirs := net.Pipe()
			var serving sync.WaitGroup
			defer serving.Wait()
			defer ours.Close()
			serving.Go(func() { s.newConn(theirs).serve() })
			_ = ours.SetDeadline(now().Add(testkit.Patience))
			go func() { _, _ = io.WriteString(ours, request) }()
			r := bufio.NewReader(ours)
			res, err := http.ReadResponse(r, nil)
			if err != nil || res.StatusCode != http.StatusInternalServerError || !res.Close {
				t.Fatalf("got %v, %v, want 500 and the end of the connection", res, err)
			}
			if _, err := r.ReadByte(); err != io.EOF {
				t.Errorf("then got %v, want the end", err)
			}
			if got := s.o.Panics.Count(); got != 1 {
				t.Errorf("%d panics counted, want 1", got)
			}
		})
	}
	for name, w := range ways {
		f("asking, "+name, w.get("/"), trap{})
		f("sending, "+name, w.get("/"), engine(func(_ *message.Request, a *message.Answer) {
			a.Status, a.Content = http.StatusOK, brokenContent{}
		}))
	}
	for name, w := range ways {
		f("asking, before 100 (Continue), "+name, "POST / HTTP/1.1\r\nHost: h\r\n"+string(w)+"Expect: 100-continue\r\nContent-Length: 1\r\n\r\n", trap{})
	}
}

// trap is an engine that panics.
type trap struct{}

func (trap) Begin(*message.Request, *message.Answer) message.Pending { panic("trap") }

func (trap) Expect(*message.Request, *message.Answer) bool { panic("trap") }

type brokenContent struct{ message.Content }

func (brokenContent) Bytes() net.Buffers { panic("trap") }

func (brokenContent) Close() error { return nil }
