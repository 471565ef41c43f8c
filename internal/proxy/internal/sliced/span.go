package sliced

import (
	"strconv"

	"edgeproxy/internal/http/rfc9111"
)

// Span returns the bytes of the slice of this number, from 0 on, where slices have size bytes.
// The last slice of a representation may have fewer.
func Span(size, number int64) rfc9111.Range {
	return rfc9111.Range{First: number * size, Last: (number+1)*size - 1}
}

// Matches reports whether part is just the slice of this span, or as much of it as the
// representation has.
func Matches(span rfc9111.Range, part rfc9111.Part) bool {
	return part.First == span.First && part.Last == min(span.Last, part.Size-1)
}

// Field returns the value of the Range field that asks for span.
func Field(span rfc9111.Range) string {
	return "bytes=" + strconv.FormatInt(span.First, 10) + "-" + strconv.FormatInt(span.Last, 10)
}
