package listen

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// The deadlines of internal/front/http1 are reckoned from when its server was made. Kept as times
// of the wall clock they had passed at once when that had been set forward since, and every
// connection of TLS ended. A test cannot set the clock, so this one looks at what is kept.
func TestADeadlineIsOfTheMonotonicClock(t *testing.T) {
	ours, theirs := net.Pipe()
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	c := &deadlineConn{Conn: tls.Server(ours, &tls.Config{MinVersion: tls.VersionTLS12})}
	at := time.Now().Add(time.Minute)
	if err := c.SetReadDeadline(at); err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Time{begun, at} {
		if !strings.Contains(at.String(), " m=") {
			t.Fatalf("%v is of the wall clock alone", at)
		}
	}
	if until := time.Duration(c.until.Load()); until != at.Sub(begun) {
		t.Fatalf("the deadline is in %v since the begin, want %v", until, at.Sub(begun))
	}
	for _, past := range []time.Time{time.Unix(1, 0), time.Now().Add(-time.Second)} {
		if err := c.SetReadDeadline(past); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a deadline of %v: %v", past, err)
		}
	}
}
