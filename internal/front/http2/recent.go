package http2

// recent remembers the streams that ended last, since frames of theirs may be on the way
// (RFC 9113 section 5.1).
type recent struct {
	ids   [64]uint32
	reset [64]bool // by us: what comes is dropped, and nothing is wrong with it
	next  int
}

func (r *recent) add(id uint32, reset bool) {
	r.ids[r.next], r.reset[r.next] = id, reset
	r.next = (r.next + 1) % len(r.ids)
}

// find reports whether a stream has ended lately, and whether we have reset it.
func (r *recent) find(id uint32) (known, reset bool) {
	for i, have := range r.ids {
		if have == id {
			return true, r.reset[i]
		}
	}
	return false, false
}
