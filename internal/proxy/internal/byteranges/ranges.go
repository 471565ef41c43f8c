package byteranges

import (
	"bytes"
	"strconv"

	"edgeproxy/internal/http/rfc9111"
)

// Several returns the ranges of content of size bytes that line, the value of the only Range field of a GET, asks for. They are in
// the requested order. Overlapping ranges are merged; ranges that only touch are not. The kind says whether there are any; with
// rfc9111.RangeNone the whole is sent. A Range of more than most ranges is RangeNone (see rfc9111.AppendRanges).
func Several(line []byte, size int64, most int) ([]rfc9111.Range, rfc9111.RangeKind) {
	asked := bytes.Count(line, []byte(",")) + 1
	ranges, kind := rfc9111.AppendRanges(make([]rfc9111.Range, 0, max(min(asked, most), 0)), line, size, most)
	return rfc9111.Coalesce(ranges), kind
}

// AppendContentRange appends the Content-Range line of a part (RFC 9110 section 14.4): bytes first to last of size.
func AppendContentRange(b []byte, first, last, size int64) []byte {
	b = append(b, "Content-Range: bytes "...)
	b = append(strconv.AppendInt(b, first, 10), '-')
	b = append(strconv.AppendInt(b, last, 10), '/')
	return append(strconv.AppendInt(b, size, 10), '\r', '\n')
}
