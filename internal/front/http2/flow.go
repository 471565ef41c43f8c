package http2

// mostWindow is the largest window (RFC 9113 section 6.9.1).
const mostWindow = 1<<31 - 1

// receiveWindow is the flow-control window for content that a client sends, of a stream or of a connection.
// Its size is window, credit, and what was received but not read, together.
type receiveWindow struct {
	window int64 // what the client may still send
	credit int64 // what was read, and not granted by WINDOW_UPDATE yet
}

// take takes n bytes that have come, and reports whether they were allowed.
func (w *receiveWindow) take(n int64) bool {
	if n > w.window {
		return false
	}
	w.window -= n
	return true
}

// give adds n bytes that were read to credit, and reports whether to send a WINDOW_UPDATE.
func (w *receiveWindow) give(n, whole int64) bool {
	w.credit += n
	return w.credit >= whole/4
}

// grant moves credit to window, and returns it for a WINDOW_UPDATE.
func (w *receiveWindow) grant() (n int64) {
	n, w.credit = w.credit, 0
	w.window += n
	return n
}
