package http2

// mostWindow is the largest window (RFC 9113 section 6.9.1).
const mostWindow = 1<<31 - 1

// incoming is how much content a client may send, of a stream or of a connection. What it may
// send, what nobody has read, and credit make its whole window.
type incoming struct {
	window int64 // what it may send without a word
	credit int64 // what was read and the client does not know of
}

// take takes n bytes that have come, and reports whether they were allowed.
func (w *incoming) take(n int64) bool {
	if n > w.window {
		return false
	}
	w.window -= n
	return true
}

// give gives n bytes back and reports whether the client is to be told.
func (w *incoming) give(n, whole int64) bool {
	w.credit += n
	return w.credit >= whole/4
}

// grant returns what the client is told that it may send more.
func (w *incoming) grant() (n int64) {
	n, w.credit = w.credit, 0
	w.window += n
	return n
}
