package admin

import (
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// wrongTokenEvery is how often the log has a line of wrong tokens at most, so that guesses do not fill it.
const wrongTokenEvery = time.Minute

// wrongTokens counts the requests that had a wrong token, and tells the log: of the first one at once, and of those that follow within
// wrongTokenEvery by one line at its end. It is safe for concurrent use.
type wrongTokens struct {
	log *slog.Logger

	mu     sync.Mutex
	all    int64
	untold int64       // since the last line
	client string      // client of the last one
	quiet  *time.Timer // runs from a line until the next one is due; nil: the next request has its line at once
	closed bool        // each request has its line at once, for no timer may run
}

func newWrongTokens(log *slog.Logger) *wrongTokens { return &wrongTokens{log: log} }

// count returns how many there were.
func (t *wrongTokens) count() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all
}

// note counts a request of client.
func (t *wrongTokens) note(client string) {
	t.mu.Lock()
	t.all++
	t.untold++
	t.client = client
	due := t.quiet == nil
	if due && !t.closed {
		t.quiet = time.AfterFunc(wrongTokenEvery, t.endQuiet)
	}
	tell := t.takeLocked(due)
	t.mu.Unlock()
	tell()
}

// endQuiet tells of the requests since the last line. Without any the next one has its line at once.
func (t *wrongTokens) endQuiet() {
	t.mu.Lock()
	switch {
	case t.closed:
	case t.untold == 0:
		t.quiet = nil
	default:
		t.quiet.Reset(wrongTokenEvery)
	}
	tell := t.takeLocked(true)
	t.mu.Unlock()
	tell()
}

// close tells of the requests since the last line, and ends the timer.
func (t *wrongTokens) close() {
	t.mu.Lock()
	t.closed = true
	if t.quiet != nil {
		t.quiet.Stop()
		t.quiet = nil
	}
	tell := t.takeLocked(true)
	t.mu.Unlock()
	tell()
}

// takeLocked returns what tells the log, behind the lock, of the requests that are untold, if a line is due.
func (t *wrongTokens) takeLocked(due bool) (tell func()) {
	n, client := t.untold, t.client
	if !due || n == 0 {
		return func() {}
	}
	t.untold = 0
	return func() {
		t.log.Warn("requests to the admin listener had a wrong token", "client", client, "requests", n)
	}
}

// clientOf returns the address of the client of r; "unix" behind a socket in the file system.
func clientOf(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "unix"
	}
	return at.Addr().Unmap().String()
}
