package http2

import (
	"io"
	"testing"

	xhttp2 "golang.org/x/net/http2"

	"edgeproxy/internal/http/message"
)

// TestTrailersOfAStreamThatWasResetEndedItsConnection: others had ended since, and it was not known
// any more.
func TestTrailersOfAStreamThatWasResetEndedItsConnection(t *testing.T) {
	_, address := serve(t, &engine{}, nil)
	c := dial(t, address)
	c.ask(1, false, plain("POST", "/")...) // answered at once, and reset behind that
	if all, err := c.take(1); err != nil || all[1].text != "ok" {
		t.Fatalf("got %v, %v", all[1], err)
	}
	for id := uint32(3); id < 203; id += 2 {
		c.ask(id, true, plain("GET", "/")...)
		if _, err := c.take(id); err != nil {
			t.Fatal(err)
		}
	}
	c.ask(1, true, "x-late", "1")
	c.ask(203, true, plain("GET", "/")...)
	if all, err := c.take(203); err != nil || all[203].text != "ok" {
		t.Errorf("behind late trailers: got %v, %v; want ok", all[203], err)
	}
}

// TestStreamsThatOnlyWeCouldBeginWereTakenForClosed: such are idle, and what comes on them ends the
// connection (RFC 9113 section 5.1).
func TestStreamsThatOnlyWeCouldBeginWereTakenForClosed(t *testing.T) {
	_, address := serve(t, &engine{}, nil)
	for name, send := range map[string]func(*client){
		"DATA":           func(c *client) { _ = c.WriteData(2, true, []byte("x")) },
		"RST_STREAM":     func(c *client) { _ = c.WriteRSTStream(2, xhttp2.ErrCodeCancel) },
		"WINDOW_UPDATE":  func(c *client) { _ = c.WriteWindowUpdate(2, 1) },
		"an update by 0": func(c *client) { _ = c.WriteRawFrame(xhttp2.FrameWindowUpdate, 0, 2, make([]byte, 4)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, address)
			c.ask(5, true, plain("GET", "/")...)
			if _, err := c.take(5); err != nil {
				t.Fatal(err)
			}
			send(c)
			c.wantEnd(xhttp2.ErrCodeProtocol)
		})
	}
}

// TestMoreContentThanWasAnnouncedWasSent: a client that trusts the length takes the rest for
// something else.
func TestMoreContentThanWasAnnouncedWasSent(t *testing.T) {
	e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
		n := 0
		a.Status, a.Length = 200, 3
		a.Content = &pieces{next: func() ([]byte, error) {
			if n++; n > 2 {
				return nil, io.EOF
			}
			return []byte("ab"), nil
		}}
		return nil
	}}
	_, address := serve(t, e, nil)
	if g := dial(t, address).one(plain("GET", "/")...); len(g.text) > 3 || g.reset != xhttp2.ErrCodeInternal {
		t.Errorf("got %q, %v; want no more than 3 bytes, and INTERNAL_ERROR", g.text, g.reset)
	}
}

// TestPrioritiesOfStreamsThatNeverBeganTookTheRoom of those of others.
func TestPrioritiesOfStreamsThatNeverBeganTookTheRoom(t *testing.T) {
	c := &conn{}
	for id := uint32(1); id < 2*mostPriorities; id += 2 {
		c.keepPriorityLocked(id, usual)
	}
	c.keepPriorityLocked(1001, priority{urgency: 1})
	if len(c.updates) != mostPriorities {
		t.Errorf("got %d priorities, want no more than %d", len(c.updates), mostPriorities)
	}
	c.lastID = 999
	c.keepPriorityLocked(1001, priority{urgency: 1})
	if p := c.priorityLocked(1001, &head{}); p.urgency != 1 || len(c.updates) != 0 {
		t.Errorf("got %v, and %d that wait; want urgency 1, and none", p, len(c.updates))
	}
}
