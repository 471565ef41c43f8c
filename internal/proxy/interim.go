package proxy

import (
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
)

// Interim responses (1xx, RFC 9110 section 15.2) go to the client whose request
// is at the origin, while it waits for the answer: never to followers, never into
// the store. The front sends them, in the goroutine that waits for the answer. A fetch in that
// goroutine tells directly; one in a flight hands over, through interims.

// sendInterim has the type of origin.Request.Interim.
type sendInterim = func(status int, header field.List)

// interimSender returns the function that sends interim responses to x's client, nil if the
// client may have none. Call that function only in the goroutine that answers, and before the
// answer is filled.
func (p *Proxy) interimSender(x *exchange) sendInterim {
	send := x.req.Interim
	if send == nil {
		return nil
	}
	r := x.route
	return func(status int, header field.List) { send(status, interimFields(header, r, p.via)) }
}

// interimFields returns the fields of an interim response of route r as they are forwarded: the end-to-end
// fields, without those that are between origin and cache, and our Via (RFC 9110 section 7.6.3).
func interimFields(header field.List, r *route, via string) field.List {
	fields := rfc9111.EndToEnd(header).Without(r.isTagField)
	fields.Add("Via", via)
	return fields
}

// interim is an interim response on its way through a flight.
type interim struct {
	status int
	header field.List
}

// interims takes the interim responses of a flight's fetch to the goroutine of its leader, which
// waits for the header. It has room for those of one round trip. One that finds no room is
// dropped, so no client holds up a fetch that others share. A nil interims takes none.
type interims chan interim

// handOver makes r, a request that a flight will send, use interims if its leader may have
// interim responses.
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

// end says that no more interim responses will come. The fetch calls it once, before its flight
// has the header or fails.
func (c interims) end() {
	if c != nil {
		close(c)
	}
}

// relay sends the leader all that come, until end. So the header never overtakes them. The fetch
// must have been started, and must call end even if it panics.
//
// relay returns earlier when left is closed, or when undecided returns nil: the leader is to get
// the header of another fetch. As long as that is open undecided returns a channel, and relay
// asks again when it is closed.
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

// rest sends the leader those that have come already.
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
