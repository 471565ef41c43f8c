package layout

// LogStart is what a log of removals begins with.
type LogStart struct {
	// Number counts how often the log was written anew.
	Number uint32
	// Bytes is how long the log was then.
	Bytes int64
}

// LogStartBytes is the length of a LogStart.
const LogStartBytes = 2 * RemovedBytes

// Segments that no directory has. So a program that knows no LogStart takes it for removals of what is not there.
const (
	numberSegment = 1<<63 + iota
	bytesSegment
)

// AppendLogStart appends s, as two Removed: of the number, and of the bytes by RemovedBytes.
func (h Header) AppendLogStart(b []byte, s LogStart) []byte {
	b = h.AppendRemoved(b, Removed{Segment: numberSegment, Offset: int64(s.Number) * Unit})
	return h.AppendRemoved(b, Removed{Segment: bytesSegment, Offset: s.Bytes / RemovedBytes * Unit})
}

// ParseLogStart reads what AppendLogStart wrote at the beginning of b, and false where it is something else, or not all of it.
func (h Header) ParseLogStart(b []byte) (LogStart, bool) {
	if len(b) < LogStartBytes {
		return LogStart{}, false
	}
	number, ok := h.ParseRemoved(b)
	length, also := h.ParseRemoved(b[RemovedBytes:])
	s := LogStart{Number: uint32(number.Offset / Unit), Bytes: length.Offset / Unit * RemovedBytes} //nolint:gosec // both have 32 bits
	return s, ok && also && number.Segment == numberSegment && length.Segment == bytesSegment
}
