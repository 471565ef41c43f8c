package pace

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"edgeproxy/internal/pinned"
)

// load is a pinned body, and the answers that pin it.
type load struct {
	body    *pinned.Body
	bytes   int64
	senders []*Sending   // one for each Hold that was seen
	rate    float64      // of the fastest: the others do not keep the body any longer
	client  netip.Prefix // of the fastest; the zero Prefix is one of its own
	going   bool         // all of them were cut before
}

// unpin lets go of clients until no more is pinned than may be.
func (w *Watch) unpin(now time.Time) {
	t := w.o.Pinned
	if t == nil || t.Bytes() <= t.Limit() {
		return
	}
	loads, excess := w.loads(now), t.Bytes()-t.Limit()
	for _, l := range loads {
		if l.going {
			excess -= l.bytes
		}
	}
	loads = slices.DeleteFunc(loads, func(l *load) bool { return l.going })
	for _, l := range choose(loads, t.Limit(), excess) {
		for _, s := range l.senders {
			w.cut(s)
		}
	}
}

// cut lets go of the client of s, unless its answer has ended or it was cut before.
func (w *Watch) cut(s *Sending) {
	state := s.state.Load()
	if state&(1<<stateBits-1) == sent && s.state.CompareAndSwap(state, state>>stateBits<<stateBits|cut) {
		w.shed.Add(1)
		w.letGo(s, "it kept a body that the cache had given up")
	}
}

// loads returns what is pinned.
func (w *Watch) loads(now time.Time) []*load {
	byBody := map[*pinned.Body]*load{}
	var all []*load
	w.each(func(s *Sending) {
		sampled, going := false, s.state.Load()&(1<<stateBits-1) == cut
		s.pinned(func(b *pinned.Body) {
			l := byBody[b]
			if l == nil {
				l = &load{body: b, bytes: b.Pinned(), going: true}
				byBody[b] = l
				all = append(all, l)
			}
			if !sampled {
				s.sample(now)
				sampled = true
			}
			l.senders = append(l.senders, s)
			l.going = l.going && going
			if len(l.senders) == 1 || s.rate > l.rate {
				l.rate, l.client = s.rate, w.client(s)
			}
		})
	})
	return all
}

func (w *Watch) client(s *Sending) netip.Prefix {
	if w.o.Client == nil {
		return netip.Prefix{}
	}
	return w.o.Client(s.conn)
}

// choose returns the loads to let go of, so that at least excess bytes come free. Each client
// that pins anything has an equal share of limit. The slowest loads go first, of clients that
// pin more than their share.
func choose(loads []*load, limit, excess int64) (out []*load) {
	pins, strangers := map[netip.Prefix]int64{}, int64(0)
	for _, l := range loads {
		if l.client.IsValid() {
			pins[l.client] += l.bytes
		} else {
			strangers++
		}
	}
	share := limit / max(int64(len(pins))+strangers, 1)
	slices.SortStableFunc(loads, func(a, b *load) int { return cmp.Compare(a.rate, b.rate) })
	take := func(whom func(*load) bool) {
		loads = slices.DeleteFunc(loads, func(l *load) bool {
			if excess <= 0 || !whom(l) {
				return false
			}
			pins[l.client] -= l.bytes
			excess -= l.bytes
			out = append(out, l)
			return true
		})
	}
	take(func(l *load) bool {
		return l.client.IsValid() && pins[l.client] > share || !l.client.IsValid() && l.bytes > share
	})
	take(func(*load) bool { return true })
	return out
}
