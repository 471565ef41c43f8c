package edge

import (
	"io"
	"log/slog"
	"strings"
	"testing"

	"edgeproxy/internal/origin"
	"edgeproxy/internal/origin/balance"
)

// A server that was ejected and down answers its checks again, and its trial is yet to
// come: that was logged as one more outage.
func TestServerThatIsHalfBackIsNoNewOutage(t *testing.T) {
	f := func(c origin.Change, want string) {
		t.Helper()
		var log strings.Builder
		e := originSide{core: &core{log: slog.New(slog.NewTextHandler(&log, nil))}}
		e.serverChanged("app", c)
		if _, got, _ := strings.Cut(strings.TrimSpace(log.String()), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(origin.Change{Server: "h:1", State: balance.Down, Err: io.EOF}, `level=WARN msg="origin server is out" origin=app server=h:1 state=down error=EOF`)
	f(origin.Change{Server: "h:1", State: balance.Drained, Err: io.EOF}, `level=INFO msg="drained origin server fails its checks" origin=app server=h:1 state=drained error=EOF`)
	f(origin.Change{Server: "h:1", State: balance.Drained}, `level=INFO msg="drained origin server passes its checks" origin=app server=h:1 state=drained`)
	f(origin.Change{Server: "h:1", State: balance.Ejected}, `level=INFO msg="origin server is still out" origin=app server=h:1 state=ejected`)
	f(origin.Change{Server: "h:1", State: balance.Up}, `level=INFO msg="origin server is back" origin=app server=h:1 state=up`)
}
