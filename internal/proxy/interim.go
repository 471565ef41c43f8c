package proxy

import (
	"edgeproxy/internal/field"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/rfc9111"
)

// Interim responses (1xx, RFC 9110 section 15.2) go to the client whose request
// is at the origin, while it waits for the answer: never to followers, never into
// the store. The front sends them, in the goroutine that waits for the answer. A fetch in that
// goroutine tells directly; one in a flight hands over, through interims.

// sendInterim is an origin.Request.Interim.
type sendInterim = func(status int, header field.List)

// interimSender returns what tells x's client of interim responses: for the goroutine that answers,
// until the answer is filled. It is nil where the client may have none.
func (p *Proxy) interimSender(x *exchange) sendInterim {
	send := x.req.Interim
	if send == nil {
		return nil
	}
	return func(status int, header field.List) { send(status, interimFields(header, p.via)) }
}

// interimFields returns the fields of an interim response as they are forwarded: the
// end-to-end fields without those between origin and cache, and our Via (RFC 9110
// section 7.6.3).
func interimFields(header field.List, via string) field.List {
	fields := rfc9111.EndToEnd(header).Without(inside)
	fields.Add("Via", via)
	return fields
}

// interim is an interim response on its way through a flight.
type interim struct {
	status int
	header field.List
}

// interims takes the interim responses of a flight's fetch to the goroutine of its
// leader, which waits for the header meanwhile. It has room for those of one round
// trip; what finds none is dropped, so no client holds up a fetch that others
// share. Nil takes none.
type interims chan interim

// handOver makes r, which a flight will send, use interims if its leader may be
// told.
func handOver(r *origin.Request, t sendInterim) interims {
	if t == nil {
		return nil
	}
	c := make(interims, origin.MaxInterim)
	r.Interim = func(status int, header field.List) {
		select {
		case c <- interim{status, header}:
		default:
		}
	}
	return c
}

// end says that no more will come. The fetch calls it once, when it has the
// header or never will, before its flight does.
func (c interims) end() {
	if c != nil {
		close(c)
	}
}

// relay tells the leader all that come until the end, so the header never
// overtakes them. The fetch must have been started, and end them also in a panic.
//
// It ends before that where the leader is to be given the header of another fetch:
// undecided returns nil then, and else a channel that is closed when it is to be asked
// again. It also ends when left is closed.
func (c interims) relay(t sendInterim, undecided func() <-chan struct{}, left <-chan struct{}) {
	if c == nil {
		return
	}
	for moved := undecided(); moved != nil; {
		select {
		case i, more := <-c:
			if !more {
				return
			}
			t(i.status, i.header)
		case <-moved:
			moved = undecided()
		case <-left:
			return
		}
	}
	c.rest(t)
}

// rest tells the leader those that are here already.
func (c interims) rest(t sendInterim) {
	for {
		select {
		case i, more := <-c:
			if !more {
				return
			}
			t(i.status, i.header)
		default:
			return
		}
	}
}
