package proxy

import (
	"io"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/proxy/internal/sliced"
)

// slice is one of them: stored, or on its way.
type slice struct {
	number int64
	entry  *cache.Object
	reader *reader
	head   *outcome      // the head that the flight has brought, also where it is a stored slice's
	joined bool          // it is somebody else's flight
	place  int64         // in the slice of the next byte that reader gives
	rest   io.ReadCloser // the rest of it, where the flight has left the reader behind

	// How it is got; see get.
	s          *slicing
	span       *span
	key        cache.Key     // the key of the variant that is wanted
	redirected bool          // it comes from a flight whose slice was another's
	askedAgain bool          // it waits once more, after another client's request for it got an error
	stale      *cache.Object // to be validated
	interim    sendInterim
	err        error // there is no slice
}

// beyond reports whether the origin has nothing at the place that this proxy asked for, though x
// did not ask for that place alone.
func (sl *slice) beyond(x *exchange) bool {
	if sl.entry != nil || sl.head.status != statusRequestedRangeNotSatisfiable {
		return false
	}
	return !x.asks.ranged || x.asks.conditional || len(x.clientLines("If-Range")) > 0
}

// refusedBy reports whether the client of x refuses the content coding of sl, which was not fetched for it.
func (sl *slice) refusedBy(x *exchange) bool {
	if sl.entry != nil {
		return x.refusesStored(sl.entry)
	}
	return sl.joined && x.refusesShared(sl.head)
}

// given returns what the client gets of the head of the slice.
func (sl *slice) given() clientHead {
	if sl.entry != nil {
		return storedClientHead(sl.entry)
	}
	return sl.head.clientHead(sl.joined)
}

// Head implements sliced.Slice. What conditions and Range are compared with is the 200 that the
// slice is a part of.
func (sl *slice) Head() sliced.Head {
	g := sl.given()
	h := sliced.Head{Representation: g.representation(), Tells: sl.tells()}
	h.Part, _ = rfc9111.PartOf(g.list())
	h.Representation.Status = statusOK
	if sl.entry != nil {
		h.Stored, h.Received = true, sl.entry.ResponseTime()
	}
	return h
}

// tells reports whether sl, which is not the slice that was asked for, shows that there is
// another representation now. Otherwise it shows only that the slice could not be had.
func (sl *slice) tells() bool {
	if sl.entry != nil {
		return true
	}
	switch sl.head.status {
	case statusOK, statusPartialContent, statusRequestedRangeNotSatisfiable,
		statusNotFound, statusGone:
		return true
	}
	return false
}

// Read implements sliced.Slice.
func (sl *slice) Read(b []byte, at int64) (int, error) {
	switch {
	case sl.entry != nil:
		n, err := sl.entry.Content().ReadAt(b, at)
		if n > 0 {
			err = nil // its end is no news
		}
		return n, err
	case sl.rest != nil:
		return sl.rest.Read(b)
	case sl.place < at:
		n, err := io.CopyN(io.Discard, sl.reader, at-sl.place)
		if sl.place += n; err != nil {
			return 0, err
		}
	}
	n, err := sl.reader.Read(b)
	sl.place += int64(n)
	return n, err
}

// Leave implements sliced.Slice. The rest of the slice comes all the same: it was asked for, and
// is booked, and may be staged.
func (sl *slice) Leave() {
	if sl.reader != nil {
		sl.reader.Leave()
	}
	if sl.rest != nil {
		_ = sl.rest.Close()
	}
}

// Close implements sliced.Slice.
func (sl *slice) Close() {
	if sl.reader != nil {
		_ = sl.reader.Close()
	}
	if sl.rest != nil {
		_ = sl.rest.Close()
	}
}
