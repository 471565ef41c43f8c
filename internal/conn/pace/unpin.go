package pace

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"edgeproxy/internal/conn/pinned"
)

// pinnedLoad is a pinned body, and the answers that pin it.
type pinnedLoad struct {
	body    *pinned.Body
	bytes   int64
	senders []*Sending   // one for each Hold that was seen
	rate    float64      // rate of the fastest sender
	client  netip.Prefix // client of the fastest sender; a load with the zero Prefix counts as a client of its own
	ending  bool         // all of them were cut before
}

// unpin ends answers of clients until no more is pinned than the limit.
func (w *Watch) unpin(now time.Time) {
	t := w.o.Pinned
	if t == nil || t.Bytes() <= t.Limit() {
		return
	}
	loads, excess := w.loads(now), t.Bytes()-t.Limit()
	for _, l := range loads {
		if l.ending {
			excess -= l.bytes
		}
	}
	loads = slices.DeleteFunc(loads, func(l *pinnedLoad) bool { return l.ending })
	for _, l := range choose(loads, t.Limit(), excess) {
		for _, s := range l.senders {
			w.cut(s)
		}
	}
}

// cut resets the connection of s, unless its answer has ended or was cut before.
func (w *Watch) cut(s *Sending) {
	state := s.state.Load()
	if state&(1<<stateBits-1) == sent && s.state.CompareAndSwap(state, state>>stateBits<<stateBits|cut) {
		w.cutPinned.Add(1)
		w.reset(s, "limits.pinned_bytes: it was still sent a body that is no longer in the cache")
	}
}

// loads returns the bodies that are pinned, with the answers that pin them.
func (w *Watch) loads(now time.Time) []*pinnedLoad {
	byBody := map[*pinned.Body]*pinnedLoad{}
	var all []*pinnedLoad
	w.each(func(s *Sending) {
		sampled, going := false, s.state.Load()&(1<<stateBits-1) == cut
		s.pinned(func(b *pinned.Body) {
			l := byBody[b]
			if l == nil {
				l = &pinnedLoad{body: b, bytes: b.Pinned(), ending: true}
				byBody[b] = l
				all = append(all, l)
			}
			if !sampled {
				s.sample(now)
				sampled = true
			}
			l.senders = append(l.senders, s)
			l.ending = l.ending && going
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

// choose returns the loads to end, so that at least excess bytes come free. Each client
// that pins anything has an equal share of limit. It takes first the slowest loads of clients that
// pin more than their share.
func choose(loads []*pinnedLoad, limit, excess int64) (out []*pinnedLoad) {
	pins, strangers := map[netip.Prefix]int64{}, int64(0)
	for _, l := range loads {
		if l.client.IsValid() {
			pins[l.client] += l.bytes
		} else {
			strangers++
		}
	}
	share := limit / max(int64(len(pins))+strangers, 1)
	slices.SortStableFunc(loads, func(a, b *pinnedLoad) int { return cmp.Compare(a.rate, b.rate) })
	take := func(whom func(*pinnedLoad) bool) {
		loads = slices.DeleteFunc(loads, func(l *pinnedLoad) bool {
			if excess <= 0 || !whom(l) {
				return false
			}
			pins[l.client] -= l.bytes
			excess -= l.bytes
			out = append(out, l)
			return true
		})
	}
	take(func(l *pinnedLoad) bool {
		return l.client.IsValid() && pins[l.client] > share || !l.client.IsValid() && l.bytes > share
	})
	take(func(*pinnedLoad) bool { return true })
	return out
}
