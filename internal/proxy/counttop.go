package proxy

import (
	"time"

	"edgeproxy/internal/ops/top"
)

// TopOptions say how many hosts and URLs are known of which most was asked for.
type TopOptions struct {
	Entries int           // of each list; 0 counts nothing
	Window  time.Duration // requests of the last one to two of them are counted; above 0
}

// newTop returns what counts by o: before, where it does that already; nil for nothing.
func newTop(o TopOptions, before *top.Table) *top.Table {
	switch {
	case o.Entries <= 0:
		return nil
	case before != nil && before.Entries() == o.Entries && before.Window() == o.Window:
		return before
	}
	return top.New(o.Entries, o.Window, now())
}

// Top returns what counts hosts and URLs now; nil for nothing.
func (p *Proxy) Top() *top.Table { return p.settings.Load().top }

// countTop counts x, which has ended at this time, by its host and its URL. One that was refused before they were understood
// has none.
func (x *exchange) countTop(t *top.Table, at time.Time) {
	target := x.keyedOrNormal() // what shares a response is one URL
	if target == nil {
		return
	}
	r := top.Request{
		Scheme: x.scheme, Host: x.host, Target: target, Bytes: x.bytes, Lane: x.lane,
		Miss: x.result == resultMiss || x.result == resultScarce, HeldBack: x.result == resultScarce,
	}
	t.Count(&r, at)
}
