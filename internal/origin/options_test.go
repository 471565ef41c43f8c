package origin

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	f := func(o Options, want ...string) {
		t.Helper()
		_, err := New(o)
		if err == nil {
			t.Errorf("%+v: got no error", o)
			return
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: got error %v, want one on %s", o, err, w)
			}
		}
	}
	f(Options{}, "name", "address")
	f(Options{Name: "app", Address: "host"}, "host:port")
	f(Options{Name: "app", Address: "unix:"}, "must be a path behind unix:")
	f(Options{Name: "app", Address: "host:1", Settings: Settings{IdleTimeout: -1, MaxConnections: -1}}, "idle timeout", "maximum of connections")
	f(Options{Name: "app", Address: "host:1", Settings: Settings{QueueRequests: 1}}, "queue wait")
	if _, err := New(Options{Name: "app", Address: "host:1"}); err != nil {
		t.Errorf("only what is required: got error %v, want none", err)
	}
}

func TestErrorSaysWhatAndWhere(t *testing.T) {
	f := func(e *Error, wantText string, wantCut, wantTimeout bool) {
		t.Helper()
		if e.Error() != wantText || errors.Is(e, io.ErrUnexpectedEOF) != wantCut || e.Timeout() != wantTimeout {
			t.Errorf("got %q, cut %v, timeout %v, want %q, %v, %v", e, errors.Is(e, io.ErrUnexpectedEOF), e.Timeout(), wantText, wantCut, wantTimeout)
		}
	}
	f(&Error{Cut, "app", "", "read the response body", syscall.ECONNRESET}, "origin app: read the response body: connection reset by peer", true, false)
	f(&Error{Timeout, "app", "", "read the response head", os.ErrDeadlineExceeded}, "origin app: read the response head: i/o timeout", false, true)
	f(&Error{Connect, "app", "", "connect", os.ErrDeadlineExceeded}, "origin app: connect: i/o timeout", false, true)
	f(&Error{Connect, "app", "", "connect", syscall.ECONNREFUSED}, "origin app: connect: connection refused", false, false)
	f(&Error{Canceled, "app", "", "connect", context.DeadlineExceeded}, "origin app: connect: context deadline exceeded", false, true)
	f(&Error{Malformed, "app", "", "x", malformed("y")}, "origin app: x: y", false, false)

	seen := map[string]bool{}
	for k := range Fault + 2 {
		seen[k.String()] = true
	}
	if want := int(Fault) + 1; len(seen) != want || !seen["unknown"] {
		t.Errorf("got words %v, want %d of which one is unknown", seen, want)
	}
}

func TestRealDialIsRefused(t *testing.T) {
	o := open(t, Options{Address: "127.0.0.1:1", Settings: Settings{ConnectTimeout: 10 * time.Second}})
	_, err := o.RoundTrip(context.Background(), get("/"))
	wantKind(t, err, Connect)
}
