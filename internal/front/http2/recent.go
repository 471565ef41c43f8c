package http2

import "slices"

// recent remembers the streams that ended last, since frames of theirs may be on the way
// (RFC 9113 section 5.1). Those that were reset by us are apart: what comes of them is dropped, and
// nothing is wrong with it, however many others have ended since.
type recent struct {
	ended [16]uint32
	reset [128]uint32
	next  struct{ ended, reset int }
}

func (r *recent) add(id uint32, reset bool) {
	if reset {
		r.reset[r.next.reset] = id
		r.next.reset = (r.next.reset + 1) % len(r.reset)
		return
	}
	r.ended[r.next.ended] = id
	r.next.ended = (r.next.ended + 1) % len(r.ended)
}

// find reports whether a stream has ended lately, and whether we have reset it.
func (r *recent) find(id uint32) (known, reset bool) {
	reset = slices.Contains(r.reset[:], id)
	return reset || slices.Contains(r.ended[:], id), reset
}
