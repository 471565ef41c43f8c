package sliced_test

import (
	"math/rand/v2"
	"testing"

	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/proxy/internal/sliced"
)

// The spans of a representation follow each other without gaps, and each byte is in one.
func TestSpansTileTheRepresentation(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		size, whole := 1+random.Int64N(100), 1+random.Int64N(2000)
		next := int64(0)
		for number := int64(0); next < whole; number++ {
			span := sliced.Span(size, number)
			if span.First != next || span.Length() != size {
				t.Fatalf("slice %d of %d bytes: got %+v, want it to begin at %d", number, size, span, next)
			}
			part := rfc9111.Part{Range: span, Size: whole}
			part.Last = min(part.Last, whole-1)
			if !sliced.Matches(span, part) {
				t.Fatalf("%+v is not the slice %+v", part, span)
			}
			for _, other := range []rfc9111.Part{
				{Range: rfc9111.Range{First: part.First + 1, Last: part.Last}, Size: whole},
				{Range: rfc9111.Range{First: part.First, Last: part.Last - 1}, Size: whole},
				{Range: rfc9111.Range{First: part.First, Last: part.Last + 1}, Size: part.Last + 1 + size},
			} {
				if sliced.Matches(span, other) != (other.Range == span) {
					t.Fatalf("%+v as the slice %+v: got %v", other, span, other.Range != span)
				}
			}
			next = span.Last + 1
		}
	}
}

func TestField(t *testing.T) {
	if got := sliced.Field(sliced.Span(1<<20, 3)); got != "bytes=3145728-4194303" {
		t.Errorf("got %s", got)
	}
}
