package proxy

import (
	"errors"
	"io"
	"slices"
	"strconv"

	"edgeproxy/internal/conn/presence"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
)

// flightBody reads the body of a flight for one client. A flight does not wait for its slowest client, so this client may be
// left behind (flight.ErrBehind). It then gets the remainder from the store, if the response is stored by now. Otherwise the
// origin is asked for the remainder, by a Range request for this client only. Where neither is possible the transfer is cut off.
type flightBody struct {
	p      *Proxy
	x      *exchange
	r      *reader
	at     int64         // offset in the body of the next byte
	begun  []byte        // was read from r and not given yet
	rest   io.ReadCloser // the remainder, once the client was left behind; else nil
	buffer []byte        // for Next, with rest
}

// Read gives the next bytes.
func (a *flightBody) Read(p []byte) (int, error) {
	if len(a.begun) > 0 {
		n := copy(p, a.begun)
		a.begun = a.begun[n:]
		a.at += int64(n)
		return n, nil
	}
	if a.rest == nil {
		n, err := a.r.Read(p)
		a.at += int64(n)
		if !errors.Is(err, flight.ErrBehind) {
			return n, err
		}
		if err := a.resume(); err != nil {
			return 0, err
		}
	}
	return a.rest.Read(p)
}

// Next gives them without a copy where they come from the flight.
func (a *flightBody) Next() ([]byte, error) {
	if p := a.begun; len(p) > 0 {
		a.begun = nil
		a.at += int64(len(p))
		return p, nil
	}
	if a.rest == nil {
		p, err := a.r.Next()
		a.at += int64(len(p))
		if !errors.Is(err, flight.ErrBehind) {
			return p, err
		}
		if err := a.resume(); err != nil {
			return nil, err
		}
	}
	if a.buffer == nil {
		a.buffer = make([]byte, streamBuffer)
	}
	n, err := a.rest.Read(a.buffer)
	return a.buffer[:n], err
}

// Close ends the reading.
func (a *flightBody) Close() error {
	_ = a.r.Close()
	if a.rest != nil {
		_ = a.rest.Close()
	}
	return nil
}

// resume finds the remainder in the store or at the origin. The error is flight.ErrBehind.
func (a *flightBody) resume() error {
	_ = a.r.Close()
	counts := &a.x.route.metrics.behind
	switch {
	case a.fromStore():
		counts[behindStored].Add(1)
	case a.fromOrigin():
		counts[behindOrigin].Add(1)
	default:
		counts[behindCut].Add(1)
		return flight.ErrBehind
	}
	return nil
}

// fromStore takes the remainder from the store, if this response is there, or one with the same strong validator.
func (a *flightBody) fromStore() bool {
	h := a.r.Header()
	if h.entry == nil {
		return false
	}
	e := a.p.findIgnoringPurges(h.entry.Key, h.entry.Name)
	if e == nil || h.length >= 0 && e.Content().Size() != h.length || e.Content().Size() < a.at {
		return false
	}
	if e.Serial() != h.entry.Serial && !rfc9111.SameStrongly(storedRepresentation(e), a.rep()) {
		return false
	}
	a.x.body.sending.Hold(e.Pin())
	a.rest = io.NopCloser(e.Content().Section(a.at, e.Content().Size()-a.at))
	return true
}

func (a *flightBody) rep() rfc9111.Representation {
	g := a.r.Header().clientHead(a.x.collapsed)
	return g.representation()
}

// fromOrigin asks the origin for the remainder. A POST is not repeated.
func (a *flightBody) fromOrigin() bool {
	x, h := a.x, a.r.Header()
	if !x.asks.get || !h.resumable() {
		return false
	}
	body := askRemainder(x.presence, x.route, a.p.newShared(x).request, a.rep(), a.at, -1, h.length)
	if body == nil {
		return false
	}
	a.rest = body
	return true
}

// resumable reports whether the origin can be asked for the remainder of the response: it must be a whole representation with a
// strong entity tag.
func (h *outcome) resumable() bool {
	return h.status == statusOK && !h.part && rfc9111.StronglyTagged(h.from)
}

// tagged reports whether rep has a strong entity tag.
func tagged(rep rfc9111.Representation) bool { return rep.ETag != "" && rfc9111.SameStrongly(rep, rep) }

// askRemainder asks the origin of a route, by r and for one client, for the bytes first to last of
// rep. A last of -1 is the end. whole is the length of rep, -1 if unknown. askRemainder returns these
// bytes, or nil where the origin gives anything else (RFC 9110 sections 13.1.5 and 14.4).
func askRemainder(waiting *presence.Client, route *route, r *origin.Request, rep rfc9111.Representation, first, last, whole int64) io.ReadCloser {
	to := ""
	if last >= 0 {
		to = strconv.FormatInt(last, 10)
	}
	r.Header = slices.Clone(r.Header)
	r.Header.Add("Range", "bytes="+strconv.FormatInt(first, 10)+"-"+to)
	r.Header.Add("If-Range", rep.ETag)
	resp, err := roundTripFor(waiting, route, r)
	if err != nil {
		return nil
	}
	part, ok := rfc9111.PartOf(resp.Header)
	if last < 0 {
		last = part.Size - 1
	}
	switch {
	case !ok, resp.Status != statusPartialContent, part.First != first, part.Last != last,
		whole >= 0 && part.Size != whole, !resp.Body.Framed(), resp.ContentLength >= 0 && resp.ContentLength != part.Length(),
		rfc9111.RepresentationOf(resp.Status, resp.Header, resp.ResponseTime).ETag != rep.ETag:
		_ = resp.Body.Close()
		return nil
	}
	return &remainder{body: resp.Body, left: part.Length()}
}

// remainder is a body that must have exactly left bytes.
type remainder struct {
	body *origin.Body
	left int64
}

// Read gives the next bytes. A body that is longer or shorter than announced is an error.
func (r *remainder) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	r.left -= int64(n)
	if r.left < 0 || r.left > 0 && errors.Is(err, io.EOF) {
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// Close gives up what has not been read.
func (r *remainder) Close() error { return r.body.Close() }
