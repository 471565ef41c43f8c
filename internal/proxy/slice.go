package proxy

import (
	"io"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/rfc9111"
)

// slice is one of them: stored, or on its way.
type slice struct {
	number int64
	entry  *cache.Entry
	reader *reader
	head   *outcome      // of the flight, also where it brought a stored slice
	joined bool          // it is somebody else's flight
	skip   int64         // bytes still to leave out of what reader gives
	rest   io.ReadCloser // of it, where the flight has left the reader behind

	// How it is got; see get.
	s          *slicing
	span       *span
	key        cache.Key    // of the variant that is wanted
	redirected bool         // it comes from a flight whose slice was another's
	stale      *cache.Entry // to be validated
	interim    sendInterim
	err        error // there is no slice
}

// beyond reports whether the origin has nothing at the place that was asked for by us, and
// x did not ask for just that.
func (sl *slice) beyond(x *exchange) bool {
	if sl.entry != nil || sl.head.status != statusRequestedRangeNotSatisfiable {
		return false
	}
	return !x.asks.ranged || x.asks.conditional || len(x.asked("If-Range")) > 0
}

// given returns what the client gets of the head of the slice.
func (sl *slice) given() given {
	if sl.entry != nil {
		return givenFrom(sl.entry)
	}
	return sl.head.given(sl.joined)
}

// part returns the range that the slice is said to be.
func (sl *slice) part() (rfc9111.Part, bool) { return rfc9111.PartOf(sl.given().fields) }

// rep is what conditions and Range are compared with: the 200 that the slice is a part
// of.
func (sl *slice) rep() rfc9111.Representation {
	g := sl.given()
	rep := g.representation()
	rep.Status = statusOK
	return rep
}

// tells reports whether sl, which is not the slice that was asked for, says that there is
// another representation now, and not only that none could be had.
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

// read gives bytes of the slice from the place at on, left of them at most.
func (sl *slice) read(b []byte, at, left int64) (int, error) {
	if sl.entry != nil {
		n, err := sl.entry.Content.ReadAt(b[:min(int64(len(b)), left)], at)
		if n > 0 {
			err = nil // its end is no news
		}
		return n, err
	}
	if sl.rest != nil {
		return sl.rest.Read(b[:min(int64(len(b)), left)])
	}
	for sl.skip > 0 {
		n, err := sl.reader.Read(b[:min(int64(len(b)), sl.skip)])
		sl.skip -= int64(n)
		if err != nil {
			return 0, err
		}
	}
	return sl.reader.Read(b[:min(int64(len(b)), left)])
}

func (sl *slice) close() {
	if sl.reader != nil {
		_ = sl.reader.Close()
	}
	if sl.rest != nil {
		_ = sl.rest.Close()
	}
}
