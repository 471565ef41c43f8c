package http2

import "slices"

// recent remembers the streams that ended last, since the client may still send frames for them
// (RFC 9113 section 5.1). Streams that we have reset are kept apart, so that others that end do not push
// them out: frames for them are dropped and are no error.
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
