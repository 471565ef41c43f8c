package origin

const (
	// MaxInterim is how many interim responses (1xx) of one request are passed on; their heads together may be as long
	// as one, Options.MaxHeaderBytes. Further ones are read and dropped: the origin may report the progress of its work
	// by as many as it likes, and has done that work when the final response comes.
	MaxInterim = 16

	// maxInterimBytes bounds all interim responses of one request, passed on or not. It is far above what reports of
	// progress come to: an origin that sends more sends nothing else. A response behind it is Malformed. The time for
	// the head bounds them as well, and usually first.
	maxInterimBytes = 64 << 20
)

// interimCount counts the interim responses of one request.
type interimCount struct {
	bytes       int64 // length of all heads
	passed      int   // how many were passed on
	passedBytes int   // length of the heads passed on
}

// add counts an interim response with a head of size bytes, and reports whether it is passed on. most is the limit of
// the heads that are. 100 (Continue) is about our own request, and never passed on. The error says that too many bytes
// have come.
func (c *interimCount) add(status, size, most int) (passOn bool, err error) {
	if c.bytes += int64(size); c.bytes > maxInterimBytes {
		return false, malformed("interim (1xx) responses of more than %d bytes", maxInterimBytes)
	}
	if status == 100 || c.passed == MaxInterim || c.passedBytes+size > most {
		return false, nil
	}
	c.passed++
	c.passedBytes += size
	return true, nil
}
