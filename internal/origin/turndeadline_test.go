package origin

import (
	"net"
	"testing"
	"time"
)

// deadlines is a connection that notes its last deadline.
type deadlines struct {
	net.Conn
	last time.Time
}

func (d *deadlines) SetDeadline(t time.Time) error { d.last = t; return nil }

// A turn with little time had the deadline of the one before, which had much.
func TestADeadlineIsNoLaterThanItsTurnAllows(t *testing.T) {
	nc := &deadlines{}
	c := &conn{nc: nc}
	now := time.Unix(1000, 0)
	for _, turn := range []struct{ after, limit, most, least time.Duration }{
		{0, time.Minute, time.Minute, time.Minute},
		{time.Second, time.Minute, time.Minute, 30 * time.Second}, // stays
		{0, 2 * time.Second, 2 * time.Second, 2 * time.Second},
		{0, time.Minute, time.Minute, time.Minute},
		{40 * time.Second, time.Minute, time.Minute, time.Minute},
	} {
		now = now.Add(turn.after)
		if err := c.setTurnDeadline(now, turn.limit); err != nil {
			t.Fatal(err)
		}
		if got := nc.last.Sub(now); got > turn.most || got < turn.least || !c.turnDeadline.Equal(nc.last) {
			t.Errorf("%+v: got a deadline %v from now", turn, got)
		}
	}
}
